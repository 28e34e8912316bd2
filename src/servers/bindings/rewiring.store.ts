import type { Transaction } from '../../lib/db/client.ts'
import type { Binding, Bindings } from '../server.ts'
import { toBindings, toStoredBinding } from '../tools/instances.store.ts'

/** A tool at work, without what it sends: little enough to read all of a server's. */
export type WiredTool = {
  id: string
  name: string
  tool: { id: string; name: string; title: string | undefined; updatedAt: Date }
  /** `id` of the snapshot where it is one. */
  toolkit: { id: string; title: string }
  bindings: Bindings
}

const TOOL = {
  select: { id: true, name: true, title: true, updatedAt: true, toolkit: { select: { id: true, title: true } } },
} as const
const BINDING = { select: { parameter: true, source: true, value: true } } as const

/** All tools at work in a server, by name. */
export const listWiredTools = async (tx: Transaction, serverId: string): Promise<WiredTool[]> => {
  const rows = await tx.instance.findMany({
    where: { serverId },
    orderBy: { name: 'asc' },
    select: { id: true, name: true, tool: TOOL, bindings: BINDING },
  })
  return rows.map(({ bindings, tool: { toolkit, title, ...tool }, ...row }) => ({
    ...row,
    tool: { ...tool, title: title ?? undefined },
    toolkit,
    bindings: toBindings(bindings),
  }))
}

/** What the tools with these ids are, as it is kept; of those that a server's instances are of. */
export const listDefinitionsAtWork = (tx: Transaction, serverId: string, toolIds: readonly string[]) =>
  tx.tool.findMany({
    where: { id: { in: [...toolIds] }, instances: { some: { serverId } } },
    select: { id: true, updatedAt: true, definition: true },
  })

/** Binds these parameters of these instances of a server, each in place of the binding there is, and marks them changed. */
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
