import { countExecutions } from '../history/executions.store.ts'
import type { Database, Transaction } from '../lib/db/client.ts'
import type { Announce, Changes } from '../lib/events/changes.ts'
import type { IdPage } from '../lib/http/id-paging.ts'
import { type Actor, assertMay, may, organizationForNew, organizationIdsOf } from '../lib/kernel/actor.ts'
import { assertUnchangedSince, type Unchanged } from '../lib/kernel/conflicts.ts'
import { AppError } from '../lib/kernel/errors.ts'
import { orThrow } from '../lib/kernel/missing.ts'
import type { Permission } from '../lib/kernel/roles.ts'
import { assertNotSuspended } from '../lib/kernel/suspensions.ts'
import { approveCurrentTools } from '../upstreams/review/upstream-reviews.ts'
import { isAllowed, policyOf } from './access/access.ts'
import { endTierNotice, removeAnswered } from './access/access-requests.store.ts'
import { openTo } from './access/open-to.store.ts'
import { findPeople, type Person } from './access/people.store.ts'
import type { ClosedServer, Server } from './server.ts'
import { accessChange, auditChangedSettings, auditServer } from './server-audit.ts'
import { MAX_ALLOWED_USERS, type ServerChanges, type ServerInput } from './servers.schema.ts'
import * as store from './servers.store.ts'
import { assertCanPassThrough, assertMaskable } from './settings/passthrough-rules.ts'
import type { ServerRemoval } from './settings/server-removal.ts'

export type ServerServiceParts = { db: Database; changes: Changes }

const serverNotFound = () => new AppError('not_found', 'Server not found.')
export const serverClosed = () =>
  new AppError('forbidden', 'This server is private. Its owner can allow you: ask for access on its page.')

const getOfOrganization = async (tx: Transaction, actor: Actor, id: string): Promise<Server> =>
  orThrow(await store.findServer(tx, id, organizationIdsOf(actor)), serverNotFound)

/**
 * Returns the server if the actor has this permission. Throws `not_found` if it belongs to another organization, and
 * `forbidden` if it is private and does not allow the actor, or would be changed while it is suspended.
 */
export const getServerFor = async (
  tx: Transaction,
  actor: Actor,
  id: string,
  permission: Permission,
): Promise<Server> => {
  const server = await getOfOrganization(tx, actor, id)
  if (!isAllowed(policyOf(server), actor)) throw serverClosed()
  assertMay(actor, server.organizationId, permission)
  if (permission !== 'read') assertNotSuspended('server', actor.suspensions?.ofServer(id))
  return server
}

const asSeenBy =
  (actor: Actor) =>
  (server: Server): Server | ClosedServer => {
    if (isAllowed(policyOf(server), actor)) return server
    const { id, organizationId, ownerId, name } = server
    return { id, organizationId, ownerId, name, access: 'private', isClosed: true }
  }

/** Returns what the actor may see of a server. Throws `not_found` if it belongs to another organization. */
export const seeServer = async (tx: Transaction, actor: Actor, id: string): Promise<Server | ClosedServer> =>
  asSeenBy(actor)(await getOfOrganization(tx, actor, id))

type Owned = Pick<Server, 'ownerId' | 'organizationId'>

const isOwnOrManaged = (actor: Actor, { ownerId, organizationId }: Owned): boolean =>
  ownerId === actor.userId || may(actor, organizationId, 'manage')

/** Throws unless the actor owns the server or manages its organization. Changes of access and removals need this. */
export const assertOwnOrManaged = (actor: Actor, { ownerId, organizationId }: Owned): void => {
  if (ownerId !== actor.userId) assertMay(actor, organizationId, 'manage')
}

/** Returns whether the actor may delete the server. */
export const mayRemoveServer = (actor: Actor, server: Owned): boolean =>
  may(actor, server.organizationId, 'build') && isOwnOrManaged(actor, server)

const describeAddress = (addressMatch: store.AddressMatch): string =>
  addressMatch === 'anybody' ? 'email address' : 'confirmed email address'

const toUserIds = async (
  tx: Transaction,
  names: readonly string[],
  addressMatch: store.AddressMatch,
): Promise<string[]> => {
  const ids = await store.findUserIds(tx, names, addressMatch)
  const message = `does not match the id or ${describeAddress(addressMatch)} of a user`
  const errors = ids.flatMap((id, index) => (id === undefined ? [{ path: `allowedUsers[${index}]`, message }] : []))
  if (errors.length > 0) throw new AppError('invalid_request', 'Some allowed users do not exist.', { errors })
  return [...new Set(ids.flatMap(id => id ?? []))]
}

