import type { Database, Transaction } from '../../lib/db/client.ts'
import type { Announce, Changes } from '../../lib/events/changes.ts'
import type { IdPage } from '../../lib/http/id-paging.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { ResolvedConfig, Upstream } from '../upstream.ts'
import { isPerCaller } from '../upstream.ts'
import { auditAccount, type NamedServer } from '../upstream-audit.ts'
import { findUpstreamOfAnybody } from '../upstreams.store.ts'
import { type AccountMark, accountSealContext, EVERYBODY, type Holder } from './account.ts'
import * as store from './accounts.store.ts'
import { beginConnecting, type ConnectTarget, finishConnecting } from './connecting.ts'
import { makeState, type Returned } from './journeys.ts'
import { CALLBACK_PATH } from './patchbay-client.ts'
import type { UpstreamOAuth } from './upstream-oauth.ts'

export type UpstreamAccountsParts = {
  db: Database
  changes: Changes
  sealing: Sealing
  oauth: UpstreamOAuth
  /** Its configuration as it is at this moment; throws what keeps it from being one. */
  resolve: (upstreamId: string) => Promise<ResolvedConfig>
  /** The server, where the actor may build in it; throws else. */
  getServerToBuild: (tx: Transaction, actor: Actor, serverId: string) => Promise<NamedServer>
  /** The server, where the actor may call it; undefined else. */
  findServerToCall: (tx: Transaction, actor: Actor, serverId: string) => Promise<NamedServer | undefined>
  /** After an account was connected: what the upstream offers may be asked for now. Never rejects. */
  onConnected: (upstream: Upstream) => Promise<void>
}

/** An upstream that somebody may connect an account at: their own, or as a builder the one that all share. */
export type Connectable = { upstream: Upstream; server: NamedServer; holder: Holder; account: AccountMark | undefined }

const noUpstream = (): AppError => new AppError('not_found', 'There is no such upstream.')
const noAccount = (): AppError => new AppError('not_found', 'There is no such account.')
const needsNone = (): AppError =>
  new AppError('conflict', 'This upstream asks for no account: its settings say that it is reached without OAuth.')
const hasMoved = (): AppError =>
  new AppError('conflict', 'The upstream has another address than when you began. Begin anew.')
const isAnothers = (): AppError =>
  new AppError('conflict', 'Whose account the upstream is reached by was changed since you began. Begin anew.')

const targetOf = ({ transport, auth, ...config }: ResolvedConfig): ConnectTarget => {
  if (transport === 'stdio' || !('url' in config) || auth.type === 'none') throw needsNone()
  return { url: config.url, headers: config.headers, scopes: auth.scopes }
}

