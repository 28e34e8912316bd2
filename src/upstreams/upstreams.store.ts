import { z } from 'zod'
import type { Transaction } from '../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../lib/http/id-paging.ts'
import type { JsonObject } from '../lib/kernel/json.ts'
import { StoredAnswersByTool } from './catalogue/tool-answers.ts'
import type { Upstream, UpstreamConfig, UpstreamTransport } from './upstream.ts'

const texts = z.record(z.string(), z.string())
const settings = {
  timeoutMs: z.number(),
  isEager: z.boolean(),
  features: z.object({ tools: z.boolean(), resources: z.boolean(), prompts: z.boolean() }),
  allow: z.array(z.string()).optional(),
  deny: z.array(z.string()).optional(),
  prefix: z.string().optional(),
  auth: z.discriminatedUnion('type', [
    z.object({ type: z.literal('none') }),
    z.object({
      type: z.literal('oauth'),
      per: z.enum(['server', 'caller']),
      clientId: z.string().optional(),
      scopes: z.array(z.string()).optional(),
    }),
  ]),
}
const StoredStdio = z.object({
  command: z.string(),
  args: z.array(z.string()),
  env: texts,
  cwd: z.string().optional(),
  ...settings,
})
const StoredRemote = z.object({ url: z.string(), urls: z.array(z.string()).optional(), headers: texts, ...settings })

const toConfig = (transport: UpstreamTransport, stored: unknown): UpstreamConfig =>
  transport === 'stdio' ? { transport, ...StoredStdio.parse(stored) } : { transport, ...StoredRemote.parse(stored) }

/** Drops undefined members. */
const toJson = (value: object): JsonObject => z.record(z.string(), z.json()).parse(JSON.parse(JSON.stringify(value)))

const toStored = ({ transport: _transport, ...config }: UpstreamConfig): JsonObject => toJson(config)

type UpstreamRow = {
  id: string
  serverId: string
  name: string
  description: string | null
  transport: UpstreamTransport
  config: unknown
  responseTokens: unknown
  toolAnswers: unknown
  isEnabled: boolean
  createdAt: Date
  updatedAt: Date
}

const ResponseTokens = z.record(z.string(), z.number()).nullable()

const toUpstream = ({ transport, config, description, ...row }: UpstreamRow): Upstream => ({
  id: row.id,
  serverId: row.serverId,
  name: row.name,
  description: description ?? undefined,
  isEnabled: row.isEnabled,
  config: toConfig(transport, config),
  responseTokens: ResponseTokens.parse(row.responseTokens) ?? {},
  toolAnswers: StoredAnswersByTool.parse(row.toolAnswers) ?? {},
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
})

/** Only of existing servers in these organizations. Also returns the server's organization. */
export const findUpstream = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<{ upstream: Upstream; organizationId: string } | undefined> => {
  const row = await tx.upstream.findFirst({
    where: { id, server: { organizationId: { in: [...organizationIds] }, removedAt: null } },
    include: { server: { select: { organizationId: true } } },
  })
  return row === null ? undefined : { upstream: toUpstream(row), organizationId: row.server.organizationId }
}

/** Without an access check, for connections. */
export const findUpstreamOfAnybody = async (tx: Transaction, id: string): Promise<Upstream | undefined> => {
  const row = await tx.upstream.findFirst({ where: { id, server: { removedAt: null } } })
  return row === null ? undefined : toUpstream(row)
}

export const listUpstreams = async (tx: Transaction, serverId: string, page: IdPage): Promise<Upstream[]> =>
  (await tx.upstream.findMany(idPageQuery(page, { serverId }))).map(toUpstream)

/** Sorted by name. */
export const listAllUpstreams = async (tx: Transaction, serverId: string): Promise<Upstream[]> =>
  (await tx.upstream.findMany({ where: { serverId }, orderBy: { name: 'asc' } })).map(toUpstream)

const ANSWERED = { removedAt: null, presentation: { not: 'passthrough' } } as const
const PASSED_ON = { removedAt: null, presentation: 'passthrough' } as const

const listWhere = async (
  tx: Transaction,
  serverId: string,
  server: typeof ANSWERED | typeof PASSED_ON,
): Promise<Upstream[]> =>
  (await tx.upstream.findMany({ where: { serverId, server }, orderBy: { name: 'asc' } })).map(toUpstream)

/** Without an access check, for connections. Not of passthrough servers. */
export const listUpstreamsOfAnybody = (tx: Transaction, serverId: string): Promise<Upstream[]> =>
  listWhere(tx, serverId, ANSWERED)

/** Of passthrough servers only, without an access check. */
export const listUpstreamsPassedOnTo = (tx: Transaction, serverId: string): Promise<Upstream[]> =>
  listWhere(tx, serverId, PASSED_ON)

/** Enabled upstreams, except those of passthrough servers. `isReviewed`: whether their changes need approval. */
export const listEnabledUpstreams = async (
  tx: Transaction,
  serverIds: readonly string[],
): Promise<{ upstream: Upstream; isReviewed: boolean }[]> => {
  const rows = await tx.upstream.findMany({
    where: { serverId: { in: [...serverIds] }, isEnabled: true, server: ANSWERED },
    include: { server: { select: { reviewUpstreamChanges: true } } },
  })
  return rows.map(row => ({ upstream: toUpstream(row), isReviewed: row.server.reviewUpstreamChanges }))
}

/** Undefined if the server has no upstream. */
export const findPresentation = async (tx: Transaction, serverId: string): Promise<string | undefined> => {
  const row = await tx.upstream.findFirst({
    where: { serverId },
    select: { server: { select: { presentation: true } } },
  })
  return row?.server.presentation
}

/** Whether changes of its upstreams need approval; false for a server without upstreams. */
export const isServerReviewed = async (tx: Transaction, serverId: string): Promise<boolean> =>
  (await tx.upstream.count({ where: { serverId, server: { reviewUpstreamChanges: true } } })) > 0

/** Servers with an enabled upstream that connects at once. */
export const listEagerServerIds = async (tx: Transaction): Promise<string[]> => {
  const rows = await tx.upstream.findMany({ where: { isEnabled: true, server: ANSWERED } })
  return [...new Set(rows.map(toUpstream).flatMap(({ serverId, config }) => (config.isEager ? serverId : [])))]
}

export const countUpstreams = (tx: Transaction, serverId: string): Promise<number> =>
  tx.upstream.count({ where: { serverId } })

export type UpstreamContent = Pick<
  Upstream,
  'name' | 'description' | 'isEnabled' | 'config' | 'responseTokens' | 'toolAnswers'
>

const toData = ({ name, description, isEnabled, config, responseTokens, toolAnswers }: UpstreamContent) => ({
  name,
  description: description ?? null,
  isEnabled,
  transport: config.transport,
  config: toStored(config),
  responseTokens: { ...responseTokens },
  toolAnswers: toJson(toolAnswers),
})

export const createUpstream = async (tx: Transaction, serverId: string, content: UpstreamContent): Promise<Upstream> =>
  toUpstream(await tx.upstream.create({ data: { serverId, ...toData(content) } }))

export const updateUpstream = async (tx: Transaction, id: string, content: UpstreamContent): Promise<Upstream> =>
  toUpstream(await tx.upstream.update({ where: { id }, data: toData(content) }))

export const removeUpstream = async (tx: Transaction, id: string): Promise<void> => {
  await tx.upstream.deleteMany({ where: { id } })
}
