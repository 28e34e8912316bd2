import { hash } from 'node:crypto'
import { isJsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import type { RequestState } from '../../upstreams/connection/call-link.ts'
import { createSigner, type SigningKey } from '../signer.ts'

/** Time within which a client must repeat its request with the input. */
const MAX_AGE_MS = 15 * 60_000
/** Maximum length of a state. Longer states are rejected without parsing. */
const MAX_STATE_CHARACTERS = 256 * 1_024

/** Returns a hash that identifies the request to which a state belongs: server, caller, method and params. */
export const hashRequest = (parts: readonly (JsonValue | undefined)[]): string =>
  hash('sha256', JSON.stringify(parts), 'base64url')

/**
 * Creates the `requestState` of results that ask the client for input (2026-07-28, basic). It is signed, bound to
 * caller and request, and expires. It contains the upstream's own state, which the client may read.
 */
export const createRequestStates = (keys: readonly SigningKey[], now: () => number) => {
  const signer = createSigner(keys, 'state.', MAX_STATE_CHARACTERS)
  return {
    issue: (binding: string, { upstream, held }: RequestState): string =>
      signer.sign({ binding, upstream, held, until: now() + MAX_AGE_MS }),
    /** Returns undefined if the state has expired or was not issued to this caller for this request. */
    verify: (binding: string, signed: string): RequestState | undefined => {
      const state = signer.verify(signed)
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
