import { type Adapter, type AdapterFactory, type AdapterPayload, errors, Provider } from 'oidc-provider'
import { z } from 'zod'
import { type Transaction, transact } from '../lib/db/client.ts'
import { isForeignKeyViolation } from '../lib/db/failures.ts'
import { isJsonObject, type JsonObject } from '../lib/kernel/json.ts'
import {
  type Artifact,
  consumeArtifact,
  findArtifact,
  findArtifactByUid,
  putArtifact,
  removeArtifact,
  type StoredArtifact,
  wereTokensIssued,
} from './artifacts.store.ts'
import { noteClientUse } from './clients/known-clients.store.ts'
import type { EngineParts } from './engine-parts.ts'
import { createRevokeGrant } from './grants/revocations.ts'
import { AUTHORIZE_PATH } from './paths.ts'

export type AdapterParts = EngineParts & {
  /** Finds a registered client with its secret, using RFC 7591's member names. */
  findClient: (clientId: string) => Promise<AdapterPayload | undefined>
}

const oneText = z.string().optional().catch(undefined)

/** The fields of the library's payloads that link an artifact to its grant, user, client and server. */
const Owned = z.object({
  grantId: oneText,
  uid: oneText,
  accountId: oneText,
  clientId: oneText,
  aud: oneText,
  resource: oneText,
  resources: z.record(z.string(), z.string()).optional(),
  params: z.object({ client_id: oneText, resource: oneText }).optional(),
  session: z.object({ accountId: oneText }).optional(),
})

/** Kinds of artifacts that are issued under a grant and must not outlive it. */
const UNDER_GRANT: ReadonlySet<string> = new Set(['AccessToken', 'RefreshToken', 'AuthorizationCode'])

const isPayload = (value: unknown): value is AdapterPayload => isJsonObject(value)

/** Returns the part of a payload to store, without anything that could be used as a credential. */
const withoutHandles = (kind: string, payload: AdapterPayload): JsonObject => {
  const { jti: _, ...rest } = payload
  if (kind === 'Interaction') {
    // The last path segment of `returnTo` is the handle.
    delete rest.returnTo
    if (rest.session !== undefined) rest.session = { ...rest.session, cookie: undefined }
  }
  // Drops undefined members.
  const plain: unknown = JSON.parse(JSON.stringify(rest))
  return isJsonObject(plain) ? plain : {}
}

const toArtifact = (
  kind: string,
  handle: string,
  payload: AdapterPayload,
  expiresInSeconds: number | undefined,
  { resources }: AdapterParts,
): Artifact => {
  const owned = Owned.parse(payload)
  const resource = owned.aud ?? owned.resource ?? owned.params?.resource ?? Object.keys(owned.resources ?? {})[0]
  return {
    kind,
    handle,
    payload: withoutHandles(kind, payload),
    grantId: owned.grantId,
    uid: kind === 'Session' ? owned.uid : undefined,
    userId: owned.accountId ?? owned.session?.accountId,
    clientId: owned.clientId ?? owned.params?.client_id,
    serverId: resource === undefined ? undefined : resources.findServerId(resource),
    expiresAt: expiresInSeconds === undefined ? undefined : new Date(Date.now() + expiresInSeconds * 1_000),
  }
}

/** Stores an artifact. Throws if this or another process has revoked its grant in the meantime. */
const putUnderGrant = async (tx: Transaction, artifact: Artifact): Promise<void> => {
  const { grantId, clientId } = artifact
  const grant = grantId === undefined ? undefined : await findArtifact(tx, 'Grant', grantId)
  if (grant === undefined) throw new errors.InvalidGrant('the grant was revoked')
  await putArtifact(tx, artifact)
  if (clientId !== undefined) await noteClientUse(tx, clientId)
}

/** Time after which a request that consumed a code has either issued its tokens or failed. */
const EXCHANGE_MS = 5_000

/**
 * Implements the library's storage in our database. Stores handles only as SHA-256 hashes. Users and servers have their
 * own columns, so that artifacts are deleted with them. Announces when a token is no longer valid.
 */
