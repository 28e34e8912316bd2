import type { UpstreamConnection } from '../../upstreams/connection/connection.ts'
import { createMasker, type Masker } from './masking.ts'

/** Keyed by the list of tokens, which is a new array after each token refresh. */
const known = new WeakMap<readonly string[], Masker>()

const maskerOf = (tokens: readonly string[]): Masker => {
  const found = known.get(tokens)
  if (found !== undefined) return found
  const made = createMasker(tokens)
  known.set(tokens, made)
  return made
}

/** Returns a masker that also hides the tokens of the upstream's account, which a response may contain. */
export const withAccountHidden = (masker: Masker, { secrets }: Pick<UpstreamConnection, 'secrets'>): Masker =>
  secrets === undefined
    ? masker
    : {
        isEmpty: false,
        mayHideIn: utf8 => masker.mayHideIn(utf8) || maskerOf(secrets()).mayHideIn(utf8),
        // Read each time, because the request itself may fetch the first token.
        text: text => maskerOf(secrets()).text(masker.text(text)),
        longText: async text => maskerOf(secrets()).longText(await masker.longText(text)),
        bytes: bytes => maskerOf(secrets()).bytes(masker.bytes(bytes)),
        longBytes: async bytes => maskerOf(secrets()).longBytes(await masker.longBytes(bytes)),
      }
