import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { createPause } from '../../lib/worker/pause.ts'
import type { Masker } from './masking.ts'

/** Strings as they read once their escapes are gone: some of those no masker knows. */
export const maskStrings = (json: JsonValue, masker: Masker): JsonValue => {
  if (typeof json === 'string') return masker.text(json)
  if (Array.isArray(json)) return json.map(item => maskStrings(item, masker))
  if (!isJsonObject(json)) return json
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [masker.text(key), maskStrings(value, masker)]))
}

/** The same of what is long, with turns for everybody else. */
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

/** From so many characters on, nobody should wait for secrets to be hidden. */
const SLOW_CHARACTERS = 256 * 1_024

/** How many characters its texts have, those of names too; no more are counted than are too many. */
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

/** What an upstream has answered, secrets hidden. */
export const maskResult = async (result: JsonObject, masker: Masker): Promise<JsonObject> => {
  if (masker.isEmpty) return result
  const isSlow = countCharacters(result) > SLOW_CHARACTERS
  const masked = isSlow ? await maskLongStrings(result, masker) : maskStrings(result, masker)
  return isJsonObject(masked) ? masked : {}
}
