import { isDeepStrictEqual } from 'node:util'
import { writeAudit } from '../identity/audit/audit.store.ts'
import type { AuditAction } from '../identity/audit/audit-entry.ts'
import type { Transaction } from '../lib/db/client.ts'
import type { Actor } from '../lib/kernel/actor.ts'
import type { JsonObject } from '../lib/kernel/json.ts'
import { toContextView } from './context-rules.ts'
import type { Server } from './server.ts'

/** The fields of a server that audit entries contain. */
type Named = Pick<Server, 'id' | 'name' | 'organizationId'>

const entryOf = (actor: Actor, { id, name, organizationId }: Named) => ({
  actor,
  organizationId,
  target: { type: 'server', id, name },
})

export const auditNewServer = (tx: Transaction, actor: Actor, server: Server): Promise<void> =>
  writeAudit(tx, {
    ...entryOf(actor, server),
    action: 'server.created',
    change: { access: server.access, allowedUsers: [...server.allowedUserIds] },
  })

export const auditRemovedServer = (tx: Transaction, actor: Actor, server: Named): Promise<void> =>
  writeAudit(tx, { ...entryOf(actor, server), action: 'server.removed' })

/** Compares sets of ids; neither contains duplicates. */
const isSameGroup = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every(id => b.includes(id))

type Access = Pick<Server, 'access' | 'allowedUserIds'>

/** Returns what changed about who may use a server, or undefined. */
export const accessChange = (before: Access, after: Access): JsonObject | undefined => {
  const change: JsonObject = {}
  if (before.access !== after.access) change.access = { from: before.access, to: after.access }
  if (!isSameGroup(before.allowedUserIds, after.allowedUserIds)) {
    change.allowedUsers = { from: [...before.allowedUserIds], to: [...after.allowedUserIds] }
  }
  return Object.keys(change).length === 0 ? undefined : change
}

export const auditChangedAccess = (tx: Transaction, actor: Actor, server: Server, change: JsonObject): Promise<void> =>
  writeAudit(tx, { ...entryOf(actor, server), action: 'server.access_changed', change })

/** Audits whether changes of upstreams are reviewed. */
export const auditChangedReview = (tx: Transaction, actor: Actor, before: Server, after: Server): Promise<void> =>
  writeAudit(tx, {
    ...entryOf(actor, after),
    action: 'server.review_changed',
    change: { reviewUpstreamChanges: { from: before.reviewUpstreamChanges, to: after.reviewUpstreamChanges } },
  })

/** Settings that decide what clients see, by their names in the API. */
const presentationOf = (server: Server): JsonObject => {
  const { pinnedTools, maxFlatTokens } = toContextView(server)
  return { presentation: server.presentation, pinnedTools, maxFlatTokens }
}

/** Settings that decide what is sent of results. */
const answersOf = (server: Server): JsonObject => {
  const { maxResponseTokens, cutNotice, compactTables } = toContextView(server)
  return { maxResponseTokens, cutNotice, compactTables }
}

/** Returns the fields that differ as `{from, to}`, or undefined. */
const differences = (before: JsonObject, after: JsonObject): JsonObject | undefined => {
  const changed = Object.entries(after).filter(([name, to]) => !isDeepStrictEqual(before[name], to))
  if (changed.length === 0) return undefined
  return Object.fromEntries(changed.map(([name, to]) => [name, { from: before[name] ?? null, to }]))
}

/** Writes one entry for changes in what clients see, and one for changes in what is sent of results. */
export const auditChangedContext = async (
  tx: Transaction,
  actor: Actor,
  before: Server,
  after: Server,
): Promise<void> => {
  const write = async (action: AuditAction, change: JsonObject | undefined): Promise<void> => {
    if (change !== undefined) await writeAudit(tx, { ...entryOf(actor, after), action, change })
  }
  await write('server.presentation_changed', differences(presentationOf(before), presentationOf(after)))
  await write('server.answers_changed', differences(answersOf(before), answersOf(after)))
}

/** Whether a global is a secret; undefined if it does not exist. */
type IsSecret = boolean | undefined

/** Audits the key of a global and whether it is a secret, never its value or length. */
export const auditGlobal = (
  tx: Transaction,
  actor: Actor,
  server: Server,
  { key, from, to }: { key: string; from: IsSecret; to: IsSecret },
): Promise<void> => {
  const kind = (to ?? from) ? 'secret' : 'global'
  const change: JsonObject = from === to ? { key } : { key, isSecret: { from: from ?? null, to: to ?? null } }
  return writeAudit(tx, {
    ...entryOf(actor, server),
    action: `${kind}.${to === undefined ? 'removed' : 'set'}`,
    change,
  })
}

/** Audits an accepted update of another organization's toolkit, with the names of the tools. */
export const auditUpdatedToolkit = (
  tx: Transaction,
  actor: Actor,
  server: Server,
  { id, title, ...tools }: { id: string; title: string; added: string[]; changed: string[]; removed: string[] },
): Promise<void> =>
  writeAudit(tx, {
    ...entryOf(actor, server),
    action: 'server.toolkit_updated',
    change: { toolkitId: id, toolkit: title, ...tools },
  })
