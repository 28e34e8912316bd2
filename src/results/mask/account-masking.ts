import type { UpstreamConnection } from '../../upstreams/connection/connection.ts'
import { createMasker, type Masker } from './masking.ts'

/** By the list of tokens, which is another one with each new token. */
const known = new WeakMap<readonly string[], Masker>()

const maskerOf = (tokens: readonly string[]): Masker => {
  const found = known.get(tokens)
  if (found !== undefined) return found
  const made = createMasker(tokens)
  known.set(tokens, made)
  return made
}

/** Hides the tokens of the account too that an upstream is reached by: it may say them in whatever it answers. */
export const withAccountHidden = (masker: Masker, { secrets }: Pick<UpstreamConnection, 'secrets'>): Masker =>
  secrets === undefined
    ? masker
    : {
        isEmpty: false,
        mayHideIn: utf8 => masker.mayHideIn(utf8) || maskerOf(secrets()).mayHideIn(utf8),
        // Asked each time: the first token may come with the request itself.
        text: text => maskerOf(secrets()).text(masker.text(text)),
        longText: async text => maskerOf(secrets()).longText(await masker.longText(text)),
        bytes: bytes => maskerOf(secrets()).bytes(masker.bytes(bytes)),
        longBytes: async bytes => maskerOf(secrets()).longBytes(await masker.longBytes(bytes)),
      }
