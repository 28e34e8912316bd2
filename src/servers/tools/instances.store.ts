import { z } from 'zod'
import type { Transaction } from '../../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../../lib/http/id-paging.ts'
import type { JsonValue } from '../../lib/kernel/json.ts'
import { createPause } from '../../lib/worker/pause.ts'
import { toTool } from '../../tools/tools.store.ts'
import type { Binding, Bindings, Instance } from '../server.ts'

const WITH_TOOL = { tool: true, bindings: { orderBy: { parameter: 'asc' } } } as const

type BindingRow = { parameter: string; source: Binding['source']; value: unknown }
type InstanceRow = {
  id: string
  serverId: string
  name: string
  description: string | null
  maxResponseTokens: number | null
  tool: Parameters<typeof toTool>[0]
  bindings: BindingRow[]
  createdAt: Date
  updatedAt: Date
}

// Created once, because that takes longer than parsing thousands of values.
const FIXED_VALUE = z.json()
const GLOBAL_KEY = z.string().nullable()

export const toBinding = ({ source, value }: BindingRow): Binding => {
  switch (source) {
    case 'instance':
      return { source, value: FIXED_VALUE.parse(value) }
    case 'server':
      return { source, key: GLOBAL_KEY.parse(value) ?? undefined }
    case 'exposed':
      return { source }
  }
}

export const toBindings = (rows: readonly BindingRow[]): Bindings =>
  Object.fromEntries(rows.map(binding => [binding.parameter, toBinding(binding)]))

const toInstance = (row: InstanceRow): Instance => ({
  id: row.id,
  serverId: row.serverId,
  name: row.name,
  description: row.description ?? undefined,
  maxResponseTokens: row.maxResponseTokens ?? undefined,
  bindings: toBindings(row.bindings),
  tool: toTool(row.tool),
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
})

/** A fixed null is stored as JSON null; the source distinguishes it from no value. */
const storedValueOf = (binding: Binding): JsonValue | undefined => {
  switch (binding.source) {
    case 'instance':
      return binding.value
    case 'server':
      return binding.key
    case 'exposed':
      return undefined
  }
}

export const toStoredBinding = (parameter: string, binding: Binding) => {
  const value = storedValueOf(binding)
  return { parameter, source: binding.source, ...(value === undefined || value === null ? {} : { value }) }
}

const bindingRows = (bindings: Bindings) =>
  Object.entries(bindings).map(([parameter, binding]) => toStoredBinding(parameter, binding))

export type NewInstance = {
  toolId: string
  name: string
  description?: string | undefined
  maxResponseTokens?: number | null | undefined
  bindings: Bindings
}

export const createInstance = async (tx: Transaction, data: NewInstance & { serverId: string }): Promise<Instance> => {
  const { bindings, description, maxResponseTokens, ...rest } = data
  const row = await tx.instance.create({
    data: {
      ...rest,
      description: description ?? null,
      maxResponseTokens: maxResponseTokens ?? null,
      bindings: { create: bindingRows(bindings) },
    },
    include: WITH_TOOL,
  })
  return toInstance(row)
}

export const findInstance = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<{ instance: Instance; organizationId: string } | undefined> => {
  const row = await tx.instance.findFirst({
    where: { id, server: { organizationId: { in: [...organizationIds] }, removedAt: null } },
    include: { ...WITH_TOOL, server: { select: { organizationId: true } } },
  })
  return row === null ? undefined : { instance: toInstance(row), organizationId: row.server.organizationId }
}

export const listInstances = async (tx: Transaction, serverId: string, page: IdPage): Promise<Instance[]> => {
  const { where, ...rest } = idPageQuery(page)
  return (await tx.instance.findMany({ where: { serverId, ...where }, ...rest, include: WITH_TOOL })).map(toInstance)
}

/** Rows per query; reading them takes a few milliseconds. */
const ROWS_AT_ONCE = 200

/** Lists all instances by name. Yields to the event loop, because a server may have thousands. */
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

/** Returns those instances that belong to the server, by name. */
export const listInstancesById = async (
  tx: Transaction,
  serverId: string,
  ids: readonly string[],
): Promise<Instance[]> => {
  const where = { serverId, id: { in: [...ids] } }
  return (await tx.instance.findMany({ where, orderBy: { name: 'asc' }, include: WITH_TOOL })).map(toInstance)
}

export const listInstancesOfTool = async (tx: Transaction, serverId: string, toolId: string): Promise<Instance[]> => {
  const where = { serverId, toolId }
  return (await tx.instance.findMany({ where, orderBy: { name: 'asc' }, include: WITH_TOOL })).map(toInstance)
}

export const countInstancesOf = (tx: Transaction, serverId: string, toolId: string): Promise<number> =>
  tx.instance.count({ where: { serverId, toolId } })

export const listAllInstanceNames = async (tx: Transaction, serverId: string): Promise<string[]> =>
  (await tx.instance.findMany({ where: { serverId }, select: { name: true } })).map(({ name }) => name)

export const countInstances = (tx: Transaction, serverId: string): Promise<number> =>
  tx.instance.count({ where: { serverId } })

export type InstancePatch = {
  toolId?: string | undefined
  name?: string | undefined
  description?: string | null | undefined
  maxResponseTokens?: number | null | undefined
  bindings?: Bindings | undefined
}

export const updateInstance = async (tx: Transaction, id: string, patch: InstancePatch): Promise<Instance> => {
  const { toolId, name, description, maxResponseTokens, bindings } = patch
  const row = await tx.instance.update({
    where: { id },
    data: {
      ...(toolId === undefined ? {} : { toolId }),
      ...(name === undefined ? {} : { name }),
      ...(description === undefined ? {} : { description }),
      ...(maxResponseTokens === undefined ? {} : { maxResponseTokens }),
      ...(bindings === undefined ? {} : { bindings: { deleteMany: {}, create: bindingRows(bindings) } }),
    },
    include: WITH_TOOL,
  })
  return toInstance(row)
}

export const removeInstance = async (tx: Transaction, id: string): Promise<void> => {
  await tx.instance.delete({ where: { id } })
}

/** Lists the names of a server's instances that use this tool or toolkit. */
export const listInstanceNames = async (
  tx: Transaction,
  where: { serverId: string; toolId?: string; toolkitId?: string },
): Promise<string[]> => {
  const rows = await tx.instance.findMany({
    where: {
      serverId: where.serverId,
      ...(where.toolId === undefined ? {} : { toolId: where.toolId }),
      ...(where.toolkitId === undefined ? {} : { tool: { toolkitId: where.toolkitId } }),
    },
    select: { name: true },
    orderBy: { name: 'asc' },
  })
  return rows.map(row => row.name)
}
