import { once } from '../../lib/kernel/once.ts'
import { createPause } from '../../lib/worker/pause.ts'
import { rewrittenForms } from '../../templates/rewritten.ts'
import { createMayHold } from './may-hold.ts'

/** What stands where a secret stood. */
const MASK = '•••'
/** Base64 of shorter secrets is too common a text to look for. */
const MIN_BASE64_CHARACTERS = 6

/** Hides every secret it knows, in any of the forms a request or an echo of it could carry. */
export type Masker = {
  isEmpty: boolean
  /** Whether a text of UTF-8 may hold a secret: false is certain, and known without decoding it. */
  mayHideIn: (utf8: Buffer) => boolean
  text: (text: string) => string
  /** As `text`, with turns for everybody else: every form of every secret is looked for in all of it. */
  longText: (text: string) => Promise<string>
  /** The same bytes, or a copy with each secret overwritten. */
  bytes: (bytes: Buffer) => Buffer
  /** As `bytes`, with turns for everybody else. */
  longBytes: (bytes: Buffer) => Promise<Buffer>
}

/** How the base64 of a text looks wherever it stands in a longer one: the part no neighbour can change. */
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
/** As encoders write it that keep to ASCII, among them Python's and PHP's. */
const toAscii: Encode = json => json.replace(/[^\x20-\x7e]/g, escapeUnit)
/** As PHP writes it. */
const escapeSlashes: Encode = json => json.replaceAll('/', '\\/')
/** As encoders write it whose JSON may stand in a page, among them Go's and Rails'. */
const escapeMarkup: Encode = json => json.replace(/[&<>]/g, escapeUnit)
const toUpperHex: Encode = json => json.replace(/\\u[0-9a-f]{4}/g, unit => `\\u${unit.slice(2).toUpperCase()}`)

const HABITS: readonly Encode[] = [escapeMarkup, escapeSlashes, toAscii, toUpperHex]

/**
 * A text of JSON in every mixture of those habits: bit `n` of an index says whether it is written with habit `n`. Each
 * is made of the one before its last habit, since a secret may be long, and a server may have many.
 */
const mixed = (json: string): string[] => {
  const forms = [json]
  for (const habit of HABITS) forms.push(...forms.map(form => habit(form)))
  return forms
}
const jsonForms = (text: string): string[] => [...new Set(mixed(inJson(text)))]

/** JSON that quotes JSON, as the same encoder writes it or a plain one. */
const nestedJsonForms = (text: string): string[] =>
  mixed(inJson(text)).flatMap((form, mixture) => {
    const quoted = inJson(form)
    return [quoted, HABITS.reduce((json, habit, bit) => ((mixture >> bit) & 1 ? habit(json) : json), quoted)]
  })

const HTML_ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
/** How escapers write the double and the single quote, where they do. */
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

/** What is read as Latin-1 that was sent as UTF-8, such as a header. */
const asLatin1: Encode = text => Buffer.from(text).toString('latin1')

const toPercent: Encode = char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`
const lowerHex: Encode = text => text.replace(/%[0-9A-F]{2}/g, hex => hex.toLowerCase())

/** As we write it, as a URL then holds it in its query (URL Standard, §1.3), and as encoders do that leave fewer signs. */
const percentEncodings = (text: string): string[] => {
  const encoded = encodeURIComponent(text.toWellFormed())
  const strict = encoded.replace(/[!'()*]/g, toPercent)
  const forms = [encoded, encoded.replaceAll("'", '%27'), strict, strict.replaceAll('%20', '+')]
  return [...forms, new URLSearchParams({ s: text }).toString().slice(2)].flatMap(form => [form, lowerHex(form)])
}

/** What every encoder leaves as it is, but for base64; most keys and tokens are of it. */
const NEVER_ENCODED = /^[\w.-]+$/

/** Every way a secret may be written in a request, and in an answer that quotes the request, perhaps twice over. */
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

/** `masked`: the copy, once there is one. */
const overwrite = (bytes: Buffer, pattern: Buffer, masked: Buffer | undefined): Buffer | undefined => {
  let copy = masked
  for (let at = bytes.indexOf(pattern); at !== -1; at = bytes.indexOf(pattern, at + pattern.length)) {
    copy ??= Buffer.from(bytes)
    copy.fill('*', at, at + pattern.length)
  }
  return copy
}

/** `secrets`: plain values; empty ones are no secrets. */
export const createMasker = (secrets: readonly string[]): Masker => {
  const sent = secrets.filter(secret => secret !== '').flatMap(secret => [secret, ...rewrittenForms(secret)])
  const forms = [...new Set(sent.flatMap(formsOf))]
  if (forms.length === 0) return NOTHING_TO_HIDE
  // The longest first: a form inside a longer one must not leave the rest of it readable.
  forms.sort((a, b) => b.length - a.length)
  // These take some kilobytes, and most mounted servers wait for their first call.
  const mayHold = once(() => createMayHold(forms))
  const hide = (text: string, form: string): string => (text.includes(form) ? text.replaceAll(form, MASK) : text)
  // Most servers only ever answer text.
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
