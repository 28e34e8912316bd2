import { BODY_CHARACTERS } from '../../history/execution-record.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { MAX_SECRET_BYTES } from '../../lib/kernel/limits.ts'
import { once } from '../../lib/kernel/once.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import { createSecretFinder, mergeRanges, type Range } from './find-secrets.ts'
import { maskText } from './mask-text.ts'
import { rewrittenForms } from './spellings.ts'

/** The replacement for each byte of a secret in other content. */
const MASK_BYTE = '*'
/**
 * Strings and UTF-8 of at least this length are searched in the worker pool. A search of this length takes less than
 * 1 ms, and 20 ms if it is crafted to be slow.
 */
const LONG_TEXT = 64 * 1_024

/** Maximum characters of an encoded secret. Encodings multiply a secret's length. */
const LONGEST_FORM = 16 * MAX_SECRET_BYTES
const CHARACTERS_TO_MASK = BODY_CHARACTERS + LONGEST_FORM

/** Searches a long text for secrets in the worker pool. Rejects with a MaskingError if the search fails. */
export type SecretSearch = {
  find: (secrets: readonly string[], text: string, signal: StopSignal | undefined) => Promise<Range[]>
  /** Returns the masked text, or undefined if it contains no secret. The worker reads shared memory without copying. */
  maskUtf8: (secrets: readonly string[], utf8: Buffer, signal: StopSignal | undefined) => Promise<Buffer | undefined>
}

/** The reason that the secrets in a long string could not be masked. The caller may read the message. */
export class MaskingError extends AppError {
  constructor(message: string) {
    super('unavailable', message)
  }
}

/** Hides secrets in every form in which a request, or a response that quotes the request, may contain them. */
export type Masker = {
  isEmpty: boolean
  text: (text: string) => string
  /** Masks as much of a text as the history stores. A longer text ends in `…`. */
  beginning: (text: string) => string
  /** Masks strings and member names of parsed JSON: its text may contain escapes that only a parser undoes. */
  object: (json: JsonObject) => JsonObject
  /** The same methods for values of any length. Long values are searched in the worker pool. */
  long: {
    text: (text: string, signal?: StopSignal) => Promise<string>
    /** Masks a text that is valid UTF-8. Returns the same bytes if it contains no secret. */
    utf8: (utf8: Buffer, signal?: StopSignal) => Promise<Buffer>
    /** Returns the same value if it contains no secret. */
    json: (json: JsonValue, signal?: StopSignal) => Promise<JsonValue>
    object: (json: JsonObject, signal?: StopSignal) => Promise<JsonObject>
    /** Returns the same bytes, or a copy with each secret overwritten. */
    bytes: (bytes: Buffer, signal?: StopSignal) => Promise<Buffer>
  }
  /** Returns a masker that also hides what `listSecrets` returns, which may change during a request. */
  also: (listSecrets: () => readonly string[]) => Masker
}

const maskBytes = (bytes: Buffer, ranges: readonly Range[]): Buffer => {
  if (ranges.length === 0) return bytes
  const masked = Buffer.from(bytes)
  for (const [start, end] of ranges) masked.fill(MASK_BYTE, start, end)
  return masked
}

/** Separates the strings of JSON, so that they can be searched as one text. */
const SEPARATOR = '\0'

const listStrings = (json: JsonValue, strings: string[] = []): string[] => {
  if (typeof json === 'string') strings.push(json)
  else if (Array.isArray(json)) for (const item of json) listStrings(item, strings)
  else if (isJsonObject(json)) {
    for (const [name, value] of Object.entries(json)) {
      strings.push(name)
      listStrings(value, strings)
    }
  }
  return strings
}

/** Rebuilds JSON with new strings, which `next` returns in the order of `listStrings`. */
const replaceStrings = (json: JsonValue, next: () => string): JsonValue => {
  if (typeof json === 'string') return next()
  if (Array.isArray(json)) return json.map(item => replaceStrings(item, next))
  return isJsonObject(json) ? replaceInObject(json, next) : json
}

const replaceInObject = (json: JsonObject, next: () => string): JsonObject =>
  Object.fromEntries(Object.values(json).map(value => [next(), replaceStrings(value, next)]))

/** Returns a function that returns the masked strings one by one. `ranges` refer to the text that joins the strings. */
const maskStrings = (strings: readonly string[], ranges: readonly Range[]): (() => string) => {
  let at = 0
  let first = 0
  const masked = strings.map(string => {
    const start = at
    at += string.length + SEPARATOR.length
    while ((ranges[first]?.[1] ?? Number.POSITIVE_INFINITY) <= start) first += 1
    const own: Range[] = []
    for (let index = first; (ranges[index]?.[0] ?? Number.POSITIVE_INFINITY) < start + string.length; index++) {
      const [from = 0, to = 0] = ranges[index] ?? []
      own.push([Math.max(0, from - start), Math.min(string.length, to - start)])
    }
    return maskText(string, own)
  })
  const values = masked.values()
  return () => values.next().value ?? ''
}

