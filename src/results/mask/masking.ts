import { once } from '../../lib/kernel/once.ts'
import { createPause } from '../../lib/worker/pause.ts'
import { rewrittenForms } from '../../templates/rewritten.ts'
import { createMayHold } from './may-hold.ts'

/** Replaces a secret. */
const MASK = '•••'
/** Shorter Base64 texts are too common to search for. */
const MIN_BASE64_CHARACTERS = 6

/** Hides all its secrets, in every form that a request or a response that quotes it may contain. */
export type Masker = {
  isEmpty: boolean
  /** Whether UTF-8 text may contain a secret, without decoding it. False is certain. */
  mayHideIn: (utf8: Buffer) => boolean
  text: (text: string) => string
  /** Like `text`, but yields to the event loop, because every form of every secret is searched for. */
  longText: (text: string) => Promise<string>
  /** Returns the same bytes, or a copy with each secret overwritten. */
  bytes: (bytes: Buffer) => Buffer
  /** Like `bytes`, but yields to the event loop. */
  longBytes: (bytes: Buffer) => Promise<Buffer>
}

/** Returns the part of a secret's Base64 that does not depend on the text around it, for each of the three offsets. */
const base64Cores = (secret: string): string[] =>
  [0, 1, 2].flatMap(offset => {
    const encoded = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]).toString('base64')
    const unpadded = encoded.replace(/=+$/, '')
    const isCut = encoded !== unpadded
    const core = unpadded.slice(offset === 0 ? 0 : offset + 1, isCut ? -1 : undefined)
    return core.length < MIN_BASE64_CHARACTERS ? [] : [core, core.replaceAll('+', '-').replaceAll('/', '_')]
  })

type Encode = (text: string) => string

const inJson: Encode = text => JSON.stringify(text).slice(1, -1)
const escapeUnit: Encode = char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
/** As encoders that write only ASCII do, such as Python's and PHP's. */
const toAscii: Encode = json => json.replace(/[^\x20-\x7e]/g, escapeUnit)
/** As PHP does. */
const escapeSlashes: Encode = json => json.replaceAll('/', '\\/')
/** As encoders that make JSON safe for HTML do, such as Go's and Rails'. */
const escapeMarkup: Encode = json => json.replace(/[&<>]/g, escapeUnit)
const toUpperHex: Encode = json => json.replace(/\\u[0-9a-f]{4}/g, unit => `\\u${unit.slice(2).toUpperCase()}`)

const HABITS: readonly Encode[] = [escapeMarkup, escapeSlashes, toAscii, toUpperHex]

/**
 * Returns JSON text in every combination of HABITS; bit `n` of an index says whether habit `n` is applied. Each form is
 * built from the one without its last habit, because a secret may be long, and a server may have many.
 */
const mixed = (json: string): string[] => {
  const forms = [json]
  for (const habit of HABITS) forms.push(...forms.map(form => habit(form)))
  return forms
}
const jsonForms = (text: string): string[] => [...new Set(mixed(inJson(text)))]

/** Returns the forms of JSON in a JSON string, where the outer encoder is the same as the inner or a plain one. */
const nestedJsonForms = (text: string): string[] =>
  mixed(inJson(text)).flatMap((form, mixture) => {
    const quoted = inJson(form)
    return [quoted, HABITS.reduce((json, habit, bit) => ((mixture >> bit) & 1 ? habit(json) : json), quoted)]
  })

const HTML_ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
/** How HTML escapers write the double and the single quote. */
const HTML_QUOTES = [
  ['"', "'"],
  ['&quot;', "'"],
  ['&quot;', '&#39;'],
  ['&quot;', '&#039;'],
  ['&quot;', '&#x27;'],
  ['&#34;', '&#39;'],
] as const
const htmlForms = (text: string): string[] => {
  const escaped = text.replace(/[&<>]/g, char => HTML_ENTITIES[char] ?? char)
  return HTML_QUOTES.map(([double, single]) => escaped.replaceAll('"', double).replaceAll("'", single))
}

/** UTF-8 that was decoded as Latin-1, as in headers. */
const asLatin1: Encode = text => Buffer.from(text).toString('latin1')

