import { parseJson } from '../lib/kernel/json.ts'
import { MAX_JSON_DEPTH } from '../lib/kernel/limits.ts'
import { writtenBases } from './base-url.ts'

/** Returns an array or object as a `json` parameter renders it; other JSON is rendered unchanged. */
const writtenJson = (text: string): string[] => {
  if (!/^\s*[[{]/.test(text)) return []
  const json = parseJson(text, MAX_JSON_DEPTH)
  return json.ok ? [JSON.stringify(json.value)] : []
}

/**
 * Returns the other forms in which a text may appear in a request because its parameter type normalizes it: as a base
 * URL, or as JSON without blanks.
 */
export const rewrittenForms = (text: string): string[] =>
  [...writtenBases(text), ...writtenJson(text)].filter(form => form !== text)
