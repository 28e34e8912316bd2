import { sqltag as sql } from '@prisma/client/runtime/client'
import { z } from 'zod'
import type { Rows, Transaction } from '../../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../../lib/http/id-paging.ts'
import { definedFields, mapFound, withoutNulls } from '../../lib/kernel/missing.ts'
import { createPause } from '../../lib/worker/pause.ts'
import { toTool } from '../../tools/tools.store.ts'
import { toBinding, toBindingFields } from '../bindings/bindings.ts'
import type { Binding, Bindings, Instance } from '../server.ts'
import type { CreateInstance, UpdateInstance } from '../servers.schema.ts'
import type { LimitedInstance } from '../settings/cut-result-listing.ts'

const WITH_TOOL = { tool: true, bindings: { orderBy: { parameter: 'asc' } } } as const

type BindingRow = { parameter: string; source: Binding['source']; value: unknown }

// Created once, because creating it takes longer than parsing thousands of values.
const STORED_VALUE = z.json()

export const readBindings = (rows: readonly BindingRow[]): Bindings =>
  Object.fromEntries(
    rows.map(({ parameter, source, value }) => [parameter, toBinding({ source, value: STORED_VALUE.parse(value) })]),
  )

const toInstance = ({
  tool,
  bindings,
  ...row
}: Rows.Instance & { tool: Rows.Tool; bindings: BindingRow[] }): Instance => ({
  ...withoutNulls(row),
  bindings: readBindings(bindings),
  tool: toTool(tool),
})

/** A fixed value of null is stored without a value. The source distinguishes it from a binding that has none. */
export const toStoredBinding = (parameter: string, binding: Binding) => {
  const { source, value } = toBindingFields(binding)
  return { parameter, source, ...(value === undefined || value === null ? {} : { value }) }
}

const bindingRows = (bindings: Bindings) =>
  Object.entries(bindings).map(([parameter, binding]) => toStoredBinding(parameter, binding))

export type NewInstance = Omit<z.input<typeof CreateInstance>, 'bindings'> & { bindings: Bindings }

/** `id` and `createdAt` are set for an instance that was removed. */
type RestoredInstance = Partial<Pick<Instance, 'id' | 'createdAt'>>

export const createInstance = async (
  tx: Transaction,
  { serverId, toolId, name, bindings, ...rest }: NewInstance & RestoredInstance & { serverId: string },
): Promise<Instance> => {
  const { description, maxResponseTokens, enabled: isEnabled, id, createdAt } = rest
  const optional = definedFields({ description, maxResponseTokens, isEnabled, id, createdAt })
  const fields = { serverId, toolId, name, ...optional }
  const data = { ...fields, bindings: { create: bindingRows(bindings) } }
  return toInstance(await tx.instance.create({ data, include: WITH_TOOL }))
}

/** Creates instances in one statement, and returns their IDs by name. */
export const createInstances = async (
  tx: Transaction,
  serverId: string,
  instances: readonly { toolId: string; name: string }[],
): Promise<ReadonlyMap<string, string>> => {
  const data = instances.map(({ toolId, name }) => ({ serverId, toolId, name }))
  const rows = await tx.instance.createManyAndReturn({ data, select: { id: true, name: true } })
  return new Map(rows.map(({ id, name }) => [name, id]))
}

/** Creates the bindings of instances that have none. */
export const createBindings = async (
  tx: Transaction,
  instances: readonly { id: string; bindings: Bindings }[],
): Promise<void> => {
  const data = instances.flatMap(({ id, bindings }) => bindingRows(bindings).map(row => ({ instanceId: id, ...row })))
  if (data.length > 0) await tx.binding.createMany({ data })
}

export const findInstance = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<Instance | undefined> => {
  const where = { id, server: { organizationId: { in: [...organizationIds] }, removedAt: null } }
  return mapFound(await tx.instance.findFirst({ where, include: WITH_TOOL }), toInstance)
}

