import { closeSync, openSync, readSync } from 'node:fs'
import { constants, gunzipSync } from 'node:zlib'
import type { ImportKind } from '../import.ts'
import type { DescriptionDocument } from './documents.ts'

/** The start of a document, which says what it is. Reading all of it would take memory that its parser needs. */
const PREFIX_BYTES = 256 * 1_024
/** Gzip makes data up to a thousand times smaller. */
const GZIP_PREFIX_BYTES = 16 * 1_024

/** `isMain` is whether a document can stand for the whole source. Others are parts of one, or Postman environments. */
export type RecognizedDocument = { kind: ImportKind; isMain: boolean }

const readPrefix = (document: DescriptionDocument): Uint8Array => {
  if ('bytes' in document) return document.bytes.subarray(0, PREFIX_BYTES)
  const file = openSync(document.path, 'r')
  try {
    const bytes = new Uint8Array(PREFIX_BYTES)
    return bytes.subarray(0, readSync(file, bytes))
  } finally {
    closeSync(file)
  }
}

const unpackPrefix = (bytes: Uint8Array): Uint8Array => {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return gunzipSync(bytes.subarray(0, GZIP_PREFIX_BYTES), { finishFlush: constants.Z_SYNC_FLUSH })
  } catch {
    // It is damaged, as its reader will say.
    return new Uint8Array()
  }
}

/** Returns the keys of the outermost object, as far as JSON text goes. */
const topLevelKeys = (text: string): ReadonlySet<string> => {
  const keys = new Set<string>()
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    if (char !== '"') continue
    const start = at + 1
    for (at = start; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++
    if (depth === 1 && /^"\s*:/.test(text.slice(at, at + 20))) keys.add(text.slice(start, at))
  }
  return keys
}

/** Returns whether the first line that is not empty or a comment runs curl. */
const startsWithCurl = (text: string): boolean => {
  const line = text.split('\n').find(one => one.trim() !== '' && !one.trimStart().startsWith('#')) ?? ''
  return /^(?:\$ ?)?curl(?:\.exe)?\s/.test(line.trimStart())
}

const recognizeJson = (text: string): RecognizedDocument => {
  const keys = topLevelKeys(text)
  const isOpenapi = keys.has('openapi') || keys.has('swagger')
  if (isOpenapi || keys.has('paths')) return { kind: 'openapi', isMain: isOpenapi }
  if (keys.has('log')) return { kind: 'har', isMain: true }
  if (keys.has('item') || keys.has('collection') || keys.has('requests')) return { kind: 'postman', isMain: true }
  if (keys.has('values') || keys.has('environment')) return { kind: 'postman', isMain: false }
  return { kind: keys.has('info') && text.includes('getpostman.com') ? 'postman' : 'openapi', isMain: keys.has('info') }
}

/** Recognizes the kind of a document by how it starts. What it cannot recognize is for the reader of API descriptions. */
export const recognizeDocument = (document: DescriptionDocument): RecognizedDocument => {
  const text = new TextDecoder().decode(unpackPrefix(readPrefix(document)))
  if (/^\s*\{/.test(text)) return recognizeJson(text)
  if (startsWithCurl(text)) return { kind: 'curl', isMain: true }
  return { kind: 'openapi', isMain: /^["']?(?:openapi|swagger)["']?\s*:/m.test(text) }
}
