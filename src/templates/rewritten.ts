import { parseJson } from '../lib/kernel/json.ts'
import { MAX_JSON_DEPTH } from '../lib/kernel/limits.ts'
import { writtenBases } from './base-url.ts'

/** An array or object as a `json` place writes it: other JSON stands there as it is. */
const writtenJson = (text: string): string[] => {
  if (!/^\s*[[{]/.test(text)) return []
  const json = parseJson(text, MAX_JSON_DEPTH)
  return json.ok ? [JSON.stringify(json.value)] : []
}

/**
 * How else a text may stand in a request than as it is, where the type of its place has it read and written anew: a
 * base URL, without blanks between what is in JSON.
 */
export const rewrittenForms = (text: string): string[] =>
  [...writtenBases(text), ...writtenJson(text)].filter(form => form !== text)
