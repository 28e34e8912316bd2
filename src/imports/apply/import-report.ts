import { z } from 'zod'

const AppliedTool = z.object({ id: z.string(), name: z.string(), key: z.string().describe('method and path') })

const AppliedGlobal = z.object({
  key: z.string(),
  secret: z.boolean(),
  origins: z.array(z.string()).describe('where the tools send it, as far as it is known'),
})
export type AppliedGlobal = z.infer<typeof AppliedGlobal>

const RewiredServer = z.object({
  id: z.string(),
  name: z.string(),
  globals: z.array(AppliedGlobal).describe('globals added to the server'),
  rekeyed: z
    .array(z.object({ from: z.string(), to: z.string() }))
    .describe('globals under another key, because the server uses the key for something else'),
})

const MissingGlobal = AppliedGlobal.extend({ serverId: z.string().optional() })

/** What applying an import did. Contains no values. */
export const ImportReport = z.object({
  created: z.array(AppliedTool),
  updated: z.array(AppliedTool),
  unchanged: z.int().describe('selected operations whose tools stay as they are'),
  skipped: z.array(z.object({ key: z.string(), reason: z.string() })).describe('selected operations without a tool'),
  renamed: z.array(z.object({ key: z.string(), from: z.string(), to: z.string() })).describe('names that were taken'),
  server: RewiredServer.extend({
    created: z.boolean(),
    tools: z.int().describe('tools added to the server'),
  }).optional(),
  rewired: z
    .array(RewiredServer)
    .default([])
    .describe('other servers, on which updated tools were bound to what they need now'),
  missing: z.array(MissingGlobal).describe('globals and secrets that still need a value, and on which server'),
  discarded: z.array(z.string()).describe('keys of secrets whose values were not stored'),
})
export type ImportReport = z.infer<typeof ImportReport>

/** Returns the servers that a report is about. */
export const serverIdsOf = ({ server, rewired }: ImportReport): string[] =>
  [server, ...rewired].flatMap(one => one?.id ?? [])

/** Returns a report without what it says about other servers than those that its reader may open. */
export const shownReport = (report: ImportReport, open: ReadonlySet<string>): ImportReport => {
  const { server, rewired, missing, discarded, ...tools } = report
  const isShown = server === undefined || open.has(server.id)
  return {
    ...tools,
    ...(isShown && { server }),
    rewired: rewired.filter(({ id }) => open.has(id)),
    missing: missing.filter(({ serverId = server?.id }) => serverId === undefined || open.has(serverId)),
    // They would have been stored on the server that is left out.
    discarded: isShown ? discarded : [],
  }
}
