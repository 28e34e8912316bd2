import { parseJson } from '../../lib/kernel/json.ts'
import { MAX_JSON_DEPTH } from '../../lib/kernel/limits.ts'
import { writtenBases, writtenHost } from '../../templates/base-url.ts'

type Encode = (text: string) => string

const inJson: Encode = text => JSON.stringify(text).slice(1, -1)
const escapeUnit: Encode = unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
/** Escapes JSON like encoders that write only ASCII, such as those of Python and PHP. */
const toAscii: Encode = json => json.replace(/[^\x20-\x7e]/g, escapeUnit)
/** Escapes slashes, as PHP does. */
const escapeSlashes: Encode = json => json.replaceAll('/', '\\/')
/** Escapes markup like encoders that make JSON safe for HTML, such as those of Go and Rails. */
const escapeMarkup: Encode = json => json.replace(/[&<>]/g, escapeUnit)
const toUpperHex: Encode = json => json.replace(/\\u[0-9a-f]{4}/g, unit => `\\u${unit.slice(2).toUpperCase()}`)

const HABITS: readonly Encode[] = [escapeMarkup, escapeSlashes, toAscii, toUpperHex]

/** Returns JSON text in every combination of HABITS. Bit `n` of a form's index says whether habit `n` is applied. */
const mixed = (json: string): string[] => {
  const forms = [json]
  for (const habit of HABITS) forms.push(...forms.map(form => habit(form)))
  return forms
}

/**
 * Returns the forms of JSON inside a JSON string. The outer encoder is plain, or has the same habits as the inner one.
 */
const nestedJsonForms = (text: string): string[] =>
  mixed(inJson(text)).flatMap((form, mixture) => {
    const quoted = inJson(form)
    return [quoted, HABITS.reduce((json, habit, bit) => ((mixture >> bit) & 1 ? habit(json) : json), quoted)]
  })

/** The forms in which HTML and XML escapers write a character. */
const HTML_FORMS: Readonly<Record<string, readonly string[]>> = {
  '&': ['&amp;'],
  '<': ['&lt;'],
  '>': ['&gt;'],
  '"': ['&quot;', '&#34;'],
  "'": ['&#39;', '&#039;', '&#x27;', '&apos;'],
  '\t': ['&#9;', '&#x9;', '&#x09;'],
  '\n': ['&#10;', '&#xA;', '&#x0A;'],
  '\r': ['&#13;', '&#xD;', '&#x0D;'],
}

/** Decodes UTF-8 as Latin-1, which happens to headers and to bytes that are searched as Latin-1. */
const asLatin1: Encode = text => Buffer.from(text).toString('latin1')

const toPercent: Encode = char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`

/** Returns the percent-encoded forms: ours, that of a URL query (URL Standard, §1.3), and that of stricter encoders. */
const percentForms = (char: string): string[] => {
  const encoded = encodeURIComponent(char.toWellFormed())
  const forms = [encoded, encoded.replace(/[!'()*]/g, toPercent), new URLSearchParams({ s: char }).toString().slice(2)]
  return forms.flatMap(form => [form, form.replace(/%[0-9A-F]{2}/g, hex => hex.toLowerCase())])
}

/** Characters that every encoder except Base64 leaves unchanged. Most keys and tokens contain no others. */
const NEVER_ENCODED = /^[\w.-]$/

/**
 * Returns every spelling of a character in a request, or in a response that quotes it, possibly
 * escaped twice. Encoders work character by character.
 */
export const spellingsOf = (char: string): readonly string[] => {
  if (NEVER_ENCODED.test(char)) return [char]
  const quoted = [char, ...(HTML_FORMS[char] ?? [])].flatMap(form => [form, ...mixed(inJson(form))])
  // JSON in a URL, a form or a cookie is percent-encoded as a whole.
  const percent = [...percentForms(char), ...percentForms(inJson(char))]
  return [...new Set([...quoted, ...nestedJsonForms(char), ...percent, asLatin1(char)])]
}

/** Minimum length of a Base64 string to search for. Shorter ones are too common. */
const MIN_BASE64_CHARACTERS = 6

/**
 * Returns the part of a string's Base64 form that does not depend on the surrounding text, for each of the three
 * offsets and in both alphabets (RFC 4648).
 */
export const base64Cores = (text: string): string[] =>
  [0, 1, 2].flatMap(offset => {
    const encoded = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]).toString('base64')
    const unpadded = encoded.replace(/=+$/, '')
    const isCut = encoded !== unpadded
    const core = unpadded.slice(offset === 0 ? 0 : offset + 1, isCut ? -1 : undefined)
    return core.length < MIN_BASE64_CHARACTERS ? [] : [core, core.replaceAll('+', '-').replaceAll('/', '_')]
  })

/** Most secrets are not JSON and need not be parsed. */
const JSON_START = /^\s*[[{"\d-]/
/** Rendered forms that are too common in other text to mask. */
const COMMON: ReadonlySet<string> = new Set(['0', 'null'])

/** Returns JSON, and so also a number, as a parameter of such a type renders it. */
const writtenJson = (text: string): string[] => {
  const json = JSON_START.test(text) ? parseJson(text.trim(), MAX_JSON_DEPTH) : undefined
  const written = json?.ok ? JSON.stringify(json.value) : undefined
  return written === undefined || COMMON.has(written) ? [] : [written]
}

/**
 * Returns the other forms that a text may take in a request because the type or place of a parameter converts it: JSON
 * and numbers as they are written again, a base URL, and lower case in a host. Every conversion of a bound value belongs
 * here. None may depend on the text around a secret (`refuseMixedSecret`).
 */
export const rewrittenForms = (text: string): string[] =>
  [...writtenBases(text), ...writtenJson(text), writtenHost(text) ?? text].filter(form => form !== text)
