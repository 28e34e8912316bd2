import { castValue, type ParameterMeta } from '../../templates/check-value.ts'
import type { CandidateParameter } from './draft-url.ts'
import { placeholderFor, typeOfCandidate } from './query-parameters.ts'

/** Stands for a placeholder while a URL is split: placeholders can contain `/`, `?` and `&`. */
const HELD = '\0'
const PLACEHOLDER = /\{\{[^{}]*\}\}/g

/** Changes a URL whose placeholders are replaced by `HELD`, and restores them in order. */
const keepingPlaceholders = (url: string, change: (bare: string) => string): string => {
  const held: string[] = []
  const bare = url.replace(PLACEHOLDER, written => {
    held.push(written)
    return HELD
  })
  return change(bare).replaceAll(HELD, () => held.shift() ?? '')
}

/**
 * Replaces values in the URL of a draft by placeholders. Candidates whose place the URL does not have, or where it has a
 * placeholder already, are left out.
 */
export const applyCandidates = (url: string, candidates: readonly CandidateParameter[]): string =>
  keepingPlaceholders(url, bare => {
    const [, origin = '', path = '', query] = /^([a-z]+:\/\/[^/?]*)([^?]*)(?:\?(.*))?$/is.exec(bare) ?? []
    const segments = path.split('/')
    const pairs = query?.split('&') ?? []
    for (const candidate of candidates) {
      const [parts, at] = candidate.place === 'path' ? [segments, candidate.index + 1] : [pairs, candidate.index]
      const part = parts[at]
      if (part === undefined || part.includes(HELD)) continue
      const name = candidate.place === 'path' ? '' : `${part.split('=', 1)[0]}=`
      parts[at] = name + placeholderFor(candidate)
    }
    return `${origin}${segments.join('/')}${query === undefined ? '' : `?${pairs.join('&')}`}`
  })

/** Returns the value as the default of a parameter in the query, or as the example of one in the path. */
export const metaOfCandidate = (candidate: CandidateParameter): ParameterMeta => {
  const cast = castValue(typeOfCandidate(candidate), candidate.value, 'text')
  const value = cast.ok ? cast.value : candidate.value
  if (candidate.value === '') return {}
  return candidate.place === 'query' ? { default: value } : { example: value }
}
