import { join } from 'node:path'
import { z } from 'zod'

const FILE = join(import.meta.dirname, 'servers/reporter.process.ts')

/** Returns an `mcpServers` entry that starts the reporter. */
export const reporter = (args: readonly string[] = [], env: Record<string, string> = {}) => ({
  command: process.execPath,
  args: ['--disable-warning=ExperimentalWarning', FILE, ...args],
  env,
})

const Result = z.object({ content: z.array(z.object({ type: z.literal('text'), text: z.string() })).min(1) })
const Report = z.object({
  args: z.array(z.string()),
  REPORTED: z.string().nullable(),
  REPORTED_TOKEN: z.string().nullable(),
  pid: z.number(),
})

/** Parses the report in a tool result of the reporter. */
export const reportIn = (result: unknown): z.infer<typeof Report> =>
  Report.parse(JSON.parse(Result.parse(result).content[0]?.text ?? ''))
