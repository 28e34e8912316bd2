import type { Database, Transaction } from '../../lib/db/client.ts'
import type { Announce, Changes } from '../../lib/events/changes.ts'
import type { IdPage } from '../../lib/http/id-paging.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { GetServerFor } from '../get-upstream.ts'
import type { ResolvedConfig, Upstream } from '../upstream.ts'
import { isPerCaller } from '../upstream.ts'
import { auditUpstream, type NamedServer } from '../upstream-audit.ts'
import { noUpstream } from '../upstream-refusals.ts'
import { findUpstreamOfAnybody } from '../upstreams.store.ts'
import { type AccountInfo, accountSealContext, EVERYBODY, type Holder } from './account.ts'
import * as store from './accounts.store.ts'
import { type ConnectTarget, finishConnecting, startConnecting } from './connect-account.ts'
import { headersOf, type UpstreamHeaders } from './oauth-fetch.ts'
import { CALLBACK_PATH } from './patchbay-client.ts'
import { type AuthorizationResult, createState } from './pending-authorizations.ts'
import type { UpstreamOAuth } from './upstream-oauth.ts'

export type UpstreamAccountsParts = {
  db: Database
  changes: Changes
  sealing: Sealing
  oauth: UpstreamOAuth
  /** Returns the current configuration. Throws if a reference cannot be resolved. */
  resolve: (upstreamId: string) => Promise<ResolvedConfig>
  getServerFor: GetServerFor<NamedServer>
  /** Returns undefined if the actor may not call the server. */
  findServerToCall: (tx: Transaction, actor: Actor, serverId: string) => Promise<NamedServer | undefined>
  /** Called after an account is connected, because the catalogue can be fetched from then on. Never rejects. */
  onConnected: (upstream: Upstream) => Promise<void>
}

/**
 * An upstream where the actor may connect an account: their own account, or the shared account if they are a builder.
 */
export type Connectable = { upstream: Upstream; server: NamedServer; holder: Holder; account: AccountInfo | undefined }

const noAccount = (): AppError => new AppError('not_found', 'There is no such account.')
const noAccountNeeded = (): AppError =>
  new AppError('conflict', 'This MCP server needs no account, because it does not use OAuth.')
const addressChanged = (): AppError =>
  new AppError('conflict', "The MCP server's address changed while you were connecting. Start again.")
const accountSettingChanged = (): AppError =>
  new AppError('conflict', "The MCP server's account setting changed while you were connecting. Start again.")

const describeAccount = (holder: Holder) => ({ account: holder === EVERYBODY ? 'shared' : 'own' })

const targetOf = (config: ResolvedConfig): ConnectTarget & UpstreamHeaders => {
  const headers = headersOf(config)
  if (headers === undefined || config.auth.type === 'none') throw noAccountNeeded()
  return { ...headers, scopes: config.auth.scopes }
}

