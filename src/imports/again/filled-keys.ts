import type { Transaction } from '../../lib/db/client.ts'
import { readBindings } from '../../servers/tools/instances.store.ts'
import type { Import } from '../import.ts'

/**
 * Returns those keys of globals that need no value, because every server with tools that were imported from this source
 * has one already. None if the tools are to be added to another server. An importer names a parameter like its global.
 */
export const listFilledKeys = async (
  tx: Transaction,
  { toolkitId, summary, settings: { server } }: Import,
  keys: readonly string[],
): Promise<ReadonlySet<string>> => {
  if (keys.length === 0 || typeof server === 'object') return new Set()
  const tool = { toolkitId, source: { title: summary?.title ?? null } }
  const rows = await tx.binding.findMany({
    where: { parameter: { in: [...keys] }, instance: { tool, server: { removedAt: null } } },
    select: { parameter: true, source: true, value: true, instance: { select: { serverId: true } } },
  })
  const serverIds = new Set(rows.map(({ instance }) => instance.serverId))
  if (server !== undefined && !serverIds.has(server)) return new Set()
  const globals = await tx.global.findMany({
    where: { serverId: { in: [...serverIds] } },
    select: { serverId: true, key: true },
  })
  const known = new Set(globals.map(({ serverId, key }) => `${serverId} ${key}`))
  const isFilled = ({ instance: { serverId }, ...row }: (typeof rows)[number]): boolean => {
    const binding = readBindings([row])[row.parameter]
    return binding?.source !== 'server' || known.has(`${serverId} ${binding.key ?? row.parameter}`)
  }
  const byKey = Map.groupBy(rows, ({ parameter }) => parameter)
  return new Set([...byKey].flatMap(([key, bound]) => (bound.every(isFilled) ? [key] : [])))
}
