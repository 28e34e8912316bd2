import { isDeepStrictEqual } from 'node:util'
import { writeAudit } from '../identity/audit/audit.store.ts'
import type { AuditAction } from '../identity/audit/audit-entry.ts'
import type { Transaction } from '../lib/db/client.ts'
import type { Actor } from '../lib/kernel/actor.ts'
import type { JsonObject } from '../lib/kernel/json.ts'
import { removeHidden } from './catalogue/hidden-text.ts'
import type { Upstream, UpstreamConfig } from './upstream.ts'

/** The fields of a server that an audit entry needs. */
export type NamedServer = { id: string; name: string; organizationId: string }

const toOrigin = (url: string): string => URL.parse(url)?.origin ?? 'set by a global'

/** Describes the upstream without its arguments and paths, which may contain a secret. */
export const whereOf = (config: UpstreamConfig): JsonObject =>
  config.transport === 'stdio'
    ? { transport: config.transport, command: config.command }
    : { transport: config.transport, origin: toOrigin(config.url) }

/** Records what an actor did to an upstream. */
export const auditUpstream = (
  tx: Transaction,
  actor: Actor,
  server: NamedServer,
  action: AuditAction,
  { id, name }: Upstream,
  change: JsonObject = {},
): Promise<void> =>
  writeAudit(tx, {
    action,
    actor,
    organizationId: server.organizationId,
    target: { type: 'upstream', id, name },
    change: { server: { id: server.id, name: server.name }, ...change },
  })

/**
 * Limits the size of an audit entry, because an upstream may have thousands of tools and chooses their names itself.
 */
const MAX_LISTED_TOOLS = 100
const MAX_NAME_CHARS = 100

const toShownName = (name: string): string => removeHidden(name).slice(0, MAX_NAME_CHARS).toWellFormed()

/** Lists the first tools by the names the upstream gives them, without hidden characters. */
export const describeReviewed = (tools: readonly string[]): JsonObject => ({
  count: tools.length,
  tools: tools.slice(0, MAX_LISTED_TOOLS).map(toShownName),
})

/** Returns an upstream's editable fields under the names that the API uses. */
const facetsOf = ({
  name,
  description,
  isEnabled,
  config,
  responseTokens,
  toolAnswers,
}: Upstream): Readonly<Record<string, unknown>> => {
  const { isEager, ...rest } = config
  return { name, description, enabled: isEnabled, eager: isEager, responseTokens, toolAnswers, ...rest }
}

const changedFields = (before: Upstream, after: Upstream): string[] => {
  const [was, is] = [facetsOf(before), facetsOf(after)]
  const names = new Set([...Object.keys(was), ...Object.keys(is)])
  return [...names].filter(name => !isDeepStrictEqual(was[name], is[name])).sort()
}

/** Records which fields changed. Values are recorded only for the transport, command and origin. */
export const auditChangedUpstream = async (
  tx: Transaction,
  actor: Actor,
  server: NamedServer,
  { before, after }: { before: Upstream; after: Upstream },
): Promise<void> => {
  const fields = changedFields(before, after)
  if (fields.length === 0) return
  const [from, to] = [whereOf(before.config), whereOf(after.config)]
  const change = { fields, ...(isDeepStrictEqual(from, to) ? {} : { from, to }) }
  await auditUpstream(tx, actor, server, 'upstream.changed', after, change)
}
