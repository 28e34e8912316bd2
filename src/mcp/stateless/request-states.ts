import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { isJsonObject, type JsonValue } from '../kernel/index.ts'
import type { RequestState } from '../upstreams/index.ts'
import type { SigningKey } from './session-id.ts'

/** How long a client may take to come back with what it was asked for. */
const MAX_AGE_MS = 15 * 60_000
/** Longest state that is looked at. */
const MAX_STATE_CHARACTERS = 256 * 1_024

const signatureOf = (signed: string, key: Buffer): Buffer =>
  createHmac('sha256', key).update(`state.${signed}`).digest()

/** Says whose request a state is of, and of which: server, caller, method and params. */
export const bindingOf = (parts: readonly (JsonValue | undefined)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url')

/**
 * The `requestState` of results that ask for more (2026-07-28, basic): signed, bound to the caller and the request, for a
 * while. What of it is the upstream's own the client may read, as it could without us.
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
    /** Undefined for what we did not give out to this caller for this request, or too long ago. */
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
