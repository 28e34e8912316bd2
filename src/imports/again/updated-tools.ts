import type { Database } from '../../lib/db/client.ts'
import { mapInTurns } from '../../lib/worker/pause.ts'
import type { ImportItem } from '../import.ts'
import { compareTool } from '../merge/compare-tools.ts'
import { listSourcedTools } from './tool-sources.store.ts'

/**
 * Returns items with the tools that the import would update, as they would be: with what was changed by hand. Yields to
 * the event loop.
 */
export const withUpdatedTools = async (db: Database, items: readonly ImportItem[]): Promise<ImportItem[]> => {
  const ids = items.flatMap(({ toolId }) => toolId ?? [])
  if (ids.length === 0) return [...items]
  const known = await listSourcedTools(db, ids)
  return mapInTurns(items, item => {
    const there = item.toolId === undefined ? undefined : known.get(item.toolId)
    if (there === undefined || !('tool' in item)) return item
    const { base, tool: mine } = there
    if (item.state === 'same') return { ...item, updated: mine }
    return { ...item, updated: compareTool({ base, mine, theirs: item.tool, resolve: item.resolve }).tool }
  })
}