export const listInstances = async (tx: Transaction, serverId: string, page: IdPage): Promise<Instance[]> =>
  (await tx.instance.findMany({ ...idPageQuery(page, { serverId }), include: WITH_TOOL })).map(toInstance)

/** Number of rows per query. Reading this many takes a few milliseconds. */
const ROWS_AT_ONCE = 200

/** Lists all instances, sorted by name. Yields to the event loop, because a server may have thousands of instances. */
export const listAllInstances = async (tx: Transaction, serverId: string): Promise<Instance[]> => {
  const pause = createPause()
  const all: Instance[] = []
  for (let isMore = true; isMore; await pause()) {
    const last = all.at(-1)?.name
    const where = { serverId, ...(last !== undefined && { name: { gt: last } }) }
    const orderBy = { name: 'asc' } as const
    const rows = await tx.instance.findMany({ where, orderBy, take: ROWS_AT_ONCE, include: WITH_TOOL })
    all.push(...rows.map(toInstance))
    isMore = rows.length === ROWS_AT_ONCE
  }
  return all
}

const CountRows = z.array(z.object({ toolkitId: z.string(), count: z.coerce.number() }))

const LimitedRow = z.object({
  name: z.string(),
  // A number in SQLite.
  isEnabled: z.coerce.boolean(),
  maxResponseTokens: z.number().nullable(),
  toolId: z.string(),
  url: z.string(),
  outputSchema: z.string().nullable(),
})

/** Lists the limits of all instances, sorted by name, without their definitions. Both databases have the operator. */
export const listLimitedInstances = async (tx: Transaction, serverId: string): Promise<LimitedInstance[]> => {
  const rows = await tx.$queryRaw(sql`
    SELECT i."name", i."isEnabled", i."maxResponseTokens", t."id" AS "toolId", t."definition" ->> 'url' AS "url",
      SUBSTR(t."definition" ->> 'outputSchema', 1, 1) AS "outputSchema"
    FROM "Instance" i JOIN "Tool" t ON t."id" = i."toolId" WHERE i."serverId" = ${serverId} ORDER BY i."name"`)
  return z
    .array(LimitedRow)
    .parse(rows)
    .map(({ name, isEnabled, maxResponseTokens, toolId: id, url, outputSchema }) => ({
      name,
      isEnabled,
      maxResponseTokens: maxResponseTokens ?? undefined,
      tool: { id, url, outputSchema: outputSchema ?? undefined },
    }))
}

/** Counts a server's instances by the toolkit or snapshot that contains their tools. */
export const countInstancesByToolkit = async (
  tx: Transaction,
  serverId: string,
): Promise<ReadonlyMap<string, number>> => {
  const rows = await tx.$queryRaw(sql`
    SELECT t."toolkitId", COUNT(*) AS "count" FROM "Instance" i JOIN "Tool" t ON t."id" = i."toolId"
    WHERE i."serverId" = ${serverId} GROUP BY t."toolkitId"`)
  return new Map(CountRows.parse(rows).map(({ toolkitId, count }) => [toolkitId, count]))
}

/** Lists the servers with a tool that list the tools for cut results only if needed. */
export const listAutomaticServerIds = async (tx: Transaction, toolId: string): Promise<string[]> => {
  const where = { toolId, server: { cutResultTools: 'auto', removedAt: null } } as const
  const rows = await tx.instance.findMany({ where, select: { serverId: true }, distinct: ['serverId'] })
  return rows.map(({ serverId }) => serverId)
}

const listByName = async (
  tx: Transaction,
  where: { serverId: string; id?: { in: string[] }; toolId?: string },
): Promise<Instance[]> =>
  (await tx.instance.findMany({ where, orderBy: { name: 'asc' }, include: WITH_TOOL })).map(toInstance)

