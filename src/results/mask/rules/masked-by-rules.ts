import { BODY_CHARACTERS } from '../../../history/execution-record.ts'
import { isJsonObject, type JsonObject, type JsonValue, parseIfJson } from '../../../lib/kernel/json.ts'
import { MASK } from '../../../lib/kernel/mask.ts'
import { once } from '../../../lib/kernel/once.ts'
import type { StopSignal } from '../../../lib/kernel/stop-signal.ts'
import type { MaskingRule } from '../../../servers/masking/masking-rule.ts'
import type { Masker } from '../masking.ts'
import { maskByRules } from './mask-by-rules.ts'
import { createRuleSearch, type FindMatches, type RuleSearch } from './rule-search.ts'

/** Texts of at least this length are masked in the worker pool, and those that may take more than so many steps, or 10 ms. */
const LONG_TEXT = 16 * 1_024
const MAX_STEPS_OF_SHORT = 400_000

/**
 * Steps for one text that is masked in this thread, about 50 ms at worst. What remains of a longer one counts as a match, because
 * messages that are masked here must stay in order and cannot wait.
 */
const MAX_STEPS_NOW = 2_000_000

/** Characters that are dropped from the end of a text that was cut, because a match that is cut off is not found. */
const CUT_OFF_CHARACTERS = 1_024

/** Masks a long text in the worker pool. Rejects with a MaskingError if that fails. */
export type RuleMasking = {
  /** Returns the masked text, or undefined if nothing matches. */
  maskByRules: (
    rules: readonly MaskingRule[],
    utf8: Buffer,
    signal: StopSignal | undefined,
  ) => Promise<Buffer | undefined>
}

/** Returns a search for one text that finds everything once it has taken too long. */
const limited = ({ find, weight }: RuleSearch): FindMatches => {
  let left = Math.ceil(MAX_STEPS_NOW / Math.max(1, weight))
  return (text, name) => {
    const searched = text.slice(0, left)
    left -= searched.length
    const ranges = find(searched, name)
    return searched.length < text.length ? [...ranges, [searched.length, text.length]] : ranges
  }
}

/** Parses JSON that was masked. */
const rebuild = (masked: string): JsonValue => parseIfJson(masked) ?? MASK

/**
 * Returns a masker that also hides what a server's rules match. Bytes that are not text are searched only for secrets,
 * because a match in them would be a coincidence.
 */
export const withRules = (masker: Masker, rules: readonly MaskingRule[], ruleMasking?: RuleMasking): Masker => {
  if (rules.length === 0) return masker
  // Compiled on first use, because most mounted servers have not been called yet.
  const search = once(() => createRuleSearch(rules))
  const now = (text: string): string => maskByRules(text, limited(search()))
  const isLong = ({ length }: { length: number }): boolean =>
    length >= LONG_TEXT || length * search().weight > MAX_STEPS_OF_SHORT
  const utf8OfAnyLength = async (utf8: Buffer, signal: StopSignal | undefined): Promise<Buffer> => {
    if (ruleMasking !== undefined && isLong(utf8)) return (await ruleMasking.maskByRules(rules, utf8, signal)) ?? utf8
    const text = utf8.toString('utf8')
    const masked = maskByRules(text, search().find)
    return masked === text ? utf8 : Buffer.from(masked)
  }
  const anyLength = async (text: string, signal: StopSignal | undefined): Promise<string> => {
    if (ruleMasking === undefined || !isLong(text)) return maskByRules(text, search().find)
    const utf8 = Buffer.from(text)
    const masked = await utf8OfAnyLength(utf8, signal)
    return masked === utf8 ? text : masked.toString('utf8')
  }
  const json = async (value: JsonValue, signal: StopSignal | undefined): Promise<JsonValue> => {
    const text = JSON.stringify(value)
    const masked = await anyLength(text, signal)
    return masked === text ? value : rebuild(masked)
  }
  const toObject = (value: JsonValue): JsonObject => (isJsonObject(value) ? value : {})
  return {
    isEmpty: false,
    text: text => now(masker.text(text)),
    beginning: text => {
      const beginning = masker.beginning(text)
      const slice = beginning.slice(0, BODY_CHARACTERS + CUT_OFF_CHARACTERS)
      return slice === beginning ? now(slice) : `${now(slice).slice(0, -CUT_OFF_CHARACTERS)}…`
    },
    object: value => {
      const hidden = masker.object(value)
      const text = JSON.stringify(hidden)
      const masked = now(text)
      return masked === text ? hidden : toObject(rebuild(masked))
    },
    long: {
      text: async (text, signal) => anyLength(await masker.long.text(text, signal), signal),
      utf8: async (utf8, signal) => utf8OfAnyLength(await masker.long.utf8(utf8, signal), signal),
      json: async (value, signal) => json(await masker.long.json(value, signal), signal),
      object: async (value, signal) => toObject(await json(await masker.long.object(value, signal), signal)),
      bytes: masker.long.bytes,
    },
    also: listSecrets => withRules(masker.also(listSecrets), rules, ruleMasking),
  }
}
