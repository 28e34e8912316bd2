import { z } from 'zod'
import type { Database, Transaction } from '../../lib/db/client.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { BoundedFetch } from '../../lib/outbound/bounded-fetch.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { UpstreamConfig } from '../upstream.ts'
import { type AccountContent, clientSealContext, OAuthClient } from './account.ts'
import { hasWorkingAccount } from './accounts.store.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import * as store from './clients.store.ts'
import type { ConnectTarget } from './connect-account.ts'
import { CALLBACK_PATH, clientDocumentUrl, registerPatchbay } from './patchbay-client.ts'

/** How long a registration without an account is assumed to still exist. */
const ASSUMED_REGISTERED_MS = 60 * 60_000

export type UpstreamClientsParts = {
  db: Database
  sealing: Sealing
  baseUrl: string
}

const SealedClient = OAuthClient.extend({
  /** The origin of the upstream when the builder entered the secret. Undefined if a missing global decided it. */
  enteredFor: z.string().optional(),
  /** The first issuer that the builder's secret was sent to. The secret is never sent to another issuer. */
  shownTo: z.string().optional(),
})
type SealedClient = z.infer<typeof SealedClient>

/** An upstream's URL, and an authorization server that it names or named. */
type Destination = { url: string; issuer: string }

/** The client secret that a builder entered. */
export type ConfiguredSecret = {
  enteredAt: Date
  /** Whether the secret must be entered again before it is sent anywhere, if the upstream is at this origin. */
  mustBeEnteredFor: (origin: string) => boolean
}

const wrongServer = (before: string, now: string): AppError =>
  new AppError(
    'conflict',
    `Cannot connect to the MCP server: its authorization server is now ${now}, but the client secret was used with ${before}. If the new authorization server is correct, a builder of the server must enter the secret again.`,
  )
const notEnteredFor = (url: string): AppError =>
  new AppError(
    'conflict',
    `Cannot connect to the MCP server: its client secret may have been entered for another address. If ${new URL(url).origin} is correct, a builder of the server must enter the secret again.`,
  )
const clientChanged = (): AppError =>
  new AppError('conflict', "The MCP server's client settings changed while you were connecting. Start again.")

