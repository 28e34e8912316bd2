import { countExecutions } from '../history/executions.store.ts'
import type { Database, Transaction } from '../lib/db/client.ts'
import type { Announce, Changes } from '../lib/events/changes.ts'
import type { IdPage } from '../lib/http/id-paging.ts'
import { type Actor, assertMay, organizationForNew, organizationIdsOf } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import type { Permission } from '../lib/kernel/roles.ts'
import { approveWhatIsKept } from '../upstreams/review/upstream-reviews.ts'
import { findPeople, type Person } from './access/people.store.ts'
import type { ContextWish } from './context-rules.ts'
import type { AccessTier, Presentation, Server } from './server.ts'
import {
  accessChange,
  auditChangedAccess,
  auditChangedContext,
  auditChangedReview,
  auditNewServer,
  auditRemovedServer,
} from './server-audit.ts'
import { MAX_ALLOWED_USERS } from './servers.schema.ts'
import * as store from './servers.store.ts'
import { assertCanPassThrough } from './settings/passthrough-rules.ts'
import type { ServerRemoval } from './settings/server-removal.ts'

export type ServerServiceParts = { db: Database; changes: Changes }

const noServer = () => new AppError('not_found', 'There is no such server.')

/** The server, where the actor may do that with it; `not_found` where it is another organization's. */
export const getServerFor = async (
  tx: Transaction,
  actor: Actor,
  id: string,
  permission: Permission,
): Promise<Server> => {
  const server = await store.findServer(tx, id, organizationIdsOf(actor))
  if (server === undefined) throw noServer()
  assertMay(actor, server.organizationId, permission)
  return server
}

/** Who may use a server, and when it goes, is for its owner to say, and for those who manage the organization. */
export const assertOwnOrManaged = (actor: Actor, { ownerId, organizationId }: Server): void => {
  if (ownerId !== actor.userId) assertMay(actor, organizationId, 'manage')
}

/** What such a user is found by. */
const addressOf = (addressees: store.Addressees): string =>
  addressees === 'anybody' ? 'e-mail address' : 'confirmed e-mail address'

const toUserIds = async (
  tx: Transaction,
  names: readonly string[],
  addressees: store.Addressees,
): Promise<string[]> => {
  const ids = await store.findUserIds(tx, names, addressees)
  const message = `is the id or ${addressOf(addressees)} of no user`
  const errors = ids.flatMap((id, index) => (id === undefined ? [{ path: `allowedUsers[${index}]`, message }] : []))
  if (errors.length > 0) throw new AppError('invalid_request', 'Not all allowed users are known.', { errors })
  return [...new Set(ids.flatMap(id => id ?? []))]
}

export type ServerInput = ContextWish & {
  /** A UUID; left out, it is a new one. */
  id?: string | undefined
  name: string
  description?: string | undefined
  access: AccessTier
  presentation: Presentation
  reviewUpstreamChanges?: boolean | undefined
  allowedUsers: readonly string[]
  organizationId?: string | undefined
}

export type ServerChanges = ContextWish & {
  name?: string | undefined
  description?: string | null | undefined
  access?: AccessTier | undefined
  presentation?: Presentation | undefined
  reviewUpstreamChanges?: boolean | undefined
  allowedUsers?: readonly string[] | undefined
}

const wrongAddress = (message: string): AppError =>
  new AppError('invalid_request', 'This user cannot be let in.', { errors: [{ path: 'email', message }] })

/** Adds or takes away those who differ, each by itself: another change at the same time is not undone. */
const changeAllowed = async (
  tx: Transaction,
  announce: Announce,
  actor: Actor,
  server: Server,
  allowedUserIds: readonly string[],
): Promise<void> => {
  const updated = await store.updateAllowedUsers(tx, server, allowedUserIds)
  const change = accessChange(server, updated)
  if (change !== undefined) await auditChangedAccess(tx, actor, updated, change)
  announce({ type: 'server_changed', serverId: server.id })
}

type Unchanged = { ifUnchangedSince?: Date | undefined }

const assertUnchangedSince = ({ updatedAt }: Server, since: Date | undefined): void => {
  if (since === undefined || updatedAt.getTime() === since.getTime()) return
  throw new AppError('conflict', 'Somebody else has changed the server since you opened this page.', {
    errors: [{ path: 'version', message: 'is not the one that is saved now' }],
  })
}

export type ServerServiceOptions = ServerServiceParts & {
  removal: ServerRemoval
  /** Whether users can show by a letter that an e-mail address is theirs. */
  canConfirmAddresses: boolean
}

