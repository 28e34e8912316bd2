import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { isJsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import type { RequestState } from '../../upstreams/connection/call-link.ts'
import type { SigningKey } from '../sessions/session-id.ts'

/** Time for a client to return with what it was asked for. */
const MAX_AGE_MS = 15 * 60_000
/** Longer states are rejected unread. */
const MAX_STATE_CHARACTERS = 256 * 1_024

const signatureOf = (signed: string, key: Buffer): Buffer =>
  createHmac('sha256', key).update(`state.${signed}`).digest()

/** Identifies the request that a state belongs to: server, caller, method and params. */
export const bindingOf = (parts: readonly (JsonValue | undefined)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url')

/**
 * Creates the `requestState` of results that ask the client for input (2026-07-28, basic): signed, bound to caller and
 * request, and valid for a limited time. The client can read the upstream's own state in it, as it could without us.
 */
export const createRequestStates = (keys: readonly SigningKey[], now: () => number) => {
  const [first] = keys
  if (first === undefined) throw new Error('request states need a signing key')
  const byId = new Map(keys.map(({ id, key }) => [id, key]))
  return {
    seal: (binding: string, { upstream, held }: RequestState): string => {
      const content = JSON.stringify({ binding, upstream, held, until: now() + MAX_AGE_MS })
      const signed = `${first.id}.${Buffer.from(content).toString('base64url')}`
      return `${signed}.${signatureOf(signed, first.key).toString('base64url')}`
    },
    /** Returns undefined if the state was not issued to this caller for this request, or has expired. */
    open: (binding: string, sealed: string): RequestState | undefined => {
      const [keyId = '', content = '', signature = '', ...rest] =
        sealed.length > MAX_STATE_CHARACTERS ? [] : sealed.split('.')
      const key = byId.get(keyId)
      if (key === undefined || rest.length > 0) return undefined
      const expected = signatureOf(`${keyId}.${content}`, key)
      const given = Buffer.from(signature, 'base64url')
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
      const state: JsonValue = JSON.parse(Buffer.from(content, 'base64url').toString())
      if (!isJsonObject(state) || state.binding !== binding) return undefined
      if (typeof state.until !== 'number' || state.until < now()) return undefined
      const { upstream, held } = state
      return {
        ...(typeof upstream === 'string' && { upstream }),
        ...(typeof held === 'string' && { held }),
      }
    },
  }
}
export type RequestStates = ReturnType<typeof createRequestStates>
