import { z } from 'zod'

const AppliedTool = z.object({ id: z.string(), name: z.string(), key: z.string().describe('method and path') })

const AppliedGlobal = z.object({
  key: z.string(),
  secret: z.boolean(),
  origins: z.array(z.string()).describe('where the tools send it, as far as it is known'),
})
export type AppliedGlobal = z.infer<typeof AppliedGlobal>

/** What applying an import did. Contains no values. */
export const ImportReport = z.object({
  created: z.array(AppliedTool),
  updated: z.array(AppliedTool),
  unchanged: z.int().describe('selected operations whose tools stay as they are'),
  skipped: z.array(z.object({ key: z.string(), reason: z.string() })).describe('selected operations without a tool'),
  renamed: z.array(z.object({ key: z.string(), from: z.string(), to: z.string() })).describe('names that were taken'),
  server: z
    .object({
      id: z.string(),
      name: z.string(),
      created: z.boolean(),
      tools: z.int().describe('tools added to the server'),
      globals: z.array(AppliedGlobal).describe('globals added to the server'),
      rekeyed: z
        .array(z.object({ from: z.string(), to: z.string() }))
        .describe('globals under another key, because the server uses the key for something else'),
    })
    .optional(),
  missing: z.array(AppliedGlobal).describe('globals and secrets that still need a value'),
  discarded: z.array(z.string()).describe('keys of secrets whose values were not stored'),
})
export type ImportReport = z.infer<typeof ImportReport>