export const createServerService = ({ db, changes, removal, canConfirmAddresses }: ServerServiceOptions) => {
  /** Anybody can sign up with the address of somebody who is to be let in, before they do. */
  const addresseesFor = (organizationId: string): store.Addressees =>
    canConfirmAddresses ? { confirmedOrMembersOf: organizationId } : 'anybody'

  return {
    createServer: (actor: Actor, input: ServerInput): Promise<Server> => {
      const { allowedUsers, organizationId: named, ...rest } = input
      const organizationId = organizationForNew(actor, named)
      return changes.commit(async (tx, announce) => {
        const allowedUserIds = await toUserIds(tx, allowedUsers, addresseesFor(organizationId))
        const server = await store.createServer(tx, {
          ...rest,
          description: rest.description,
          reviewUpstreamChanges: rest.reviewUpstreamChanges ?? false,
          organizationId,
          ownerId: actor.userId,
          allowedUserIds,
        })
        await auditNewServer(tx, actor, server)
        announce({ type: 'server_changed', serverId: server.id })
        return server
      })
    },

    getServer: (actor: Actor, id: string): Promise<Server> => getServerFor(db, actor, id, 'read'),

    listServers: (actor: Actor, page: IdPage): Promise<Server[]> =>
      store.listServers(db, organizationIdsOf(actor), page),

    /**
     * Access and allowed users of somebody else's server: only for those who manage the organization. Throws `conflict`
     * with the path `version` where it is not any more as it was at `ifUnchangedSince`.
     */
    updateServer: (
      actor: Actor,
      id: string,
      input: ServerChanges,
      { ifUnchangedSince }: Unchanged = {},
    ): Promise<Server> =>
      changes.commit(async (tx, announce) => {
        const server = await getServerFor(tx, actor, id, 'build')
        assertUnchangedSince(server, ifUnchangedSince)
        const { allowedUsers, ...rest } = input
        const addressees = addresseesFor(server.organizationId)
        const allowedUserIds = allowedUsers === undefined ? undefined : await toUserIds(tx, allowedUsers, addressees)
        const wanted = { access: rest.access ?? server.access, allowedUserIds: allowedUserIds ?? server.allowedUserIds }
        const change = accessChange(server, wanted)
        if (change !== undefined) assertOwnOrManaged(actor, server)
        const passesOn = rest.presentation === 'passthrough' && server.presentation !== 'passthrough'
        if (passesOn) await assertCanPassThrough(tx, id)
        const updated = await store.updateServer(tx, id, { ...rest, allowedUserIds })
        if (change !== undefined) await auditChangedAccess(tx, actor, updated, change)
        await auditChangedContext(tx, actor, server, updated)
        if (updated.reviewUpstreamChanges !== server.reviewUpstreamChanges) {
          await auditChangedReview(tx, actor, server, updated)
          if (updated.reviewUpstreamChanges) await approveWhatIsKept(tx, id)
        }
        announce({ type: 'server_changed', serverId: id })
        return updated
      }),

    /** Whom the owner of a private server lets in, in the order of their addresses; for those who may build. */
    listAllowedUsers: async (actor: Actor, id: string): Promise<Person[]> => {
      const server = await getServerFor(db, actor, id, 'build')
      return findPeople(db, server, server.allowedUserIds)
    },

    /** Lets one more user in. For the owner, and those who manage the organization. */
    allowUser: (actor: Actor, id: string, email: string): Promise<void> =>
      changes.commit(async (tx, announce) => {
        const server = await getServerFor(tx, actor, id, 'build')
        assertOwnOrManaged(actor, server)
        const addressees = addresseesFor(server.organizationId)
        const [userId] = await store.findUserIds(tx, [email], addressees)
        if (userId === undefined) throw wrongAddress(`is the ${addressOf(addressees)} of no user here`)
        if (userId === server.ownerId) throw wrongAddress('is the owner’s, who may use the server anyway')
        if (server.allowedUserIds.includes(userId)) throw wrongAddress('is on the list already')
        if (server.allowedUserIds.length >= MAX_ALLOWED_USERS) {
          throw new AppError('limit_exceeded', `A server lets in at most ${MAX_ALLOWED_USERS} users by name.`)
        }
        await changeAllowed(tx, announce, actor, server, [...server.allowedUserIds, userId])
      }),

    /** Nothing happens where the user is not let in by name. */
    disallowUser: (actor: Actor, id: string, userId: string): Promise<void> =>
      changes.commit(async (tx, announce) => {
        const server = await getServerFor(tx, actor, id, 'build')
        assertOwnOrManaged(actor, server)
        const left = server.allowedUserIds.filter(allowed => allowed !== userId)
        if (left.length < server.allowedUserIds.length) await changeAllowed(tx, announce, actor, server, left)
      }),

    /** What is counted of a server's calls, before it is removed for good; at most so many. For who may remove it. */
    countCalls: async (actor: Actor, id: string, atMost: number): Promise<number> => {
      assertOwnOrManaged(actor, await getServerFor(db, actor, id, 'build'))
      return countExecutions(db, id, atMost)
    },

    /** Somebody else's: only for those who manage the organization. Its calls and streams end before its history goes. */
    removeServer: async (actor: Actor, id: string): Promise<void> => {
      await changes.commit(async (tx, announce) => {
        const server = await getServerFor(tx, actor, id, 'build')
        assertOwnOrManaged(actor, server)
        await store.markAsRemoved(tx, id)
        await auditRemovedServer(tx, actor, server)
        announce({ type: 'server_removed', serverId: id })
      })
      await removal.finish(id)
    },

    /** Whoever's it is: for discovery, which tells of it what its tier lets anybody know. */
    findServerOfAnybody: (id: string): Promise<Server | undefined> => store.findServerOfAnybody(db, id),

    /** Servers a caller may use, without any when nobody calls; for discovery. */
    listUsableServers: (caller: store.DiscoveryCaller | undefined, limit: number): Promise<Server[]> =>
      store.listUsableServers(db, caller, limit),
  }
}

export type ServerService = ReturnType<typeof createServerService>
