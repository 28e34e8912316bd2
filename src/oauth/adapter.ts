import { type Adapter, type AdapterFactory, type AdapterPayload, errors, Provider } from 'oidc-provider'
import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../kernel/index.ts'
import { type Database, isForeignKeyViolation, type Transaction, transact } from '../platform/db/index.ts'
import type { Changes } from '../platform/events/index.ts'
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
import { noteClientUse } from './known-clients.store.ts'
import type { Resources } from './resources.ts'
import type { Revocations } from './revocations.ts'

export type AdapterParts = {
  db: Database
  changes: Changes
  revocations: Revocations
  resources: Resources
  /** Clients that were registered, with their secrets, as RFC 7591 names their members. */
  findClient: (clientId: string) => Promise<AdapterPayload | undefined>
  /** How long a refresh token that was used may be used again: several processes of one client share it. */
  refreshGraceMs: number
  /** Where an interaction leads back to; `uid` is its handle. */
  returnAddressOf: (uid: string) => string
  now: () => number
}

const oneText = z.string().optional().catch(undefined)

/** Of what the library stores, what says whose it is. */
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

/** Good for one thing each, in the name of a grant: none of them may outlive it. */
const UNDER_GRANT: ReadonlySet<string> = new Set(['AccessToken', 'RefreshToken', 'AuthorizationCode'])

const isPayload = (value: unknown): value is AdapterPayload => isJsonObject(value)

/** What is stored of a payload: nothing in it opens anything. */
const withoutHandles = (kind: string, payload: AdapterPayload): JsonObject => {
  const { jti: _, ...rest } = payload
  if (kind === 'Interaction') {
    // It holds the handle, as the last part of its path.
    delete rest.returnTo
    if (rest.session !== undefined) rest.session = { ...rest.session, cookie: undefined }
  }
  // Members that are undefined go, too.
  const plain: unknown = JSON.parse(JSON.stringify(rest))
  return isJsonObject(plain) ? plain : {}
}

const toArtifact = (
  kind: string,
  handle: string,
  payload: AdapterPayload,
  expiresInSeconds: number | undefined,
  { resources, now }: AdapterParts,
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
    expiresAt: expiresInSeconds === undefined ? undefined : new Date(now() + expiresInSeconds * 1_000),
  }
}

/** Nothing is given out by a grant that was taken back meanwhile, in this process or another. */
const putUnderGrant = async (tx: Transaction, artifact: Artifact, at: Date): Promise<void> => {
  const { grantId, clientId } = artifact
  const grant = grantId === undefined ? undefined : await findArtifact(tx, 'Grant', grantId)
  if (grant === undefined) throw new errors.InvalidGrant('the grant was taken back')
  await putArtifact(tx, artifact)
  if (clientId !== undefined) await noteClientUse(tx, clientId, at)
}

/** The request that consumed a code has given out its tokens by then, or failed. */
const EXCHANGE_MS = 5_000
const TOKEN_SLACK_MS = 1_000

/** Its client, or whoever holds what was the client's, asks for it. */
const currentRequest = () => {
  const ctx = Provider.ctx
  return { address: ctx?.ip, isRevocation: ctx?.oidc.route === 'revocation' }
}

/**
 * The library's storage in our database. Handles are stored as their SHA-256 alone; who and what an artifact belongs
 * to stands in columns, so that it goes with its user and its server. What ends a token's use is announced.
 */
export const createAdapterFactory = (parts: AdapterParts): AdapterFactory => {
  const { db, changes, revocations, refreshGraceMs, returnAddressOf, now } = parts

  const isWithinGrace = (kind: string, { consumedAt }: StoredArtifact): boolean =>
    kind === 'RefreshToken' && consumedAt !== undefined && now() - consumedAt.getTime() < refreshGraceMs

  /** A second request with the same code, while the first is under way: refused, but no sign of a theft. */
  const isBeingChanged = async (kind: string, { consumedAt, payload }: StoredArtifact): Promise<boolean> => {
    if (kind !== 'AuthorizationCode' || consumedAt === undefined) return false
    if (now() - consumedAt.getTime() > EXCHANGE_MS) return false
    const { grantId } = Owned.parse(payload)
    if (grantId === undefined) return false
    return !(await wereTokensIssued(db, grantId, consumedAt, TOKEN_SLACK_MS, new Date(now())))
  }

  const toPayload = (kind: string, stored: StoredArtifact | undefined, handle?: string): AdapterPayload | undefined => {
    if (stored === undefined || !isPayload(stored.payload)) return undefined
    const isUsedUp = stored.consumedAt !== undefined && !isWithinGrace(kind, stored)
    return {
      ...stored.payload,
      ...(handle !== undefined && { jti: handle }),
      ...(kind === 'Interaction' && handle !== undefined && { returnTo: returnAddressOf(handle) }),
      ...(isUsedUp && { consumed: Math.floor((stored.consumedAt?.getTime() ?? 0) / 1_000) }),
    }
  }

  const revoke = (grantId: string): Promise<void> => {
    const { address, isRevocation } = currentRequest()
    return revocations.revokeGrant(grantId, isRevocation ? 'grant.removed' : 'grant.misused', address)
  }

  const createAdapter = (kind: string): Adapter => ({
    upsert: async (handle, payload, expiresIn) => {
      const artifact = toArtifact(kind, handle, payload, expiresIn, parts)
      try {
        if (UNDER_GRANT.has(kind)) await transact(db, tx => putUnderGrant(tx, artifact, new Date(now())))
        else await putArtifact(db, artifact)
      } catch (error) {
        // Its user or its server was removed a moment ago.
        if (isForeignKeyViolation(error)) throw new errors.InvalidGrant('its user or server is gone')
        throw error
      }
    },
    find: async handle => {
      const stored = await findArtifact(db, kind, handle)
      // Then it is `consume` that says no.
      const isUnused = stored !== undefined && (await isBeingChanged(kind, stored))
      return toPayload(kind, isUnused ? { ...stored, consumedAt: undefined } : stored, handle)
    },
    findByUid: async uid => toPayload(kind, await findArtifactByUid(db, kind, uid)),
    findByUserCode: async () => undefined,
    consume: async handle => {
      if (await consumeArtifact(db, kind, handle, new Date(now()))) return
      // Another request was quicker, between this one's look and now.
      const stored = await findArtifact(db, kind, handle)
      if (stored !== undefined && isWithinGrace(kind, stored)) return
      const { grantId } = Owned.parse(stored?.payload ?? {})
      // A code's verifier was shown by both, so both are its client; with a refresh token that is not said.
      if (kind === 'RefreshToken' && grantId !== undefined) await revoke(grantId)
      throw new errors.InvalidGrant('it was used already')
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
