import type { Transaction } from '../../lib/db/client.ts'
import { withoutNulls } from '../../lib/kernel/missing.ts'
import { mapInTurns } from '../../lib/worker/pause.ts'
import type { Binding, Bindings, Instance } from '../server.ts'
import { listInstancesById, readBindings, toStoredBinding } from '../tools/instances.store.ts'
import { globalKeysOf } from './bindings.ts'

/** An instance without its request, small enough to load all instances of a server. */
export type WiredTool = {
  id: string
  name: string
  isEnabled: boolean
  tool: { id: string; name: string; title: string | undefined; updatedAt: Date }
  /** The toolkit or snapshot that contains the tool. */
  toolkit: { id: string; title: string }
  bindings: Bindings
}

const TOOL = {
  select: { id: true, name: true, title: true, updatedAt: true, toolkit: { select: { id: true, title: true } } },
} as const
const BINDING = { select: { parameter: true, source: true, value: true } } as const

export const listWiredTools = async (tx: Transaction, serverId: string): Promise<WiredTool[]> => {
  const rows = await tx.instance.findMany({
    where: { serverId },
    orderBy: { name: 'asc' },
    select: { id: true, name: true, isEnabled: true, tool: TOOL, bindings: BINDING },
  })
  return rows.map(({ bindings, tool: { toolkit, ...tool }, ...row }) => ({
    ...row,
    tool: withoutNulls(tool),
    toolkit,
    bindings: readBindings(bindings),
  }))
}

/** Number of instances read at once. Reading this many takes a few milliseconds. */
const INSTANCES_AT_ONCE = 200

/** Lists the instances that read any of these globals. Yields to the event loop, because there may be thousands. */
export const listInstancesReading = async (
  tx: Transaction,
  serverId: string,
  keys: ReadonlySet<string>,
): Promise<Instance[]> => {
  const wired = await listWiredTools(tx, serverId)
  const reads = ({ bindings }: WiredTool): boolean =>
    Object.entries(bindings).some(([name, binding]) => [...globalKeysOf(name, binding)].some(key => keys.has(key)))
  const ids = (await mapInTurns(wired, tool => (reads(tool) ? [tool.id] : []))).flat()
  const batches = Array.from({ length: Math.ceil(ids.length / INSTANCES_AT_ONCE) }, (_, index) =>
    ids.slice(index * INSTANCES_AT_ONCE, (index + 1) * INSTANCES_AT_ONCE),
  )
  return (await mapInTurns(batches, batch => listInstancesById(tx, serverId, batch))).flat()
}

/** Returns the stored definitions of those tools that have an instance in the server. */
export const listToolDefinitions = (tx: Transaction, serverId: string, toolIds: readonly string[]) =>
  tx.tool.findMany({
    where: { id: { in: [...toolIds] }, instances: { some: { serverId } } },
    select: { id: true, updatedAt: true, definition: true },
  })

/** Replaces the bindings of these parameters, and updates `updatedAt` of the instances. */
export const bindAll = async (
  tx: Transaction,
  serverId: string,
  bindings: readonly { instanceId: string; parameter: string; binding: Binding }[],
): Promise<void> => {
  for (const [parameter, ofParameter] of Map.groupBy(bindings, ({ parameter: name }) => name)) {
    const ids = ofParameter.map(({ instanceId }) => instanceId)
    await tx.binding.deleteMany({ where: { parameter, instanceId: { in: ids }, instance: { serverId } } })
    await tx.binding.createMany({
      data: ofParameter.map(({ instanceId, binding }) => ({ instanceId, ...toStoredBinding(parameter, binding) })),
    })
  }
  const ids = [...new Set(bindings.map(({ instanceId }) => instanceId))]
  await tx.instance.updateMany({ where: { id: { in: ids }, serverId }, data: { updatedAt: new Date() } })
}
