import type { Transaction } from '../../lib/db/client.ts'
import type { Bindings } from '../server.ts'
import { toBinding } from '../tools/instances.store.ts'

/** Lists instances by name without their tools. Flat queries are fast enough for 2,000 instances. */
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

export const listToolRows = (tx: Transaction, ids: readonly string[]) =>
  tx.tool.findMany({
    where: { id: { in: [...ids] } },
    select: { id: true, toolkitId: true, updatedAt: true, definition: true },
  })

/** Lists keys and plain values. Secrets are listed without a value, sealed or not. */
export const listGlobalValues = async (tx: Transaction, serverId: string) => {
  const rows = await tx.global.findMany({
    where: { serverId },
    orderBy: { key: 'asc' },
    select: { key: true, isSecret: true, value: true },
  })
  return rows.map(({ key, isSecret, value }) => ({ key, value: isSecret ? undefined : value }))
}

/** Lists the toolkits and snapshots that a server uses, oldest use first. */
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
