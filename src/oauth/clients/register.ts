import { hash, randomUUID } from 'node:crypto'
import { type Database, type Transaction, transact } from '../../lib/db/client.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/kernel/durations.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { formatCount } from '../../lib/kernel/format.ts'
import type { JsonObject } from '../../lib/kernel/json.ts'
import { type Result, success } from '../../lib/kernel/result.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { makeClientSecret } from './client-secrets.ts'
import { createClient, findIdenticalUnused, findRegistrationTime } from './known-clients.store.ts'
import { normalizeRegistration, type RegistrationRefusal } from './registration.ts'

/** The most clients that one network may register within a time, of all or of those that have no grant yet. */
type RegistrationLimit = { max: number; withinMs: number; isUnused: boolean; what: string }

const LIMITS: readonly RegistrationLimit[] = [
  { max: 20, withinMs: HOUR_MS, isUnused: true, what: '20 clients within an hour that nobody has given access yet' },
  { max: 200, withinMs: DAY_MS, isUnused: false, what: '200 clients within a day' },
]

/** Age up to which an unused client is reused. It is removed after a day, and its user still has to agree. */
const REUSE_MS = DAY_MS - HOUR_MS

const formatWait = (ms: number): string =>
  ms < HOUR_MS ? formatCount(Math.ceil(ms / MINUTE_MS), 'minute') : formatCount(Math.ceil(ms / HOUR_MS), 'hour')

/** Throws `rate_limited` if the network has reached a limit. Of several, the error has the one with the longest wait. */
const assertWithinLimits = async (tx: Transaction, registeredFrom: string, now: number): Promise<void> => {
  let waitMs = 0
  let reached = ''
  for (const { max, withinMs, isUnused, what } of LIMITS) {
    const since = new Date(now - withinMs)
    // If there are `max` clients, one more is allowed once the oldest of them is older than the limit's time.
    const oldest = await findRegistrationTime(tx, registeredFrom, { since, isUnused, position: max })
    const thisWaitMs = oldest === undefined ? 0 : Math.max(oldest.getTime() + withinMs - now, 1_000)
    if (thisWaitMs > waitMs) [waitMs, reached] = [thisWaitMs, what]
  }
  if (waitMs === 0) return
  throw new AppError('rate_limited', `This address has registered ${reached}. Try again in ${formatWait(waitMs)}.`, {
    retryAfterSeconds: Math.ceil(waitMs / 1_000),
  })
}

/** Returns a response of RFC 7591 §3.2.1. */
const toResponse = (
  { clientId, createdAt }: { clientId: string; createdAt: Date },
  metadata: JsonObject,
  secret?: string,
): JsonObject => ({
  client_id: clientId,
  client_id_issued_at: Math.floor(createdAt.getTime() / 1_000),
  ...(secret !== undefined && { client_secret: secret, client_secret_expires_at: 0 }),
  ...metadata,
})

/**
 * Returns a function that registers a client at the client's own request (RFC 7591). If the client has a secret, it
 * appears only in the response. A public client that repeats its registration before it has a grant gets the same
 * `client_id`. Throws `rate_limited` if the network has registered too many.
 */
export const createRegister =
  ({ db, sealing }: { db: Database; sealing: Sealing }) =>
  async (body: unknown, registeredFrom: string): Promise<Result<JsonObject, RegistrationRefusal>> => {
    const normal = normalizeRegistration(body)
    if (!normal.ok) return normal
    const metadata = normal.value
    const isPublic = metadata.token_endpoint_auth_method === 'none'
    const source = { registeredFrom, metadataHash: hash('sha256', JSON.stringify(metadata)) }
    const registered = await transact(db, async tx => {
      const now = Date.now()
      const identical = isPublic ? await findIdenticalUnused(tx, source, new Date(now - REUSE_MS)) : undefined
      if (identical !== undefined) return toResponse(identical, metadata)
      await assertWithinLimits(tx, registeredFrom, now)
      const clientId = randomUUID()
      const { secret, sealed } = makeClientSecret(sealing, { organizationId: undefined, clientId }, isPublic)
      const { createdAt } = await createClient(tx, { clientId, metadata, sealed, source })
      return toResponse({ clientId, createdAt }, metadata, secret)
    })
    return success(registered)
  }
export type Register = ReturnType<typeof createRegister>
