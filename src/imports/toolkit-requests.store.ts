import { z } from 'zod'
import type { Transaction } from '../lib/db/client.ts'
import { ImportSettings, ImportSummary } from './import.ts'

const StoredRequest = z.object({
  method: z.string(),
  url: z.string(),
  allowedOrigins: z.array(z.string()).optional(),
})

/** The request of a tool. If its base URL is a placeholder, `allowedOrigins` has the origins. */
export type ToolRequest = z.infer<typeof StoredRequest>

/** A tool of the toolkit. `baseUrls` are those that its import proposed and that its builder chose, by the key of the global. */
export type RequestingTool = { name: string; request: ToolRequest; baseUrls: ReadonlyMap<string, readonly string[]> }

/** A toolkit whose source changes every day has many imports, which say the same about their base URLs. */
const MAX_IMPORTS_READ = 50

/** Returns the base URLs of the sources that were imported into a toolkit, by their title and the key of the global. */
const listBaseUrls = async (tx: Transaction, toolkitId: string) => {
  const rows = await tx.import.findMany({
    where: { toolkitId, state: 'applied' },
    select: { summary: true, settings: true },
    orderBy: { id: 'desc' },
    take: MAX_IMPORTS_READ,
  })
  const known = new Map<string | undefined, Map<string, readonly string[]>>()
  for (const row of rows.toReversed()) {
    const { title, baseUrls, globals } = ImportSummary.parse(row.summary)
    const { baseUrls: chosen } = ImportSettings.parse(row.settings)
    const ofTitle = known.get(title) ?? new Map<string, readonly string[]>()
    known.set(title, ofTitle)
    for (const { key, value } of [...baseUrls, ...globals]) {
      ofTitle.set(
        key,
        [value, chosen[key]].filter(url => url !== undefined),
      )
    }
  }
  return known
}

const NONE: RequestingTool['baseUrls'] = new Map()

/** Lists what the tools of a toolkit request. The access to the toolkit has been checked. */
export const listToolRequests = async (tx: Transaction, toolkitId: string): Promise<RequestingTool[]> => {
  const rows = await tx.tool.findMany({
    where: { toolkitId },
    select: { name: true, definition: true, source: { select: { title: true } } },
    orderBy: { id: 'asc' },
  })
  const known = await listBaseUrls(tx, toolkitId)
  return rows.map(({ name, definition, source }) => ({
    name,
    request: StoredRequest.parse(definition),
    baseUrls: (source === null ? undefined : known.get(source.title ?? undefined)) ?? NONE,
  }))
}