/** Finds or creates Patchbay's registrations at the authorization servers of upstreams. */
export const createUpstreamClients = ({ db, sealing, baseUrl }: UpstreamClientsParts) => {
  const redirectUri = `${baseUrl}${CALLBACK_PATH}`

  const seal = (upstreamId: string, client: SealedClient) =>
    sealing.seal(JSON.stringify(client), clientSealContext(upstreamId))

  const open = (upstreamId: string, stored: store.StoredClient) => {
    const plain = sealing.open(stored.sealed, clientSealContext(upstreamId))
    const { shownTo, enteredFor, ...client } = SealedClient.parse(JSON.parse(plain))
    return { ...stored, client, shownTo, enteredFor }
  }
  type OpenClient = ReturnType<typeof open>

  /** Whether the secret has not been sent anywhere yet, and was entered for another origin. */
  const isForOtherOrigin = ({ shownTo, enteredFor }: OpenClient, origin: string): boolean =>
    shownTo === undefined && enteredFor !== origin

  const read = async (tx: Transaction, upstreamId: string): Promise<OpenClient | undefined> => {
    const stored = await store.findClient(tx, upstreamId)
    return stored && open(upstreamId, stored)
  }

  /**
   * Returns why the client's secret must not be sent to this authorization server. Until it has been sent to one, it
   * goes only to those that the upstream names at the address that it was entered for.
   */
  const findRefusal = (client: OpenClient, to: Destination): AppError | undefined => {
    const only = client.issuer ?? client.shownTo
    if (only !== undefined) return only === to.issuer ? undefined : wrongServer(only, to.issuer)
    return isForOtherOrigin(client, new URL(to.url).origin) ? notEnteredFor(to.url) : undefined
  }

  /** Returns the client that the builder entered. Throws `conflict` if its secret must not be sent there. */
  const configured = async (upstreamId: string, clientId: string, to: Destination): Promise<OAuthClient> => {
    const stored = await read(db, upstreamId)
    const isKept = stored !== undefined && stored.issuer === undefined && stored.client.client_id === clientId
    if (!isKept) return { client_id: clientId }
    const refusal = findRefusal(stored, to)
    if (refusal !== undefined) throw refusal
    return stored.client
  }

  const isUsable = ({ redirect_uris: uris, client_secret_expires_at: end = 0 }: OAuthClient): boolean =>
    uris?.includes(redirectUri) === true && (end === 0 || end * 1_000 > Date.now())

  /**
   * Returns whether a registration is in use. Authorization servers delete unused clients, so Patchbay registers again
   * if no working account uses the client.
   */
  const isInUse = async (upstreamId: string, registeredAt: Date): Promise<boolean> =>
    registeredAt.getTime() > Date.now() - ASSUMED_REGISTERED_MS || (await hasWorkingAccount(db, upstreamId))

  return {
    /**
     * Returns the client for a new account: the builder's client, Patchbay's metadata document, or a registered client.
     * Throws `unavailable`.
     */
    findOrRegister: async (
      upstreamId: string,
      { auth, url }: Pick<UpstreamConfig, 'auth'> & Pick<ConnectTarget, 'url'>,
      server: AuthorizationServer,
      scope: string | undefined,
      fetch: BoundedFetch,
    ): Promise<OAuthClient> => {
      if (auth.type === 'oauth' && auth.clientId !== undefined) {
        return configured(upstreamId, auth.clientId, { url, issuer: server.issuer })
      }
      const documentUrl = clientDocumentUrl(baseUrl)
      if (server.client_id_metadata_document_supported === true && documentUrl !== undefined) {
        return { client_id: documentUrl }
      }
      const stored = await read(db, upstreamId)
      const isOfServer = stored?.issuer === server.issuer && isUsable(stored.client)
      if (isOfServer && (await isInUse(upstreamId, stored.updatedAt))) return stored.client
      const client = await registerPatchbay(server, scope, { baseUrl, fetch })
      const registered = { ...client, redirect_uris: [redirectUri] }
      await store.putClient(db, upstreamId, { issuer: server.issuer, sealed: seal(upstreamId, registered) })
      return registered
    },

    /**
     * Ties the builder's secret to this issuer before the secret is first sent there. If the upstream later names
     * another issuer, the secret is not sent to that issuer. Throws `conflict`.
     */
    pinSecret: async (upstreamId: string, { client_secret: secret }: OAuthClient, to: Destination): Promise<void> => {
      if (secret === undefined) return
      const stored = await read(db, upstreamId)
      if (stored?.issuer !== undefined) return
      if (stored?.client.client_secret !== secret) throw clientChanged()
      const refusal = findRefusal(stored, to)
      if (refusal !== undefined) throw refusal
      if (stored.shownTo !== undefined) return
      const sealed = seal(upstreamId, { ...stored.client, shownTo: to.issuer })
      if (!(await store.replaceSealed(db, upstreamId, stored, sealed))) throw clientChanged()
    },

    /**
     * Returns the client with its current secret, which the builder may have replaced since the account was connected.
     * Does not use a secret that must not be sent to the account's authorization server.
     */
    findCurrent: async (
      upstreamId: string,
      { client, url, server }: Pick<AccountContent, 'client' | 'url' | 'server'>,
    ): Promise<OAuthClient> => {
      const stored = await read(db, upstreamId)
      if (stored === undefined || stored.client.client_id !== client.client_id) return client
      return findRefusal(stored, { url, issuer: server.issuer }) === undefined ? stored.client : client
    },

    /** Stores the builder's client secret, or removes the stored one. */
    saveConfigured: async (
      tx: Transaction,
      upstreamId: string,
      configured: { clientId: string; clientSecret: string; enteredFor: string | undefined } | undefined,
    ): Promise<void> => {
      if (configured === undefined) return store.removeClient(tx, upstreamId)
      const { clientId, clientSecret, enteredFor } = configured
      const client = { client_id: clientId, client_secret: clientSecret, enteredFor }
      await store.putClient(tx, upstreamId, { issuer: undefined, sealed: seal(upstreamId, client) })
    },

    /** Returns the client secrets that builders entered, keyed by upstream. */
    listConfigured: async (
      tx: Transaction,
      upstreamIds: readonly string[],
    ): Promise<ReadonlyMap<string, ConfiguredSecret>> => {
      const stored = await store.listConfiguredClients(tx, upstreamIds)
      const secrets = new Map<string, ConfiguredSecret>()
      for (const [id, client] of stored) {
        const opened = open(id, client)
        const mustBeEnteredFor = (origin: string): boolean => isForOtherOrigin(opened, origin)
        secrets.set(id, { enteredAt: opened.updatedAt, mustBeEnteredFor })
      }
      return secrets
    },
  }
}

export type UpstreamClients = ReturnType<typeof createUpstreamClients>