const toPercent: Encode = char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`
const lowerHex: Encode = text => text.replace(/%[0-9A-F]{2}/g, hex => hex.toLowerCase())

/** Returns what we send, what a URL's query makes of it (URL Standard, §1.3), and what stricter encoders write. */
const percentEncodings = (text: string): string[] => {
  const encoded = encodeURIComponent(text.toWellFormed())
  const strict = encoded.replace(/[!'()*]/g, toPercent)
  const forms = [encoded, encoded.replaceAll("'", '%27'), strict, strict.replaceAll('%20', '+')]
  return [...forms, new URLSearchParams({ s: text }).toString().slice(2)].flatMap(form => [form, lowerHex(form)])
}

/** Text that every encoder except Base64 leaves unchanged, as most keys and tokens are. */
const NEVER_ENCODED = /^[\w.-]+$/

/** Returns all forms of a secret in a request, or in a response that quotes it, possibly escaped twice. */
const formsOf = (secret: string): string[] => {
  if (NEVER_ENCODED.test(secret)) return [secret, ...base64Cores(secret)]
  return [
    secret,
    asLatin1(secret),
    ...percentEncodings(secret),
    ...nestedJsonForms(secret),
    ...[secret, ...htmlForms(secret)].flatMap(form => [form, ...jsonForms(form)]),
    ...base64Cores(secret),
  ]
}

const NOTHING_TO_HIDE: Masker = {
  isEmpty: true,
  mayHideIn: () => false,
  text: text => text,
  longText: async text => text,
  bytes: bytes => bytes,
  longBytes: async bytes => bytes,
}

/** Overwrites a pattern in a copy of the bytes; `masked` is the copy, if there is one already. */
const overwrite = (bytes: Buffer, pattern: Buffer, masked: Buffer | undefined): Buffer | undefined => {
  let copy = masked
  for (let at = bytes.indexOf(pattern); at !== -1; at = bytes.indexOf(pattern, at + pattern.length)) {
    copy ??= Buffer.from(bytes)
    copy.fill('*', at, at + pattern.length)
  }
  return copy
}

/** Creates a masker of plain values. Empty ones are ignored. */
export const createMasker = (secrets: readonly string[]): Masker => {
  const sent = secrets.filter(secret => secret !== '').flatMap(secret => [secret, ...rewrittenForms(secret)])
  const forms = [...new Set(sent.flatMap(formsOf))]
  if (forms.length === 0) return NOTHING_TO_HIDE
  // Longest first: masking a form inside a longer one would leave the rest readable.
  forms.sort((a, b) => b.length - a.length)
  // Created on first use: it takes some kilobytes, and most mounted servers have not been called yet.
  const mayHold = once(() => createMayHold(forms))
  const hide = (text: string, form: string): string => (text.includes(form) ? text.replaceAll(form, MASK) : text)
  // Created on first use: most servers only return text.
  const patterns = once(() => forms.map(form => Buffer.from(form)))
  const mayHoldBytes = once(() => createMayHold(patterns().map(pattern => pattern.toString('latin1'))))
  const mayHideIn = (bytes: Buffer): boolean => mayHoldBytes()(bytes.toString('latin1'))
  return {
    isEmpty: false,
    mayHideIn,
    text: text => (mayHold()(text) ? forms.reduce(hide, text) : text),
    longText: async text => {
      if (!mayHold()(text)) return text
      const pause = createPause()
      let masked = text
      for (const form of forms) {
        masked = hide(masked, form)
        await pause()
      }
      return masked
    },
    bytes: bytes => {
      if (!mayHideIn(bytes)) return bytes
      let masked: Buffer | undefined
      for (const pattern of patterns()) masked = overwrite(bytes, pattern, masked)
      return masked ?? bytes
    },
    longBytes: async bytes => {
      if (!mayHideIn(bytes)) return bytes
      const pause = createPause()
      let masked: Buffer | undefined
      for (const pattern of patterns()) {
        masked = overwrite(bytes, pattern, masked)
        await pause()
      }
      return masked ?? bytes
    },
  }
}
