import type { RecordedArguments } from '../../history/execution-record.ts'
import { shorten } from '../../lib/kernel/format.ts'
import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import type { Masker } from './masking.ts'

/** Maximum characters of all recorded arguments of a call. As many as of a request's body. */
const ARGUMENTS_CHARACTERS = 16 * 1_024
/** Limits for the names of arguments that are not recorded, because callers can send any number of arguments. */
const MAX_NAMES = 20
const NAME_CHARACTERS = 64

/** Arguments of a call. `isSecret` judges an argument, or a member of one, by its name and its value if that is a string. */
export type ArgumentsToRecord = { values: JsonObject; isSecret: (name: string, value: string | undefined) => boolean }

/** Returns the approximate length of a value's JSON, or more than `most` as soon as that is exceeded. */
const lengthOf = (value: JsonValue, most: number): number => {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return String(value).length
  let length = 2
  for (const [name, item] of Object.entries(value)) {
    if (length > most) break
    length += name.length + 1 + lengthOf(item, most - length)
  }
  return length
}

/** Tells whether an argument or a member within it is a secret. Items of an array count under the name of the array. */
const isOrHasSecret = (name: string, value: JsonValue, isSecret: ArgumentsToRecord['isSecret']): boolean => {
  if (isSecret(name, typeof value === 'string' ? value : undefined)) return true
  if (typeof value !== 'object' || value === null) return false
  return Array.isArray(value)
    ? value.some(item => isOrHasSecret(name, item, isSecret))
    : Object.entries(value).some(([member, item]) => isOrHasSecret(member, item, isSecret))
}

/** Maximum number of values that are judged, because that takes microseconds each on the main thread. */
const MAX_JUDGED = 2_000

type Found = { texts: Set<string>; judged: number }

/** Collects the strings and numbers of a value. */
const collectTexts = (value: JsonValue, found: Found): void => {
  found.judged += 1
  if (found.judged > MAX_JUDGED) return
  if (typeof value === 'string' || typeof value === 'number') found.texts.add(String(value))
  else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) collectTexts(one, found)
}

const collectSecrets = (
  name: string,
  value: JsonValue,
  isSecret: ArgumentsToRecord['isSecret'],
  found: Found,
): void => {
  found.judged += 1
  if (found.judged > MAX_JUDGED) return
  if (isSecret(name, typeof value === 'string' ? value : undefined)) collectTexts(value, found)
  else if (Array.isArray(value)) for (const item of value) collectSecrets(name, item, isSecret, found)
  else if (typeof value === 'object' && value !== null) {
    for (const [member, item] of Object.entries(value)) collectSecrets(member, item, isSecret, found)
  }
}

/**
 * Returns the texts of the arguments, and of members within them, that are secrets by their name or value. Undefined if
 * there are too many arguments and members.
 */
export const listSecretTexts = ({ values, isSecret }: ArgumentsToRecord): ReadonlySet<string> | undefined => {
  const found: Found = { texts: new Set(), judged: 0 }
  for (const [name, value] of Object.entries(values)) collectSecrets(name, value, isSecret, found)
  found.texts.delete('')
  return found.judged > MAX_JUDGED ? undefined : found.texts
}

/** Searches the strings of JSON, and its text for a secret that was given as a number. */
const hasSecret = (json: JsonObject, masker: Masker): boolean => {
  if (masker.isEmpty) return false
  const text = JSON.stringify(json)
  return masker.text(text) !== text || masker.object(json) !== json
}

/**
 * Returns a call's arguments as the history stores them. Leaves out those that are too long, because the beginning of a
 * value is not a value, and those that are or contain a secret.
 */
export const toRecordedArguments = ({ values, isSecret }: ArgumentsToRecord, masker: Masker): RecordedArguments => {
  const kept: [string, JsonValue][] = []
  const cut: string[] = []
  const masked: string[] = []
  const note = (names: string[], name: string): void => {
    if (names.length < MAX_NAMES) names.push(shorten(masker.beginning(name), NAME_CHARACTERS))
  }
  let room = ARGUMENTS_CHARACTERS
  for (const [name, value] of Object.entries(values)) {
    const length = name.length + lengthOf(value, room)
    const one: JsonObject = { [name]: value }
    if (length > room) note(cut, name)
    else if (isOrHasSecret(name, value, isSecret) || hasSecret(one, masker)) note(masked, name)
    else {
      room -= length
      kept.push([name, value])
    }
  }
  return { values: Object.fromEntries(kept), cut, masked }
}
