import { z } from 'zod'
import type { Rows, Transaction } from '../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../lib/http/id-paging.ts'
import { isJsonObject, toJsonObject } from '../lib/kernel/json.ts'
import { mapFound, withoutNulls } from '../lib/kernel/missing.ts'
import { ToolAnswers, type Upstream, UpstreamConfig } from './upstream.ts'

const ResponseTokens = z.record(z.string(), z.number())
const AnswersByTool = z.record(z.string(), ToolAnswers)

const toUpstream = ({ transport, config, responseTokens, toolAnswers, ...row }: Rows.Upstream): Upstream => ({
  ...withoutNulls(row),
  config: UpstreamConfig.parse(isJsonObject(config) ? { ...config, transport } : config),
  responseTokens: ResponseTokens.parse(responseTokens ?? {}),
  toolAnswers: AnswersByTool.parse(toolAnswers ?? {}),
})

/** Finds an upstream whose server exists in one of these organizations. Also returns the organization. */
export const findUpstream = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<{ upstream: Upstream; organizationId: string } | undefined> => {
  const row = await tx.upstream.findFirst({
    where: { id, server: { organizationId: { in: [...organizationIds] }, removedAt: null } },
    include: { server: { select: { organizationId: true } } },
  })
  return mapFound(row, ({ server, ...own }) => ({ upstream: toUpstream(own), organizationId: server.organizationId }))
}

/** Finds an upstream without checking access. For connections only. */
export const findUpstreamOfAnybody = async (tx: Transaction, id: string): Promise<Upstream | undefined> => {
  const row = await tx.upstream.findFirst({ where: { id, server: { removedAt: null } } })
  return mapFound(row, toUpstream)
}

export const listUpstreams = async (tx: Transaction, serverId: string, page: IdPage): Promise<Upstream[]> =>
  (await tx.upstream.findMany(idPageQuery(page, { serverId }))).map(toUpstream)

type Where = { serverId: string; server?: { removedAt: null; presentation: 'passthrough' | { not: 'passthrough' } } }

const listByName = async (tx: Transaction, where: Where): Promise<Upstream[]> =>
  (await tx.upstream.findMany({ where, orderBy: { name: 'asc' } })).map(toUpstream)

const NOT_PASSTHROUGH = { removedAt: null, presentation: { not: 'passthrough' } } as const

/** Returns a server's upstreams, sorted by name. */
export const listAllUpstreams = (tx: Transaction, serverId: string): Promise<Upstream[]> => listByName(tx, { serverId })

/** Lists upstreams without checking access, for connections only. Returns none for passthrough servers. */
export const listUpstreamsOfAnybody = (tx: Transaction, serverId: string): Promise<Upstream[]> =>
  listByName(tx, { serverId, server: NOT_PASSTHROUGH })

/**
 * Lists upstreams without checking access, for connections only. Returns none for servers that are not passthrough
 * servers.
 */
export const listUpstreamsPassedOnTo = (tx: Transaction, serverId: string): Promise<Upstream[]> =>
  listByName(tx, { serverId, server: { removedAt: null, presentation: 'passthrough' } })

/** Returns enabled upstreams, except those on passthrough servers. `isReviewed` is whether changes need approval. */
export const listEnabledUpstreams = async (
  tx: Transaction,
  serverIds: readonly string[],
): Promise<{ upstream: Upstream; isReviewed: boolean }[]> => {
  const rows = await tx.upstream.findMany({
    where: { serverId: { in: [...serverIds] }, isEnabled: true, server: NOT_PASSTHROUGH },
    include: { server: { select: { reviewUpstreamChanges: true } } },
  })
  return rows.map(({ server, ...own }) => ({ upstream: toUpstream(own), isReviewed: server.reviewUpstreamChanges }))
}

/** Returns upstreams without checking access. */
export const listUpstreamsById = async (tx: Transaction, ids: readonly string[]): Promise<Upstream[]> =>
  (await tx.upstream.findMany({ where: { id: { in: [...ids] } } })).map(toUpstream)

/** Returns the organization of a server. */
export const findOrganizationId = async (tx: Transaction, serverId: string): Promise<string | undefined> =>
  (await tx.server.findUnique({ where: { id: serverId }, select: { organizationId: true } }))?.organizationId

/** Returns the server's presentation; undefined if the server has no upstreams. */
export const findPresentation = async (tx: Transaction, serverId: string): Promise<string | undefined> => {
  const row = await tx.upstream.findFirst({
    where: { serverId },
    select: { server: { select: { presentation: true } } },
  })
  return row?.server.presentation
}

/** Returns whether changes to the server's upstreams need approval; false for a server without upstreams. */
export const isServerReviewed = async (tx: Transaction, serverId: string): Promise<boolean> =>
  (await tx.upstream.count({ where: { serverId, server: { reviewUpstreamChanges: true } } })) > 0

/** Returns the servers that have an enabled upstream with `isEager`. */
export const listEagerServerIds = async (tx: Transaction): Promise<string[]> => {
  const rows = await tx.upstream.findMany({ where: { isEnabled: true, server: NOT_PASSTHROUGH } })
  return [...new Set(rows.map(toUpstream).flatMap(({ serverId, config }) => (config.isEager ? serverId : [])))]
}

export const countUpstreams = (tx: Transaction, serverId: string): Promise<number> =>
  tx.upstream.count({ where: { serverId } })

type UpstreamContent = Pick<
  Upstream,
  'name' | 'description' | 'isEnabled' | 'config' | 'responseTokens' | 'toolAnswers'
>

const toData = ({ name, description, isEnabled, config, responseTokens, toolAnswers }: UpstreamContent) => {
  const { transport, ...stored } = config
  return {
    name,
    description: description ?? null,
    isEnabled,
    transport,
    config: toJsonObject(stored),
    responseTokens: { ...responseTokens },
    toolAnswers: toJsonObject(toolAnswers),
  }
}

export const createUpstream = async (tx: Transaction, serverId: string, content: UpstreamContent): Promise<Upstream> =>
  toUpstream(await tx.upstream.create({ data: { serverId, ...toData(content) } }))

export const updateUpstream = async (tx: Transaction, id: string, content: UpstreamContent): Promise<Upstream> =>
  toUpstream(await tx.upstream.update({ where: { id }, data: toData(content) }))

export const removeUpstream = async (tx: Transaction, id: string): Promise<void> => {
  await tx.upstream.deleteMany({ where: { id } })
}
