import { MAX_PARAMETERS } from '../../templates/limits.ts'
import type { ParameterType } from '../../templates/template.ts'
import { secretRuleOf } from '../secret-parameters.ts'
import type { CandidateParameter } from './draft-url.ts'
import type { RequestDraft } from './to-tool-draft.ts'

/** Matches the names of the placeholders that a draft writes, which have a type but no default. */
const PLACEHOLDER = /\{\{(?:[a-z]+:)?([\w.-]+)\}\}/g

const namesIn = ({ url, headers, body = '' }: RequestDraft['definition']): ReadonlySet<string> =>
  new Set(
    [url, body, ...headers.map(({ value }) => value)].flatMap(text =>
      [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name),
    ),
  )

/** Returns the type of the parameter. A number that would be written in another way, such as `1.0`, is a string. */
export const typeOfCandidate = ({ value, suggestedType }: CandidateParameter): ParameterType =>
  suggestedType === 'boolean' || String(Number(value)) === value ? suggestedType : 'string'

/** Returns the placeholder for a candidate. */
export const placeholderFor = (candidate: CandidateParameter): string => {
  const type = typeOfCandidate(candidate)
  return type === 'string' ? `{{${candidate.name}}}` : `{{${type}:${candidate.name}}}`
}

/**
 * Makes the values of the query parameters of the tool, and returns the URL with them and the values, which become
 * their defaults. Leaves a value in the URL if it is empty, could be a secret, or belongs to a repeated name.
 */
export const withQueryParameters = ({
  definition,
  candidates,
}: Pick<RequestDraft, 'definition' | 'candidates'>): { url: string; defaults: ReadonlyMap<string, string> } => {
  const { url } = definition
  const defaults = new Map<string, string>()
  const question = url.indexOf('?')
  if (question === -1) return { url, defaults }
  const pairs = url.slice(question + 1).split('&')
  const keyOf = (pair: string): string => pair.split('=', 1)[0] ?? ''
  const counts = Map.groupBy(pairs, keyOf)
  const taken = namesIn(definition)
  const byIndex = new Map(candidates.flatMap(one => (one.place === 'query' ? [[one.index, one] as const] : [])))
  const written = pairs.map((pair, index) => {
    const candidate = byIndex.get(index)
    const key = keyOf(pair)
    if (candidate === undefined || candidate.value === '' || pair.includes('{{') || taken.has(candidate.name)) {
      return pair
    }
    const rule = secretRuleOf({ place: 'query', name: key, alias: candidate.name, value: candidate.value })
    const isRepeated = (counts.get(key)?.length ?? 0) > 1
    if (rule !== 'none' || isRepeated || taken.size + defaults.size >= MAX_PARAMETERS) return pair
    defaults.set(candidate.name, candidate.value)
    return `${key}=${placeholderFor(candidate)}`
  })
  return { url: `${url.slice(0, question)}?${written.join('&')}`, defaults }
}
