import { endSessions } from '../identity/access-ending.ts'
import { writeAudit } from '../identity/audit/audit.store.ts'
import type { AuditAction } from '../identity/audit/audit-entry.ts'
import type { Database, Transaction } from '../lib/db/client.ts'
import type { Announce, Changes } from '../lib/events/changes.ts'
import type { IdPage } from '../lib/http/id-paging.ts'
import { parseInput } from '../lib/http/validation.ts'
import type { Actor } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import type { JsonObject } from '../lib/kernel/json.ts'
import { orThrow } from '../lib/kernel/missing.ts'
import type { BlockedOrigin, Suspendable, Suspension } from './suspension.ts'
import { NewBlockedOrigin, NewSuspension } from './suspensions.schema.ts'
import * as store from './suspensions.store.ts'

export type SuspensionServiceParts = { db: Database; changes: Changes }

/** The operator, or undefined for the command line. */
type Operator = Actor | undefined

const ACTIONS = {
  user: { suspend: 'user.suspended', restore: 'user.restored' },
  organization: { suspend: 'organization.suspended', restore: 'organization.restored' },
  server: { suspend: 'server.suspended', restore: 'server.restored' },
} as const satisfies Record<Suspendable, Record<'suspend' | 'restore', AuditAction>>

const NAMES = { user: 'email address', organization: 'name', server: 'name' } as const satisfies Record<
  Suspendable,
  string
>
const ARTICLES = { user: 'a', organization: 'an', server: 'a' } as const satisfies Record<Suspendable, string>
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i
/** How many ids an error lists, of organizations or servers with the same name. */
const MAX_SAME_NAMES = 5

const wrongTarget = (message: string): AppError =>
  new AppError('invalid_request', `The target ${message}.`, { errors: [{ path: 'target', message }] })

const getTarget = async (tx: Transaction, kind: Suspendable, id: string): Promise<store.Target> =>
  orThrow(await store.findTarget(tx, kind, id), () => new AppError('not_found', `This ${kind} does not exist.`))

const announceChange = ({ kind, id }: store.Target, announce: Announce): void => {
  announce({ type: 'suspensions_changed' })
  if (kind === 'user') announce({ type: 'access_changed', userId: id })
}

const auditTarget = (
  tx: Transaction,
  actor: Operator,
  { kind, id, name, organizationId }: store.Target,
  action: AuditAction,
  change?: JsonObject,
): Promise<void> =>
  writeAudit(tx, {
    action,
    actor,
    organizationId: kind === 'organization' ? id : organizationId,
    target: { type: kind, id, name },
    change,
  })

const auditOrigin = (tx: Transaction, actor: Operator, action: AuditAction, { id, origin, reason }: BlockedOrigin) =>
  writeAudit(tx, { action, actor, target: { type: 'origin', id, name: origin }, change: { reason } })

/**
 * Suspends and restores on behalf of the operator. The caller has checked that the actor is one. Takes effect at once in
 * this process, and in others within 500 ms.
 */
export const createSuspensionService = ({ db, changes }: SuspensionServiceParts) => ({
  /** Finds a user, an organization or a server, and its suspension. Throws `not_found`. */
  getSuspendable: (kind: Suspendable, id: string): Promise<store.Target> => getTarget(db, kind, id),

  /**
   * Finds a user, an organization or a server by its id, a URL that contains the id, or its name (for a user, the email
   * address). Throws `invalid_request` for the field `target` unless there is exactly one.
   */
  findSuspendable: async (kind: Suspendable, text: string): Promise<store.Target> => {
    const given = text.trim()
    const id = UUID.exec(given)?.[0].toLowerCase()
    const identified = id === undefined ? undefined : await store.findTarget(db, kind, id)
    if (identified !== undefined && given.toLowerCase() === id) return identified
    // A name may contain the id of something else, so that the wrong one would be suspended.
    const named = await store.findIdsNamed(db, kind, given, MAX_SAME_NAMES)
    const ids = [...new Set([...named, ...(identified === undefined ? [] : [identified.id])])]
    const several =
      identified === undefined
        ? `is used by several ${kind}s`
        : `is the name of one ${kind} and contains the id of another`
    if (ids.length > 1) throw wrongTarget(`${several}: enter the id of one of them (${ids.join(', ')})`)
    const [only] = named
    const found = identified ?? (only === undefined ? undefined : await store.findTarget(db, kind, only))
    return orThrow(found, () => wrongTarget(`is not the id or ${NAMES[kind]} of ${ARTICLES[kind]} ${kind}`))
  },

  listSuspended: (kind: Suspendable, page: IdPage): Promise<Suspension[]> => store.listSuspended(db, kind, page),

  /**
   * Suspends a user, an organization or a server, or replaces the reason. Signs a user out. Throws `conflict` if
   * operators would suspend themselves.
   */
  suspend: (actor: Operator, kind: Suspendable, id: string, input: { reason: string }): Promise<Suspension> =>
    changes.commit(async (tx, announce) => {
      const { reason } = parseInput(NewSuspension, input)
      const target = await getTarget(tx, kind, id)
      if (target.id === actor?.userId) throw new AppError('conflict', 'You cannot suspend your own account.')
      await store.writeSuspension(tx, target, { reason, at: new Date(), byId: actor?.userId })
      const ended = kind === 'user' ? await endSessions(tx, id) : {}
      await auditTarget(tx, actor, target, ACTIONS[kind].suspend, { reason, ...ended })
      announceChange(target, announce)
      const { suspension } = await getTarget(tx, kind, id)
      return orThrow(suspension, () => new AppError('conflict', `This ${kind} has been restored in the meantime.`))
    }),

  /** Ends a suspension. Throws `not_found` if there is none. */
  restore: (actor: Operator, kind: Suspendable, id: string): Promise<void> =>
    changes.commit(async (tx, announce) => {
      const target = await getTarget(tx, kind, id)
      if (target.suspension === undefined) throw new AppError('not_found', `This ${kind} is not suspended.`)
      await store.writeSuspension(tx, target, undefined)
      await auditTarget(tx, actor, target, ACTIONS[kind].restore)
      announceChange(target, announce)
    }),

  listBlockedOrigins: (page: IdPage): Promise<BlockedOrigin[]> => store.listBlockedOrigins(db, page),

  /** Refuses all requests of tools and attached MCP servers to an origin, or replaces the reason. */
  blockOrigin: (actor: Operator, input: { origin: string; reason: string }): Promise<BlockedOrigin> =>
    changes.commit(async (tx, announce) => {
      const { origin, reason } = parseInput(NewBlockedOrigin, input)
      const blocked = await store.putBlockedOrigin(tx, { origin, reason, createdById: actor?.userId })
      await auditOrigin(tx, actor, 'origin.blocked', blocked)
      announce({ type: 'suspensions_changed' })
      return blocked
    }),

  getBlockedOrigin: async (id: string): Promise<BlockedOrigin> =>
    orThrow(await store.findBlockedOrigin(db, id), () => new AppError('not_found', 'This origin is not blocked.')),

  unblockOrigin: (actor: Operator, id: string): Promise<void> =>
    changes.commit(async (tx, announce) => {
      const blocked = await store.findBlockedOrigin(tx, id)
      if (blocked === undefined) throw new AppError('not_found', 'This origin is not blocked.')
      await store.removeBlockedOrigin(tx, id)
      await auditOrigin(tx, actor, 'origin.unblocked', blocked)
      announce({ type: 'suspensions_changed' })
    }),
})

export type SuspensionService = ReturnType<typeof createSuspensionService>