/** Accounts at upstreams: connected and taken back, by builders for all callers, or by each caller for their own calls. */
export const createUpstreamAccounts = ({
  db,
  changes,
  sealing,
  oauth,
  resolve,
  getServerToBuild,
  findServerToCall,
  onConnected,
}: UpstreamAccountsParts) => {
  const { fetch, clients, now, baseUrl, revocations } = oauth
  const redirectUri = `${baseUrl}${CALLBACK_PATH}`

  /** The same 404 for what is foreign and what is absent. */
  const getConnectable = async (tx: Transaction, actor: Actor, upstreamId: string): Promise<Connectable> => {
    const upstream = await findUpstreamOfAnybody(tx, upstreamId)
    if (upstream === undefined || upstream.config.auth.type === 'none') throw noUpstream()
    const isOwn = isPerCaller(upstream.config)
    const server = isOwn
      ? await findServerToCall(tx, actor, upstream.serverId)
      : await getServerToBuild(tx, actor, upstream.serverId).catch(hideForeign)
    if (server === undefined) throw noUpstream()
    const holder = isOwn ? actor.userId : EVERYBODY
    return { upstream, server, holder, account: await store.findAccount(tx, upstreamId, holder) }
  }
  const hideForeign = (error: unknown): never => {
    throw error instanceof AppError && error.code === 'not_found' ? noUpstream() : error
  }

  const announceChange = (announce: Announce, { upstream, holder }: Connectable): void => {
    announce({ type: 'upstream_changed', upstreamId: upstream.id, serverId: upstream.serverId })
    // Connections of theirs go by the account as it was.
    if (holder !== EVERYBODY) announce({ type: 'access_changed', userId: holder })
  }

  const remove = async (actor: Actor, upstreamId: string, find: (tx: Transaction) => Promise<Connectable>) => {
    const removed = await changes.commit(async (tx, announce) => {
      const found = await find(tx)
      const stored = await store.findAccount(tx, upstreamId, found.holder)
      // Whoever was quicker has done the same.
      if (stored === undefined) return undefined
      await store.removeAccount(tx, stored.id)
      const { upstream, server, holder } = found
      await auditAccount(tx, actor, server, { upstream, action: 'disconnected', isOwn: holder !== EVERYBODY })
      announceChange(announce, found)
      return stored
    })
    if (removed !== undefined) revocations.revokeSoon([removed])
  }

  return {
    getConnectable: (actor: Actor, upstreamId: string): Promise<Connectable> => getConnectable(db, actor, upstreamId),

    /** Where to send the actor's browser, and what it is known by when it comes back. Throws `unavailable`. */
    begin: async (actor: Actor, upstreamId: string) => {
      const found = await getConnectable(db, actor, upstreamId)
      const { config } = found.upstream
      const state = makeState()
      const target = targetOf(await resolve(upstreamId))
      const begun = await beginConnecting(target, {
        fetch,
        redirectUri,
        state,
        findClient: (server, scope) => clients.findFor(upstreamId, config, server, scope),
      })
      return { ...found, ...begun, state }
    },

    /** Connects the account that somebody is back with. Throws `invalid_request`, `conflict` or `unavailable`. */
    finish: async (
      actor: Actor,
      { upstreamId, holder: agreed, journey }: Returned,
      answer: URLSearchParams,
    ): Promise<Connectable> => {
      if ((await getConnectable(db, actor, upstreamId)).holder !== agreed) throw isAnothers()
      const content = await finishConnecting(answer, journey, {
        fetch,
        now,
        tieSecret: (client, issuer) => clients.tieSecret(upstreamId, client, issuer),
      })
      const { url } = targetOf(await resolve(upstreamId))
      if (url !== content.url) throw hasMoved()
      const { found, before } = await changes.commit(async (tx, announce) => {
        // Again: what the actor may do, and whose account it is, may have changed at the last moment.
        const found = await getConnectable(tx, actor, upstreamId)
        const { upstream, server, holder } = found
        // An account of one's own is not for all to call by.
        if (holder !== agreed) throw isAnothers()
        const before = await store.findAccount(tx, upstreamId, holder)
        const sealed = sealing.seal(JSON.stringify(content), accountSealContext(upstreamId, holder))
        await store.putAccount(tx, { upstreamId, holder, sealed, connectedAt: new Date(now()) })
        await auditAccount(tx, actor, server, { upstream, action: 'connected', isOwn: holder !== EVERYBODY })
        announceChange(announce, found)
        return { found, before }
      })
      if (before !== undefined) revocations.revokeSoon([before])
      await onConnected(found.upstream)
      return found
    },

    /** One's own, or as a builder the one that all share. */
    disconnect: (actor: Actor, upstreamId: string): Promise<void> =>
      remove(actor, upstreamId, tx => getConnectable(tx, actor, upstreamId)),

    /** The actor's own, on servers that they may use and on those that they may not any more. */
    listOwn: (actor: Actor, page: IdPage): Promise<store.OwnAccount[]> => store.listOwnAccounts(db, actor.userId, page),

    removeOwn: async (actor: Actor, id: string): Promise<void> => {
      const own = await store.findOwnAccount(db, actor.userId, id)
      if (own === undefined) throw noAccount()
      await remove(actor, own.upstreamId, async tx => {
        const upstream = await findUpstreamOfAnybody(tx, own.upstreamId)
        if (upstream === undefined) throw noAccount()
        const server = { id: own.serverId, name: own.serverName, organizationId: own.organizationId }
        return { upstream, server, holder: actor.userId, account: own }
      })
    },

    /** Whether the actor may still use the server of an account; else its name is not for them to know. */
    mayUse: async (actor: Actor, { serverId }: Pick<store.OwnAccount, 'serverId'>): Promise<boolean> =>
      (await findServerToCall(db, actor, serverId)) !== undefined,

    findOwn: (actor: Actor, upstreamId: string): Promise<AccountMark | undefined> =>
      store.findAccount(db, upstreamId, actor.userId),

    /** How many callers have connected an account of their own. */
    countCallers: (upstreamId: string): Promise<number> => store.countAccounts(db, upstreamId),
  }
}

export type UpstreamAccounts = ReturnType<typeof createUpstreamAccounts>
