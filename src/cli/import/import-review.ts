import { z } from 'zod'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import { type LeftOut, leftOutLines } from './choose-operations.ts'
import { commonNotes, countNotes, toolLines } from './openapi-report.ts'

/** An import, as far as the command shows it. */
export const ReadImport = z.object({
  id: z.string(),
  state: z.enum(['reading', 'ready', 'applied', 'failed']),
  problem: z.string().nullable(),
  needs: z.array(z.string()),
  summary: z
    .object({
      format: z.string(),
      title: z.string().nullable(),
      version: z.string().nullable(),
      webhooks: z.int(),
      notes: z.array(z.string()),
      baseUrls: z.array(z.object({ key: z.string(), value: z.string().nullable() })),
      globals: z.array(
        z.object({ key: z.string(), isSecret: z.boolean(), asks: z.string().nullable(), origins: z.array(z.string()) }),
      ),
    })
    .nullable(),
  settings: z.object({ secretKeys: z.array(z.string()) }),
})
export type ReadImport = z.infer<typeof ReadImport>

/** An operation of an import. `reason` is why it cannot become a tool. */
export const ImportedItem = z.object({
  key: z.string(),
  operationId: z.string().nullable(),
  tags: z.array(z.string()),
  deprecated: z.boolean(),
  selected: z.boolean(),
  state: z.string(),
  reason: z.string().nullable(),
  name: z.string().nullable(),
  tokens: z.int().nullable(),
  notes: z.array(z.string()),
  findings: z.array(z.object({ rule: z.string() })),
  globals: z.array(z.string()),
  unsupportedSecurity: z.array(z.string()),
})
export type ImportedItem = z.infer<typeof ImportedItem>

export type ImportReview = {
  read: ReadImport
  chosen: readonly ImportedItem[]
  leftOut: readonly LeftOut[]
  refused: readonly ImportedItem[]
}

const toShown = ({ name, key, tokens, notes }: ImportedItem) => ({ name: name ?? key, key, tokens: tokens ?? 0, notes })

/** Returns what will be imported as text. */
export const reviewLines = ({ read: { summary, needs }, chosen, leftOut, refused }: ImportReview): string[] => {
  const tools = chosen.map(toShown)
  const counts = countNotes(tools)
  const tokens = tools.reduce((sum, tool) => sum + tool.tokens, 0)
  const title = [summary?.title ?? '', summary?.version ?? ''].filter(text => text !== '').join(' ')
  return [
    `${title}${title === '' ? '' : ' '}(${summary?.format ?? ''})`,
    `${formatCount(tools.length, 'tool')}, ${formatNumber(tokens)} tokens:`,
    ...toolLines(tools, counts),
    ...commonNotes(counts),
    ...leftOutLines(leftOut),
    ...(refused.length === 0 ? [] : [`${formatCount(refused.length, 'operation')} cannot be imported:`]),
    ...refused.map(({ key, reason }) => `  ${key}  ${reason ?? ''}`),
    ...(needs.length === 0 ? [] : [`Documents from these origins are left out: ${needs.join(', ')}`]),
    ...(summary?.notes ?? []),
  ]
}

const Tool = z.object({ id: z.string(), name: z.string(), key: z.string() })
const Missing = z.object({ key: z.string(), secret: z.boolean(), origins: z.array(z.string()) })

/** The report of an applied import. */
export const ApplyReport = z.object({
  created: z.array(Tool),
  updated: z.array(Tool),
  unchanged: z.int(),
  skipped: z.array(z.object({ key: z.string(), reason: z.string() })),
  renamed: z.array(z.object({ key: z.string(), from: z.string(), to: z.string() })),
  server: z
    .object({
      id: z.string(),
      name: z.string(),
      created: z.boolean(),
      tools: z.int(),
      globals: z.array(Missing),
      rekeyed: z.array(z.object({ from: z.string(), to: z.string() })),
    })
    .nullable(),
  rewired: z.array(z.object({ id: z.string(), name: z.string() })),
  missing: z.array(Missing.extend({ serverId: z.string().nullable() })),
  discarded: z.array(z.string()),
})
type ApplyReport = z.infer<typeof ApplyReport>

type Applied = { toolkit: { title: string }; report: ApplyReport; url: string | undefined }

/** Returns what an import did as text. */
export const appliedLines = ({ toolkit, report, url }: Applied): string[] => {
  const { created, updated, renamed, server, rewired, missing, discarded } = report
  const missingOn = (id: string): string[] => missing.flatMap(({ key, serverId }) => (serverId === id ? [key] : []))
  return [
    `Created ${formatCount(created.length, 'tool')} in "${toolkit.title}"`,
    ...(updated.length === 0 ? [] : [`Updated ${formatCount(updated.length, 'tool')}`]),
    ...renamed.map(({ from, to, key }) => `  ${key} is named ${to}, because ${from} is taken`),
    ...(server === null ? [] : [`Added ${formatCount(server.tools, 'tool')} to "${server.name}"`]),
    ...(server?.rekeyed ?? []).map(({ from, to }) => `  ${from} is the global ${to} there, because ${from} is in use`),
    ...[...(server === null ? [] : [server]), ...rewired].flatMap(({ id, name }) => {
      const keys = missingOn(id)
      return keys.length === 0
        ? []
        : [`Set these globals on the server "${name}" before you use it: ${keys.join(', ')}`]
    }),
    ...(discarded.length === 0 ? [] : [`The values of these secrets were not stored: ${discarded.join(', ')}`]),
    ...(url === undefined ? [] : [`MCP server: ${url}`]),
  ]
}
