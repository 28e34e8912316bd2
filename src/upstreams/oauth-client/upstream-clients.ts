import { z } from 'zod'
import type { Database, Transaction } from '../../lib/db/client.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { BoundedFetch } from '../../lib/outbound/bounded-fetch.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { UpstreamConfig } from '../upstream.ts'
import { clientSealContext, OAuthClient } from './account.ts'
import { hasWorkingAccount } from './accounts.store.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import * as store from './clients.store.ts'
import { CALLBACK_PATH, clientDocumentUrl, registerPatchbay } from './patchbay-client.ts'

/** How long a registration without an account is assumed to still exist. */
const ASSUMED_REGISTERED_MS = 60 * 60_000

export type UpstreamClientsParts = {
  db: Database
  sealing: Sealing
  baseUrl: string
}

/** `shownTo` is the first issuer that the builder's secret was sent to. The secret is never sent to another issuer. */
const SealedClient = OAuthClient.extend({ shownTo: z.string().optional() })
type SealedClient = z.infer<typeof SealedClient>

const wrongServer = (before: string, now: string): AppError =>
  new AppError(
    'conflict',
    `Cannot connect to the MCP server: its authorization server is now ${now}, but the client secret was used with ${before}. If the new authorization server is correct, a builder of the server must enter the secret again.`,
  )
const clientChanged = (): AppError =>
  new AppError('conflict', "The MCP server's client settings changed while you were connecting. Start again.")

/** Finds or creates Patchbay's registrations at the authorization servers of upstreams. */
export const createUpstreamClients = ({ db, sealing, baseUrl }: UpstreamClientsParts) => {
  const redirectUri = `${baseUrl}${CALLBACK_PATH}`

  const seal = (upstreamId: string, client: SealedClient) =>
    sealing.seal(JSON.stringify(client), clientSealContext(upstreamId))

  const read = async (tx: Transaction, upstreamId: string) => {
    const stored = await store.findClient(tx, upstreamId)
    if (stored === undefined) return undefined
    const plain = sealing.open(stored.sealed, clientSealContext(upstreamId))
    const { shownTo, ...client } = SealedClient.parse(JSON.parse(plain))
    return { ...stored, client, shownTo }
  }

  /**
   * Returns the client that the builder entered. Throws `conflict` if the client secret belongs to another
   * authorization server.
   */
  const configured = async (upstreamId: string, clientId: string, issuer: string): Promise<OAuthClient> => {
    const stored = await read(db, upstreamId)
    const isKept = stored !== undefined && stored.issuer === undefined && stored.client.client_id === clientId
    if (!isKept) return { client_id: clientId }
    if (stored.shownTo !== undefined && stored.shownTo !== issuer) throw wrongServer(stored.shownTo, issuer)
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
      { auth }: UpstreamConfig,
      server: AuthorizationServer,
      scope: string | undefined,
      fetch: BoundedFetch,
    ): Promise<OAuthClient> => {
      if (auth.type === 'oauth' && auth.clientId !== undefined) {
        return configured(upstreamId, auth.clientId, server.issuer)
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
    pinSecret: async (upstreamId: string, { client_secret: secret }: OAuthClient, issuer: string): Promise<void> => {
      if (secret === undefined) return
      const stored = await read(db, upstreamId)
      if (stored?.issuer !== undefined) return
      if (stored?.client.client_secret !== secret) throw clientChanged()
      if (stored.shownTo === issuer) return
      if (stored.shownTo !== undefined) throw wrongServer(stored.shownTo, issuer)
      const sealed = seal(upstreamId, { ...stored.client, shownTo: issuer })
      if (!(await store.replaceSealed(db, upstreamId, stored, sealed))) throw clientChanged()
    },

    /**
     * Returns the client with its current secret, which the builder may have replaced since the account was connected.
     * Does not use a secret that is tied to another issuer.
     */
    findCurrent: async (upstreamId: string, connectedWith: OAuthClient, issuer: string): Promise<OAuthClient> => {
      const stored = await read(db, upstreamId)
      if (stored === undefined || stored.client.client_id !== connectedWith.client_id) return connectedWith
      return stored.shownTo === undefined || stored.shownTo === issuer ? stored.client : connectedWith
    },

    /** Stores the builder's client secret, or removes the stored one. */
    saveConfigured: async (
      tx: Transaction,
      upstreamId: string,
      configured: { clientId: string; clientSecret: string } | undefined,
    ): Promise<void> => {
      if (configured === undefined) return store.removeClient(tx, upstreamId)
      const client = { client_id: configured.clientId, client_secret: configured.clientSecret }
      await store.putClient(tx, upstreamId, { issuer: undefined, sealed: seal(upstreamId, client) })
    },
  }
}

export type UpstreamClients = ReturnType<typeof createUpstreamClients>
