import { decodeFormText, percentDecode } from '../../tools/import/curl-url.ts'
import { isDistinctive } from '../../tools/import/draft-parameters.ts'
import { withoutSecrets } from '../openapi/texts.ts'

/** Distinctive secrets are at least this long. */
const PREFIX_CHARS = 8

/**
 * Creates a function that replaces these texts by an ellipsis. Finds them by their first characters, because a recording
 * may have thousands of tokens, and thousands of texts are searched.
 */
const createReplacement = (texts: Iterable<string>): ((text: string) => string) => {
  const byPrefix = Map.groupBy(new Set(texts), text => text.slice(0, PREFIX_CHARS))
  return text => {
    let replaced = ''
    let from = 0
    for (let at = 0; at + PREFIX_CHARS <= text.length; at++) {
      const candidates = byPrefix.get(text.slice(at, at + PREFIX_CHARS))
      const found = candidates?.filter(one => text.startsWith(one, at)).map(({ length }) => length) ?? []
      if (found.length === 0) continue
      replaced += `${text.slice(from, at)}…`
      from = at + Math.max(...found)
      at = from - 1
    }
    return replaced + text.slice(from)
  }
}

/** Creates functions that hide and find these secrets in texts. */
export const createHiding = (secrets: readonly string[]) => {
  const distinctive = secrets.filter(isDistinctive)
  const spellings = distinctive.flatMap(secret => [secret, JSON.stringify(secret).slice(1, -1)])
  const replace = createReplacement(spellings)
  return {
    /** Hides the secrets, and whatever looks like one, in a text for people and models. */
    hide: (text: string): string => withoutSecrets(replace(text)),
    /** Returns whether a text contains one of the secrets, also percent-encoded or as in JSON. */
    holdsSecret: (text: string): boolean =>
      [...new Set([text, percentDecode(text), decodeFormText(text)])].some(reading => replace(reading) !== reading),
  }
}
export type Hiding = ReturnType<typeof createHiding>