/** Returns those of the instances that belong to the server, sorted by name. */
export const listInstancesById = (tx: Transaction, serverId: string, ids: readonly string[]): Promise<Instance[]> =>
  listByName(tx, { serverId, id: { in: [...ids] } })

export const listInstancesOfTool = (tx: Transaction, serverId: string, toolId: string): Promise<Instance[]> =>
  listByName(tx, { serverId, toolId })

/** Lists the instances of these tools on all servers, without their tools. The caller checks access. */
export const listBindingsOfTools = async (
  tx: Transaction,
  toolIds: readonly string[],
): Promise<{ id: string; serverId: string; toolId: string; bindings: Bindings }[]> => {
  const pause = createPause()
  const found: { id: string; serverId: string; toolId: string; bindings: Bindings }[] = []
  for (let at = 0; at < toolIds.length; at += ROWS_AT_ONCE) {
    const where = { toolId: { in: toolIds.slice(at, at + ROWS_AT_ONCE) }, server: { removedAt: null } }
    const select = { id: true, serverId: true, toolId: true, bindings: true } as const
    const rows = await tx.instance.findMany({ where, select, orderBy: { id: 'asc' } })
    found.push(...rows.map(({ bindings, ...row }) => ({ ...row, bindings: readBindings(bindings) })))
    await pause()
  }
  return found
}

/** Returns those of the tools that the server has an instance of. */
export const listToolsInUse = async (
  tx: Transaction,
  serverId: string,
  toolIds: readonly string[],
): Promise<ReadonlySet<string>> => {
  const where = { serverId, toolId: { in: [...toolIds] } }
  return new Set((await tx.instance.findMany({ where, select: { toolId: true } })).map(({ toolId }) => toolId))
}

export const listAllInstanceNames = async (tx: Transaction, serverId: string): Promise<string[]> =>
  (await tx.instance.findMany({ where: { serverId }, select: { name: true } })).map(({ name }) => name)

/** Counts all instances on a server, or only the instances of one tool. */
export const countInstances = (tx: Transaction, serverId: string, toolId?: string): Promise<number> =>
  tx.instance.count({ where: { serverId, ...definedFields({ toolId }) } })

export type InstancePatch = Omit<z.infer<typeof UpdateInstance>, 'bindings'> & { bindings?: Bindings | undefined }

export const updateInstance = async (
  tx: Transaction,
  id: string,
  { toolId, name, description, maxResponseTokens, enabled: isEnabled, bindings }: InstancePatch,
): Promise<Instance> => {
  const data = {
    ...definedFields({ toolId, name, description, maxResponseTokens, isEnabled }),
    ...(bindings !== undefined && { bindings: { deleteMany: {}, create: bindingRows(bindings) } }),
  }
  return toInstance(await tx.instance.update({ where: { id }, data, include: WITH_TOOL }))
}

export const removeInstance = async (tx: Transaction, id: string): Promise<void> => {
  await tx.instance.delete({ where: { id } })
}

/** Enables or disables those of the instances that belong to the server, and returns their number. */
export const enableInstances = async (
  tx: Transaction,
  serverId: string,
  { ids, isEnabled }: { ids: readonly string[]; isEnabled: boolean },
): Promise<number> =>
  (await tx.instance.updateMany({ where: { serverId, id: { in: [...ids] } }, data: { isEnabled } })).count

/** Removes those of the instances that belong to the server, and returns their number. */
export const removeInstances = async (tx: Transaction, serverId: string, ids: readonly string[]): Promise<number> =>
  (await tx.instance.deleteMany({ where: { serverId, id: { in: [...ids] } } })).count

/** Lists the names of a server's instances that use this tool or a tool of this toolkit. */
export const listInstanceNames = async (
  tx: Transaction,
  where: { serverId: string; toolId?: string; tool?: { toolkitId: string } },
): Promise<string[]> =>
  (await tx.instance.findMany({ where, select: { name: true }, orderBy: { name: 'asc' } })).map(({ name }) => name)