/** Connects and disconnects accounts at upstreams: a builder's for all callers, or each caller's own. */
export const createUpstreamAccounts = ({
  db,
  changes,
  sealing,
  oauth,
  resolve,
  getServerFor,
  findServerToCall,
  onConnected,
}: UpstreamAccountsParts) => {
  const { fetchFor, clients, baseUrl, revocations } = oauth
  const redirectUri = `${baseUrl}${CALLBACK_PATH}`

  /** Throws the same 404 for an upstream of another organization as for a missing one. */
  const getConnectable = async (tx: Transaction, actor: Actor, upstreamId: string): Promise<Connectable> => {
    const upstream = await findUpstreamOfAnybody(tx, upstreamId)
    if (upstream === undefined || upstream.config.auth.type === 'none') throw noUpstream()
    const isOwn = isPerCaller(upstream.config)
    const server = isOwn
      ? await findServerToCall(tx, actor, upstream.serverId)
      : await getServerFor(tx, actor, upstream.serverId, 'build').catch(hideForeign)
    if (server === undefined) throw noUpstream()
    const holder = isOwn ? actor.userId : EVERYBODY
    return { upstream, server, holder, account: await store.findAccount(tx, upstreamId, holder) }
  }
  const hideForeign = (error: unknown): never => {
    throw error instanceof AppError && error.code === 'not_found' ? noUpstream() : error
  }

  /** Throws `conflict` if the upstream's URL has changed, or its configuration is now invalid. */
  const getTargetAt = async (upstreamId: string, url: string): Promise<UpstreamHeaders> => {
    const target = targetOf(await resolve(upstreamId))
    if (target.url !== url) throw addressChanged()
    return target
  }

  const announceChange = (announce: Announce, { upstream, holder }: Connectable): void => {
    announce({ type: 'upstream_changed', upstreamId: upstream.id, serverId: upstream.serverId })
    // Closes the user's connections, because they use the old account.
    if (holder !== EVERYBODY) announce({ type: 'access_changed', userId: holder })
  }

  const remove = async (actor: Actor, upstreamId: string, find: (tx: Transaction) => Promise<Connectable>) => {
    const removed = await changes.commit(async (tx, announce) => {
      const found = await find(tx)
      const stored = await store.findAccount(tx, upstreamId, found.holder)
      // Someone else has already disconnected it.
      if (stored === undefined) return undefined
      await store.removeAccount(tx, stored.id)
      const { upstream, server, holder } = found
      await auditUpstream(tx, actor, server, 'upstream.disconnected', upstream, describeAccount(holder))
      announceChange(announce, found)
      return stored
    })
    if (removed !== undefined) revocations.revokeInBackground([removed])
  }

  return {
    getConnectable: (actor: Actor, upstreamId: string): Promise<Connectable> => getConnectable(db, actor, upstreamId),

    /** Returns where to send the actor's browser and the state that the response will carry. Throws `unavailable`. */
    start: async (actor: Actor, upstreamId: string) => {
      const found = await getConnectable(db, actor, upstreamId)
      const { config } = found.upstream
      const state = createState()
      const target = targetOf(await resolve(upstreamId))
      const { organizationId } = found.server
      const started = await startConnecting(target, {
        fetch: fetchFor(organizationId, target, undefined),
        redirectUri,
        state,
        findClient: (server, scope) => {
          const fetch = fetchFor(organizationId, target, server.issuer)
          return clients.findOrRegister(upstreamId, { auth: config.auth, url: target.url }, server, scope, fetch)
        },
      })
      return { ...found, ...started, state }
    },

    /** Completes the authorization and stores the account. Throws `invalid_request`, `conflict` or `unavailable`. */
    finish: async (
      actor: Actor,
      { upstreamId, holder: agreed, authorization }: AuthorizationResult,
      response: URLSearchParams,
    ): Promise<Connectable> => {
      const connectable = await getConnectable(db, actor, upstreamId)
      if (connectable.holder !== agreed) throw accountSettingChanged()
      const target = await getTargetAt(upstreamId, authorization.url)
      const content = await finishConnecting(response, authorization, {
        fetch: fetchFor(connectable.server.organizationId, target, authorization.server.issuer),
        pinSecret: ({ client, url, server }) => clients.pinSecret(upstreamId, client, { url, issuer: server.issuer }),
      })
      // It may have moved while the code was exchanged.
      await getTargetAt(upstreamId, content.url)
      const { found, replaced } = await changes.commit(async (tx, announce) => {
        // Check again inside the transaction, because permissions and the account setting may have changed.
        const found = await getConnectable(tx, actor, upstreamId)
        const { upstream, server, holder } = found
        // A personal account must not become the shared one.
        if (holder !== agreed) throw accountSettingChanged()
        const replaced = await store.findAccount(tx, upstreamId, holder)
        const sealed = sealing.seal(JSON.stringify(content), accountSealContext(upstreamId, holder))
        await store.putAccount(tx, { upstreamId, holder, sealed, connectedAt: new Date() })
        await auditUpstream(tx, actor, server, 'upstream.connected', upstream, describeAccount(holder))
        announceChange(announce, found)
        return { found, replaced }
      })
      if (replaced !== undefined) revocations.revokeInBackground([replaced])
      await onConnected(found.upstream)
      return found
    },

    /** Disconnects the actor's own account, or the shared one if the actor is a builder. */
    disconnect: (actor: Actor, upstreamId: string): Promise<void> =>
      remove(actor, upstreamId, tx => getConnectable(tx, actor, upstreamId)),

    /** Lists the actor's own accounts, including those on servers that the actor may no longer use. */
    listOwn: (actor: Actor, page: IdPage): Promise<store.OwnAccount[]> => store.listOwnAccounts(db, actor.userId, page),

    removeOwn: async (actor: Actor, id: string): Promise<void> => {
      const own = await store.findOwnAccount(db, actor.userId, id)
      if (own === undefined) throw noAccount()
      await remove(actor, own.upstreamId, async tx => {
        const upstream = await findUpstreamOfAnybody(tx, own.upstreamId)
        if (upstream === undefined) throw noAccount()
        return { upstream, server: own.upstream.server, holder: actor.userId, account: own }
      })
    },

    /** Returns whether the actor may still use the account's server. If not, the server's name must not be shown. */
    mayUse: async (actor: Actor, { upstream }: store.OwnAccount): Promise<boolean> =>
      (await findServerToCall(db, actor, upstream.server.id)) !== undefined,

    findOwn: (actor: Actor, upstreamId: string): Promise<AccountInfo | undefined> =>
      store.findAccount(db, upstreamId, actor.userId),

    countConnectedCallers: (upstreamId: string): Promise<number> => store.countAccounts(db, upstreamId),
  }
}

export type UpstreamAccounts = ReturnType<typeof createUpstreamAccounts>
