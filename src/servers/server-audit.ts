import { writeAudit } from '../identity/audit/audit.store.ts'
import { type AuditAction, type AuditActor, differences } from '../identity/audit/audit-entry.ts'
import type { Transaction } from '../lib/db/client.ts'
import type { Actor } from '../lib/kernel/actor.ts'
import type { JsonObject } from '../lib/kernel/json.ts'
import type { Server } from './server.ts'

/** The server's fields that audit entries contain. */
type Named = Pick<Server, 'id' | 'name' | 'organizationId'>

export const auditServer = (
  tx: Transaction,
  actor: AuditActor | undefined,
  action: AuditAction,
  { id, name, organizationId }: Named,
  change?: JsonObject,
): Promise<void> => writeAudit(tx, { action, actor, organizationId, target: { type: 'server', id, name }, change })

/** Returns whether two lists contain the same IDs, in any order. Neither list may contain duplicates. */
const isSameGroup = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every(id => b.includes(id))

type Access = Pick<Server, 'access' | 'allowedUserIds'>

/** Returns how access to a server changed, or undefined if it did not change. */
export const accessChange = (before: Access, after: Access): JsonObject | undefined => {
  const change: JsonObject = {}
  if (before.access !== after.access) change.access = { from: before.access, to: after.access }
  if (!isSameGroup(before.allowedUserIds, after.allowedUserIds)) {
    change.allowedUsers = { from: [...before.allowedUserIds], to: [...after.allowedUserIds] }
  }
  return Object.keys(change).length === 0 ? undefined : change
}

/** Settings that have their own audit entries, with the names they have in the API. */
const SETTINGS: readonly [AuditAction, (server: Server) => JsonObject][] = [
  [
    'server.presentation_changed',
    ({ presentation, pinnedTools, maxFlatTokens }) => ({ presentation, pinnedTools: [...pinnedTools], maxFlatTokens }),
  ],
  [
    'server.answers_changed',
    ({ maxResponseTokens, cutNotice, cutResultTools, compactTables }) => ({
      maxResponseTokens,
      cutNotice: cutNotice ?? null,
      cutResultTools,
      compactTables,
    }),
  ],
  ['server.masking_changed', ({ masking }) => ({ masking: masking.map(rule => ({ ...rule })) })],
  ['server.bodies_changed', ({ storesBodies }) => ({ storesBodies })],
  ['server.origins_changed', ({ allowAnyOrigin }) => ({ allowAnyOrigin })],
  ['server.review_changed', ({ reviewUpstreamChanges }) => ({ reviewUpstreamChanges })],
]

/** Records changed settings in the audit log, except for changes to access. */
export const auditChangedSettings = async (
  tx: Transaction,
  actor: Actor,
  before: Server,
  after: Server,
): Promise<void> => {
  for (const [action, settingsOf] of SETTINGS) {
    const change = differences(settingsOf(before), settingsOf(after))
    if (change !== undefined) await auditServer(tx, actor, action, after, change)
  }
}

/** Whether a global is a secret. Undefined if the global does not exist. */
type IsSecret = boolean | undefined

/** Records a global's key and whether it is a secret in the audit log, but never its value or length. */
export const auditGlobal = (
  tx: Transaction,
  actor: Actor,
  server: Server,
  { key, from, to }: { key: string; from: IsSecret; to: IsSecret },
): Promise<void> => {
  const kind = (to ?? from) ? 'secret' : 'global'
  const change: JsonObject = from === to ? { key } : { key, isSecret: { from: from ?? null, to: to ?? null } }
  return auditServer(tx, actor, `${kind}.${to === undefined ? 'removed' : 'set'}`, server, change)
}

type Origins = readonly string[] | undefined

/** Records where a secret may be sent. */
export const auditOrigins = async (
  tx: Transaction,
  actor: Actor,
  server: Server,
  { key, from, to }: { key: string; from: Origins; to: Origins },
): Promise<void> => {
  const origins = differences({ origins: from ? [...from] : null }, { origins: to ? [...to] : null })
  if (origins !== undefined) await auditServer(tx, actor, 'secret.origins_changed', server, { key, ...origins })
}
