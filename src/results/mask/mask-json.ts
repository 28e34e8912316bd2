import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { createPause } from '../../lib/worker/pause.ts'
import type { Masker } from './masking.ts'

/** Masks parsed JSON, because a masker does not know all escapes of JSON text. */
export const maskStrings = (json: JsonValue, masker: Masker): JsonValue => {
  if (typeof json === 'string') return masker.text(json)
  if (Array.isArray(json)) return json.map(item => maskStrings(item, masker))
  if (!isJsonObject(json)) return json
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [masker.text(key), maskStrings(value, masker)]))
}

/** Like `maskStrings`, for large values: yields to the event loop. */
export const maskLongStrings = async (json: JsonValue, masker: Masker, pause = createPause()): Promise<JsonValue> => {
  await pause()
  if (typeof json === 'string') return masker.longText(json)
  if (Array.isArray(json)) {
    const items: JsonValue[] = []
    for (const item of json) items.push(await maskLongStrings(item, masker, pause))
    return items
  }
  if (!isJsonObject(json)) return json
  const members: [string, JsonValue][] = []
  for (const [key, value] of Object.entries(json)) {
    members.push([await masker.longText(key), await maskLongStrings(value, masker, pause)])
  }
  return Object.fromEntries(members)
}

/** Above this, masking yields to the event loop. */
const SLOW_CHARACTERS = 256 * 1_024

/** Counts the characters of all strings and names; stops soon after the count exceeds SLOW_CHARACTERS. */
const countCharacters = (json: JsonValue, before = 0): number => {
  if (typeof json === 'string') return before + json.length
  if (typeof json !== 'object' || json === null) return before
  let count = before
  for (const [key, member] of Object.entries(json)) {
    if (count > SLOW_CHARACTERS) break
    count = countCharacters(member, count + key.length)
  }
  return count
}

/** Masks the secrets in an upstream's result. */
export const maskResult = async (result: JsonObject, masker: Masker): Promise<JsonObject> => {
  if (masker.isEmpty) return result
  const isSlow = countCharacters(result) > SLOW_CHARACTERS
  const masked = isSlow ? await maskLongStrings(result, masker) : maskStrings(result, masker)
  return isJsonObject(masked) ? masked : {}
}
