import type { Transaction } from '../../lib/db/client.ts'
import type { Bindings } from '../server.ts'
import { toBinding } from '../tools/instances.store.ts'

/** Instances by name, without their tools: each of these is a flat query, which 2,000 of them need. */
export const listBoundInstances = async (tx: Transaction, serverId: string) => {
  const [rows, bindings] = await Promise.all([
    tx.instance.findMany({
      where: { serverId },
      orderBy: { name: 'asc' },
      select: { id: true, name: true, toolId: true },
    }),
    tx.binding.findMany({
      where: { instance: { serverId } },
      select: { instanceId: true, parameter: true, source: true, value: true },
    }),
  ])
  const byInstance = Map.groupBy(bindings, ({ instanceId }) => instanceId)
  return rows.map(row => {
    const own = byInstance.get(row.id) ?? []
    const entries = own.map(binding => [binding.parameter, toBinding(binding)] as const)
    return { ...row, bindings: Object.fromEntries(entries) satisfies Bindings }
  })
}

/** Rows of the tools with these ids, which are those of a server's instances. */
export const listToolRows = (tx: Transaction, ids: readonly string[]) =>
  tx.tool.findMany({
    where: { id: { in: [...ids] } },
    select: { id: true, toolkitId: true, updatedAt: true, definition: true },
  })

/** Keys and plain values; of a secret one not even the sealed form. */
export const listGlobalValues = async (tx: Transaction, serverId: string) => {
  const rows = await tx.global.findMany({
    where: { serverId },
    orderBy: { key: 'asc' },
    select: { key: true, isSecret: true, value: true },
  })
  return rows.map(({ key, isSecret, value }) => ({ key, value: isSecret ? undefined : value }))
}

/** The toolkits, snapshots among them, that a server may take tools from; oldest use first. */
export const listToolkitsInUse = async (tx: Transaction, serverId: string) => {
  const rows = await tx.toolkitUse.findMany({
    where: { serverId },
    orderBy: { id: 'asc' },
    select: { toolkit: { select: { id: true, title: true, snapshotOfId: true } } },
  })
  return rows.map(({ toolkit }) => ({
    id: toolkit.id,
    title: toolkit.title,
    isSnapshot: toolkit.snapshotOfId !== null,
  }))
}