export const createAdapterFactory = (parts: AdapterParts): AdapterFactory => {
  const { db, changes, refreshGraceMs, baseUrl } = parts
  const revokeGrant = createRevokeGrant(changes)

  const isWithinGrace = (kind: string, { consumedAt }: StoredArtifact): boolean =>
    kind === 'RefreshToken' && consumedAt !== undefined && Date.now() - consumedAt.getTime() < refreshGraceMs

  /**
   * Returns whether another request is still exchanging the same code. If so, the second request is rejected, but does
   * not count as theft.
   */
  const isBeingChanged = async (kind: string, { consumedAt, payload }: StoredArtifact): Promise<boolean> => {
    if (kind !== 'AuthorizationCode' || consumedAt === undefined) return false
    if (Date.now() - consumedAt.getTime() > EXCHANGE_MS) return false
    const { grantId } = Owned.parse(payload)
    if (grantId === undefined) return false
    return !(await wereTokensIssued(db, grantId, consumedAt))
  }

  const toPayload = (kind: string, stored: StoredArtifact | undefined, handle?: string): AdapterPayload | undefined => {
    if (stored === undefined || !isPayload(stored.payload)) return undefined
    const usedUpAt = isWithinGrace(kind, stored) ? undefined : stored.consumedAt
    return {
      ...stored.payload,
      ...(handle !== undefined && { jti: handle }),
      ...(kind === 'Interaction' && handle !== undefined && { returnTo: `${baseUrl}${AUTHORIZE_PATH}/${handle}` }),
      ...(usedUpAt !== undefined && { consumed: Math.floor(usedUpAt.getTime() / 1_000) }),
    }
  }

  const revoke = (grantId: string): Promise<void> => {
    const { ctx } = Provider
    // At the revocation endpoint, the client or a holder of its tokens has asked to revoke the grant. Anywhere else, a
    // credential was misused.
    const isAsked = ctx?.oidc.route === 'revocation'
    return revokeGrant(grantId, isAsked ? 'grant.removed' : 'grant.misused', ctx?.ip)
  }

  const createAdapter = (kind: string): Adapter => ({
    upsert: async (handle, payload, expiresIn) => {
      const artifact = toArtifact(kind, handle, payload, expiresIn, parts)
      try {
        if (UNDER_GRANT.has(kind)) await transact(db, tx => putUnderGrant(tx, artifact))
        else await putArtifact(db, artifact)
      } catch (error) {
        // The user or server has just been deleted.
        if (isForeignKeyViolation(error)) throw new errors.InvalidGrant('its user or server no longer exists')
        throw error
      }
    },
    find: async handle => {
      const stored = await findArtifact(db, kind, handle)
      // A code that is being exchanged counts as unused here. `consume` rejects the request later.
      const isUnused = stored !== undefined && (await isBeingChanged(kind, stored))
      return toPayload(kind, isUnused ? { ...stored, consumedAt: undefined } : stored, handle)
    },
    findByUid: async uid => toPayload(kind, await findArtifactByUid(db, kind, uid)),
    findByUserCode: async () => undefined,
    consume: async handle => {
      if (await consumeArtifact(db, kind, handle)) return
      // Another request consumed the artifact after this request had read it.
      const stored = await findArtifact(db, kind, handle)
      if (stored !== undefined && isWithinGrace(kind, stored)) return
      const { grantId } = Owned.parse(stored?.payload ?? {})
      // Two requests with the same code both sent its verifier, so both come from the client. For a refresh token,
      // there is no such proof.
      if (kind === 'RefreshToken' && grantId !== undefined) await revoke(grantId)
      throw new errors.InvalidGrant('it has already been used')
    },
    destroy: async handle => {
      if (kind === 'Grant') return revoke(handle)
      await changes.commit(async (tx, announce) => {
        const removed = await removeArtifact(tx, kind, handle)
        if (kind === 'AccessToken' && removed?.userId !== undefined) {
          announce({ type: 'access_changed', userId: removed.userId })
        }
      })
    },
    revokeByGrantId: revoke,
  })

  const clientAdapter: Adapter = { ...createAdapter('Client'), find: parts.findClient }
  return kind => (kind === 'Client' ? clientAdapter : createAdapter(kind))
}