const wrongAddress = (message: string): AppError =>
  new AppError('invalid_request', 'This user cannot be added.', { errors: [{ path: 'email', message }] })

/** Changes the allowed users in the caller's transaction. The caller checks permissions. */
export const changeAllowed = async (
  tx: Transaction,
  announce: Announce,
  actor: Actor,
  server: Server,
  allowedUserIds: readonly string[],
): Promise<void> => {
  if (allowedUserIds.length > MAX_ALLOWED_USERS) {
    throw new AppError('limit_exceeded', `A server can have at most ${MAX_ALLOWED_USERS} allowed users.`)
  }
  const updated = await store.updateServer(tx, server, { allowedUserIds })
  await removeAnswered(tx, updated)
  const change = accessChange(server, updated)
  if (change !== undefined) await auditServer(tx, actor, 'server.access_changed', updated, change)
  announce({ type: 'server_changed', serverId: server.id })
}

/** Creates a server within the caller's transaction. The caller checks permissions and announces the change. */
export const addServer = async (
  tx: Transaction,
  actor: Actor,
  fields: Omit<store.NewServer, 'ownerId'>,
): Promise<Server> => {
  const server = await store.createServer(tx, { ...fields, ownerId: actor.userId })
  const { access, allowAnyOrigin } = server
  const change = { access, allowedUsers: [...server.allowedUserIds], allowAnyOrigin }
  await auditServer(tx, actor, 'server.created', server, change)
  return server
}

