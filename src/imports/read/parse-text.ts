import { CORE_SCHEMA, load, mergeTag, YAMLException } from 'js-yaml'
import { shorten } from '../../lib/kernel/format.ts'
import type { JsonValue } from '../../lib/kernel/json.ts'
import { describeJsonFault, findJsonFault } from '../../lib/kernel/json-fault.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { MAX_DESCRIPTION_DEPTH } from '../limits.ts'
import { measureValue } from './measure-value.ts'

/** YAML 1.2's core schema, with merge keys, which many descriptions use. It has no types that JSON lacks. */
const SCHEMA = CORE_SCHEMA.withTags(mergeTag)
const MAX_ALIASES = 10_000
const MAX_MERGE_KEYS = 10_000
/** Longer JSON with an error is not searched for its position, which would take seconds. */
const MAX_SEARCHED_CHARS = 4_000_000

const describeYamlError = (error: unknown): string => {
  if (!(error instanceof YAMLException)) return 'it cannot be parsed'
  const reason = shorten(error.reason, 200)
  return error.mark === undefined ? reason : `line ${error.mark.line + 1}: ${reason}`
}

const parseYaml = (text: string): Result<unknown, string> => {
  const options = {
    schema: SCHEMA,
    maxDepth: MAX_DESCRIPTION_DEPTH,
    maxAliases: MAX_ALIASES,
    maxTotalMergeKeys: MAX_MERGE_KEYS,
  }
  try {
    return success(load(text, options))
  } catch (error) {
    return failure(describeYamlError(error))
  }
}

const parseJson = (text: string): Result<unknown, undefined> => {
  try {
    return success(JSON.parse(text))
  } catch {
    return failure(undefined)
  }
}

const describeJsonError = (text: string): string => {
  const fault = text.length > MAX_SEARCHED_CHARS ? undefined : findJsonFault(text)
  return fault === undefined ? 'there is a syntax error' : describeJsonFault(fault)
}

/**
 * Parses JSON or YAML. The error is a sentence that says where the text is wrong, or which limit it exceeds. Objects and
 * arrays behind a YAML alias occur several times in the value. A text in braces may be YAML too, which allows comments,
 * trailing commas and keys without quotes.
 */
export const parseText = (text: string): Result<JsonValue, string> => {
  const isBraced = /^\s*[{[]/.test(text)
  const json = isBraced ? parseJson(text) : failure(undefined)
  if (json.ok) return measureValue(json.value, { hasAliases: false })
  const yaml = parseYaml(text)
  if (yaml.ok) return measureValue(yaml.value, { hasAliases: true })
  const reason = isBraced ? `JSON: ${describeJsonError(text)}` : `YAML: ${yaml.error}`
  return failure(`It is not valid ${reason}.`)
}
