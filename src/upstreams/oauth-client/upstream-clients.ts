import { z } from 'zod'
import type { Database, Transaction } from '../../lib/db/client.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { BoundedFetch } from '../../lib/outbound/bounded-fetch.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { UpstreamConfig } from '../upstream.ts'
import { clientSealContext, OAuthClient } from './account.ts'
import { hasGoodAccount } from './accounts.store.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import * as store from './clients.store.ts'
import { CALLBACK_PATH, documentUrlOf, registerPatchbay } from './patchbay-client.ts'

/** A registration is taken for known so long, without an account that shows it. */
const FRESH_MS = 60 * 60_000

export type UpstreamClientsParts = {
  db: Database
  sealing: Sealing
  fetch: BoundedFetch
  baseUrl: string
  /** Milliseconds since 1970. */
  now: () => number
}

/** `shownTo`: the authorization server that the builder's own secret was first shown to, and goes to alone. */
const KeptClient = OAuthClient.extend({ shownTo: z.string().optional() })
type KeptClient = z.infer<typeof KeptClient>

const isAnotherServer = (before: string, now: string): AppError =>
  new AppError(
    'conflict',
    `The upstream cannot be connected: it names another authorization server, ${now}, than the client secret was used at so far, ${before}. If that is right, whoever builds the server enters the secret again.`,
  )
const hasChanged = (): AppError =>
  new AppError('conflict', 'The client of the upstream was changed since you began. Begin anew.')

/** Who Patchbay is to the authorization servers of upstreams. */
export const createUpstreamClients = ({ db, sealing, fetch, baseUrl, now }: UpstreamClientsParts) => {
  const seal = (upstreamId: string, client: KeptClient) =>
    sealing.seal(JSON.stringify(client), clientSealContext(upstreamId))

  const read = async (tx: Transaction, upstreamId: string) => {
    const stored = await store.findClient(tx, upstreamId)
    if (stored === undefined) return undefined
    const plain = sealing.open(stored.sealed, clientSealContext(upstreamId))
    const { shownTo, ...client } = KeptClient.parse(JSON.parse(plain))
    return { ...stored, client, shownTo }
  }

  /** As the builder brought it. Throws `conflict` where its secret is another authorization server's. */
  const given = async (upstreamId: string, clientId: string, issuer: string): Promise<OAuthClient> => {
    const kept = await read(db, upstreamId)
    const isKept = kept !== undefined && kept.issuer === undefined && kept.client.client_id === clientId
    if (!isKept) return { client_id: clientId }
    if (kept.shownTo !== undefined && kept.shownTo !== issuer) throw isAnotherServer(kept.shownTo, issuer)
    return kept.client
  }

  const isGood = ({ redirect_uris: uris, client_secret_expires_at: end = 0 }: OAuthClient): boolean =>
    uris?.includes(`${baseUrl}${CALLBACK_PATH}`) === true && (end === 0 || end * 1_000 > now())

  /** Authorization servers forget clients that nobody uses: one that stands idle is registered anew. */
  const isInUse = async (upstreamId: string, registeredAt: Date): Promise<boolean> =>
    registeredAt.getTime() > now() - FRESH_MS || (await hasGoodAccount(db, upstreamId))

  return {
    /** For a new account: brought, by our metadata document, or registered, once. Throws `unavailable`. */
    findFor: async (
      upstreamId: string,
      { auth }: UpstreamConfig,
      server: AuthorizationServer,
      scope: string | undefined,
    ): Promise<OAuthClient> => {
      if (auth.type === 'oauth' && auth.clientId !== undefined) {
        return given(upstreamId, auth.clientId, server.issuer)
      }
      const documentUrl = documentUrlOf(baseUrl)
      if (server.client_id_metadata_document_supported === true && documentUrl !== undefined) {
        return { client_id: documentUrl }
      }
      const kept = await read(db, upstreamId)
      const isOfServer = kept?.issuer === server.issuer && isGood(kept.client)
      if (isOfServer && (await isInUse(upstreamId, kept.updatedAt))) return kept.client
      const client = await registerPatchbay(server, scope, { baseUrl, fetch })
      const registered = { ...client, redirect_uris: [`${baseUrl}${CALLBACK_PATH}`] }
      await store.putClient(db, upstreamId, { issuer: server.issuer, sealed: seal(upstreamId, registered) })
      return registered
    },

    /**
     * Before it is shown to the authorization server: the secret that the builder brought is that one's alone from then
     * on, whatever the upstream names later. Throws `conflict`.
     */
    tieSecret: async (upstreamId: string, { client_secret: secret }: OAuthClient, issuer: string): Promise<void> => {
      if (secret === undefined) return
      const kept = await read(db, upstreamId)
      if (kept?.issuer !== undefined) return
      if (kept?.client.client_secret !== secret) throw hasChanged()
      if (kept.shownTo === issuer) return
      if (kept.shownTo !== undefined) throw isAnotherServer(kept.shownTo, issuer)
      const sealed = seal(upstreamId, { ...kept.client, shownTo: issuer })
      if (!(await store.reseal(db, upstreamId, kept, sealed))) throw hasChanged()
    },

    /**
     * The same client as it is now: the secret that the builder brings may be another one since. One that was shown to
     * another authorization server is none of this one's.
     */
    findNow: async (upstreamId: string, connectedWith: OAuthClient, issuer: string): Promise<OAuthClient> => {
      const kept = await read(db, upstreamId)
      if (kept === undefined || kept.client.client_id !== connectedWith.client_id) return connectedWith
      return kept.shownTo === undefined || kept.shownTo === issuer ? kept.client : connectedWith
    },

    /** What the builder brings with the upstream; undefined: no secret, and what was there before goes. */
    keepGiven: async (
      tx: Transaction,
      upstreamId: string,
      given: { clientId: string; clientSecret: string } | undefined,
    ): Promise<void> => {
      if (given === undefined) return store.removeClient(tx, upstreamId)
      const client = { client_id: given.clientId, client_secret: given.clientSecret }
      await store.putClient(tx, upstreamId, { issuer: undefined, sealed: seal(upstreamId, client) })
    },

    /** When the secret was set that the builder brought, by upstream. */
    listSecretTimes: (tx: Transaction, upstreamIds: readonly string[]) => store.listSecretTimes(tx, upstreamIds),
  }
}

export type UpstreamClients = ReturnType<typeof createUpstreamClients>