export const createServerService = ({
  db,
  changes,
  removal,
  canConfirmAddresses,
}: ServerServiceParts & { removal: ServerRemoval; canConfirmAddresses: boolean }) => {
  /**
   * Requires a confirmed email address if addresses can be confirmed. Otherwise, someone else could sign up with the
   * address of a user who is about to be allowed.
   */
  const addressMatchFor = (organizationId: string): store.AddressMatch =>
    canConfirmAddresses ? { confirmedOrMembersOf: organizationId } : 'anybody'

  return {
    createServer: (actor: Actor, input: ServerInput): Promise<Server> => {
      const { allowedUsers = [], organizationId: named, id, ...rest } = input
      const { presentation = 'flat', masking = [] } = rest
      assertMaskable({ presentation, masking }, 'masking')
      const organizationId = organizationForNew(actor, named)
      return changes.commit(async (tx, announce) => {
        const allowedUserIds = await toUserIds(tx, allowedUsers, addressMatchFor(organizationId))
        const server = await addServer(tx, actor, { ...rest, id, organizationId, allowedUserIds })
        announce({ type: 'server_changed', serverId: server.id })
        return server
      })
    },

    getServer: (actor: Actor, id: string): Promise<Server> => getServerFor(db, actor, id, 'read'),

    /** Returns what the actor may see of the server. */
    seeServer: (actor: Actor, id: string): Promise<Server | ClosedServer> => seeServer(db, actor, id),

    /** Lists the servers that the actor may use in their organizations. */
    listServers: (actor: Actor, page: IdPage): Promise<Server[]> => store.listServers(db, openTo(actor), page),

    /** Lists all servers of the actor's organizations, with what the actor may see of each. */
    listSeenServers: async (actor: Actor, page: IdPage): Promise<(Server | ClosedServer)[]> => {
      const ofOrganizations = { organizationId: { in: organizationIdsOf(actor) } }
      return (await store.listServers(db, ofOrganizations, page)).map(asSeenBy(actor))
    },

    /**
     * Changes a server. Only the server's owner and managers of its organization can change who may use it, and whether
     * any website may call it, which ends when the server is no longer public. If one of them sets the tier, even to the
     * same one, the owner is no longer asked about it. Throws `conflict` with the path `version` if the server has
     * changed since `ifUnchangedSince`.
     */
    updateServer: (actor: Actor, id: string, input: ServerChanges, unchanged: Unchanged = {}): Promise<Server> =>
      changes.commit(async (tx, announce) => {
        const server = await getServerFor(tx, actor, id, 'build')
        assertUnchangedSince('the server', server.updatedAt, unchanged)
        const { allowedUsers, ...rest } = input
        const addressMatch = addressMatchFor(server.organizationId)
        const allowedUserIds = allowedUsers === undefined ? undefined : await toUserIds(tx, allowedUsers, addressMatch)
        const wanted = { access: rest.access ?? server.access, allowedUserIds: allowedUserIds ?? server.allowedUserIds }
        const change = accessChange(server, wanted)
        const leavesPublic = server.access === 'public' && wanted.access !== 'public'
        const allowAnyOrigin = leavesPublic ? false : (rest.allowAnyOrigin ?? server.allowAnyOrigin)
        const changesOrigins = allowAnyOrigin !== server.allowAnyOrigin
        if (change !== undefined || changesOrigins) assertOwnOrManaged(actor, server)
        const passesOn = rest.presentation === 'passthrough' && server.presentation !== 'passthrough'
        if (passesOn) await assertCanPassThrough(tx, id)
        const { presentation = server.presentation, masking = server.masking } = rest
        assertMaskable({ presentation, masking }, rest.masking === undefined ? 'presentation' : 'masking')
        const updated = await store.updateServer(tx, server, { ...rest, allowAnyOrigin, allowedUserIds })
        await removeAnswered(tx, updated)
        if (rest.access !== undefined && isOwnOrManaged(actor, server)) await endTierNotice(tx, id)
        if (change !== undefined) await auditServer(tx, actor, 'server.access_changed', updated, change)
        await auditChangedSettings(tx, actor, server, updated)
        if (updated.reviewUpstreamChanges && !server.reviewUpstreamChanges) await approveCurrentTools(tx, id)
        announce({ type: 'server_changed', serverId: id })
        return updated
      }),

    /** Lists the users allowed on a private server, sorted by email address. Requires permission to build. */
    listAllowedUsers: async (actor: Actor, id: string): Promise<Person[]> => {
      const server = await getServerFor(db, actor, id, 'build')
      return findPeople(db, server, server.allowedUserIds)
    },

    /** Allows one more user. Only for the owner and for managers of the organization. */
    allowUser: (actor: Actor, id: string, email: string): Promise<void> =>
      changes.commit(async (tx, announce) => {
        const server = await getServerFor(tx, actor, id, 'build')
        assertOwnOrManaged(actor, server)
        const addressMatch = addressMatchFor(server.organizationId)
        const [userId] = await store.findUserIds(tx, [email], addressMatch)
        if (userId === undefined) throw wrongAddress(`does not match the ${describeAddress(addressMatch)} of a user`)
        if (userId === server.ownerId) throw wrongAddress('belongs to the owner, who can already use the server')
        if (server.allowedUserIds.includes(userId)) throw wrongAddress('is already on the list')
        await changeAllowed(tx, announce, actor, server, [...server.allowedUserIds, userId])
      }),

    /** Removes a user from the allowed users. Does nothing if the user is not among them. */
    disallowUser: (actor: Actor, id: string, userId: string): Promise<void> =>
      changes.commit(async (tx, announce) => {
        const server = await getServerFor(tx, actor, id, 'build')
        assertOwnOrManaged(actor, server)
        const left = server.allowedUserIds.filter(allowed => allowed !== userId)
        if (left.length < server.allowedUserIds.length) await changeAllowed(tx, announce, actor, server, left)
      }),

    /** Counts a server's recorded calls up to a maximum, before it is deleted. Requires permission to delete it. */
    countCalls: async (actor: Actor, id: string, atMost: number): Promise<number> => {
      assertOwnOrManaged(actor, await getServerFor(db, actor, id, 'build'))
      return countExecutions(db, id, atMost)
    },

    /**
     * Deletes a server. Only for its owner and for managers of the organization. Calls and streams end before the
     * history is deleted.
     */
    removeServer: async (actor: Actor, id: string): Promise<void> => {
      await changes.commit(async (tx, announce) => {
        const server = await getServerFor(tx, actor, id, 'build')
        assertOwnOrManaged(actor, server)
        await store.markAsRemoved(tx, id)
        await auditServer(tx, actor, 'server.removed', server)
        announce({ type: 'server_removed', serverId: id })
      })
      await removal.finish(id)
    },

    /** Finds a server in any organization. Discovery shows only what the server's tier makes public. */
    findServerOfAnybody: (id: string): Promise<Server | undefined> => store.findServerOfAnybody(db, id),

    /** Lists the servers that a caller may use, for discovery. */
    listUsableServers: (caller: store.DiscoveryCaller, limit: number): Promise<Server[]> =>
      store.listUsableServers(db, caller, limit),

    /** Lists public servers, for discovery without a token: all, or only those that any website may call. */
    listPublicServers: (isForAnyOrigin: boolean, limit: number): Promise<Server[]> =>
      store.listPublicServers(db, isForAnyOrigin, limit),
  }
}

export type ServerService = ReturnType<typeof createServerService>