type Search = {
  /** Everything that is searched for, before it is spelled. */
  secrets: readonly string[]
  now: (text: string) => Range[]
  anyLength: (text: string, signal: StopSignal | undefined) => Promise<Range[]>
}

const NOTHING: Search = { secrets: [], now: () => [], anyLength: async () => [] }

const createSearch = (secrets: readonly string[], secretSearch: SecretSearch | undefined): Search => {
  const sent = secrets.filter(secret => secret !== '').flatMap(secret => [secret, ...rewrittenForms(secret)])
  if (sent.length === 0) return NOTHING
  // Created on first use, because it takes several kilobytes and most mounted servers have not been called yet.
  const finder = once(() => createSecretFinder(sent))
  const now = (text: string): Range[] => finder()(text)
  return {
    secrets: sent,
    now,
    anyLength: async (text, signal) =>
      secretSearch === undefined || text.length < LONG_TEXT ? now(text) : secretSearch.find(sent, text, signal),
  }
}

const searchBoth = (one: Search, other: () => Search): Search => ({
  get secrets() {
    return [...one.secrets, ...other().secrets]
  },
  now: text => mergeRanges(one.now(text), other().now(text)),
  anyLength: async (text, signal) =>
    mergeRanges(await one.anyLength(text, signal), await other().anyLength(text, signal)),
})

/**
 * Masks only the beginning of a long text, because masking all of it would take seconds. A secret that is cut off at the
 * end of the slice would not be found, so a longer slice is masked and its tail is dropped.
 */
const maskBeginning = (text: string, now: Search['now']): string => {
  if (text.length <= CHARACTERS_TO_MASK) return maskText(text, now(text))
  const slice = text.slice(0, CHARACTERS_TO_MASK)
  return `${maskText(slice, now(slice)).slice(0, -LONGEST_FORM)}…`
}

const maskerOf = (search: Search, secretSearch: SecretSearch | undefined): Masker => {
  const { now, anyLength } = search
  /** Searches keyed by their array of secrets, which is replaced after each change. */
  const others = new WeakMap<readonly string[], Search>()
  const searchOf = (secrets: readonly string[]): Search => {
    const known = others.get(secrets) ?? createSearch(secrets, secretSearch)
    others.set(secrets, known)
    return known
  }
  const isEmpty = search === NOTHING
  const maskedStringsOf = async (json: JsonValue, signal: StopSignal | undefined) => {
    if (isEmpty) return undefined
    const strings = listStrings(json)
    const ranges = await anyLength(strings.join(SEPARATOR), signal)
    return ranges.length === 0 ? undefined : maskStrings(strings, ranges)
  }
  return {
    isEmpty,
    text: text => maskText(text, now(text)),
    beginning: text => (isEmpty ? text : maskBeginning(text, now)),
    object: json => {
      if (isEmpty) return json
      const strings = listStrings(json)
      const ranges = now(strings.join(SEPARATOR))
      return ranges.length === 0 ? json : replaceInObject(json, maskStrings(strings, ranges))
    },
    long: {
      text: async (text, signal) => maskText(text, await anyLength(text, signal)),
      utf8: async (utf8, signal) => {
        if (isEmpty) return utf8
        const { secrets } = search
        if (secrets.length === 0) return utf8
        if (secretSearch !== undefined && utf8.length >= LONG_TEXT) {
          return (await secretSearch.maskUtf8(secrets, utf8, signal)) ?? utf8
        }
        const text = utf8.toString('utf8')
        const ranges = now(text)
        return ranges.length === 0 ? utf8 : Buffer.from(maskText(text, ranges))
      },
      json: async (json, signal) => {
        const next = await maskedStringsOf(json, signal)
        return next === undefined ? json : replaceStrings(json, next)
      },
      object: async (json, signal) => {
        const next = await maskedStringsOf(json, signal)
        return next === undefined ? json : replaceInObject(json, next)
      },
      bytes: async (bytes, signal) =>
        isEmpty ? bytes : maskBytes(bytes, await anyLength(bytes.toString('latin1'), signal)),
    },
    also: listSecrets =>
      maskerOf(
        searchBoth(search, () => searchOf(listSecrets())),
        secretSearch,
      ),
  }
}

/**
 * Creates a masker for plain-text secrets. Ignores empty ones. Without `secretSearch`, long strings are searched in
 * this thread.
 */
export const createMasker = (secrets: readonly string[], secretSearch?: SecretSearch): Masker =>
  maskerOf(createSearch(secrets, secretSearch), secretSearch)
