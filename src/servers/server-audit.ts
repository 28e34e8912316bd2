import { writeAudit } from '../identity/audit/audit.store.ts'
import { type AuditAction, differences } from '../identity/audit/audit-entry.ts'
import type { Transaction } from '../lib/db/client.ts'
import type { Actor } from '../lib/kernel/actor.ts'
import type { JsonObject } from '../lib/kernel/json.ts'
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

/** The settings that have an entry of their own, by their names in the API. */
const SETTINGS: readonly [AuditAction, (server: Server) => JsonObject][] = [
  [
    'server.presentation_changed',
    ({ presentation, pinnedTools, maxFlatTokens }) => ({ presentation, pinnedTools: [...pinnedTools], maxFlatTokens }),
  ],
  [
    'server.answers_changed',
    ({ maxResponseTokens, cutNotice, compactTables }) => ({
      maxResponseTokens,
      cutNotice: cutNotice ?? null,
      compactTables,
    }),
  ],
  ['server.review_changed', ({ reviewUpstreamChanges }) => ({ reviewUpstreamChanges })],
]

/** Records changed settings in the audit log, except who may use the server. */
export const auditChangedSettings = async (
  tx: Transaction,
  actor: Actor,
  before: Server,
  after: Server,
): Promise<void> => {
  for (const [action, settingsOf] of SETTINGS) {
    const change = differences(settingsOf(before), settingsOf(after))
    if (change !== undefined) await writeAudit(tx, { ...entryOf(actor, after), action, change })
  }
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
