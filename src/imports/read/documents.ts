import { readFileSync } from 'node:fs'
import { isJsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { MAX_DESCRIPTION_BYTES, MAX_DOCUMENTS } from '../limits.ts'
import { hideQuery, withoutFragment, withoutQuery } from '../source-url.ts'
import { refuseText } from './other-formats.ts'
import { parseText } from './parse-text.ts'
import { unpackText } from './unpack-text.ts'

/**
 * A document as it was given or fetched: JSON or YAML, maybe compressed with gzip. `name` is its URL, or the name of a
 * file, such as `paths/users.yaml`, to which names in the other documents are relative. `path` is where the bytes are:
 * a large document that is sent to a worker would be in memory several times.
 */
export type DescriptionDocument = { name: string } & ({ bytes: Uint8Array } | { path: string })

/** Base URL of file names. Nothing can fetch this scheme. */
const FILE_NAMES = 'file-name:///'

const isFetchable = (url: string): boolean => /^https?:\/\//i.test(url)

const toUrl = (name: string): string =>
  isFetchable(name) && URL.canParse(name)
    ? withoutFragment(name)
    : new URL(encodeURI(name.replaceAll('\\', '/')).replaceAll(/[?#]/g, encodeURIComponent), FILE_NAMES).href

const toName = (url: string): string => {
  if (!url.startsWith(FILE_NAMES)) return url
  const name = url.slice(FILE_NAMES.length)
  try {
    return decodeURIComponent(name)
  } catch {
    // It has a malformed escape.
    return name
  }
}

/**
 * Makes the references of a document absolute, so that they mean the same wherever the value is used. Changes the value.
 */
const makeAbsolute = (value: JsonValue, url: string): void => {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    if (key === '$ref' && typeof member === 'string' && isJsonObject(value)) {
      value[key] = URL.parse(member, url)?.href ?? member
    } else makeAbsolute(member, url)
  }
}

const bytesOf = (document: DescriptionDocument): Uint8Array =>
  'bytes' in document ? document.bytes : readFileSync(document.path)

const readOne = (
  document: DescriptionDocument,
  maxBytes: number,
): Result<{ value: JsonValue; size: number }, string> => {
  const text = unpackText(bytesOf(document), maxBytes)
  if (!text.ok) return text
  const refusal = refuseText(text.value)
  if (refusal !== undefined) return failure(refusal)
  const parsed = parseText(text.value)
  return parsed.ok ? success({ value: parsed.value, size: text.value.length }) : parsed
}

export type Documents = {
  /** The first document. */
  root: JsonValue
  /** The URL of the first document without its query, which may have a token. Undefined if it is a file. */
  rootUrl: string | undefined
  /** Returns the document that a reference points into, and the fragment. Notes documents that are missing. */
  locate: (ref: string) => { document: JsonValue | undefined; isRoot: boolean; fragment: string } | undefined
  /** Returns the names of the documents that were asked for and not given: URLs, or file names. */
  missing: () => readonly string[]
}

/**
 * Reads the documents of a description, of which the first is the main one, up to `maxBytes` in all. The error names the
 * document.
 */
export const readDocuments = (
  given: readonly DescriptionDocument[],
  maxBytes = MAX_DESCRIPTION_BYTES,
): Result<Documents, string> => {
  if (given.length > MAX_DOCUMENTS) return failure(`A description can consist of at most ${MAX_DOCUMENTS} documents.`)
  const values = new Map<string, JsonValue>()
  let room = maxBytes
  for (const document of given) {
    const read = readOne(document, room)
    if (!read.ok) return failure(given.length === 1 ? read.error : `${hideQuery(document.name)}: ${read.error}`)
    room -= read.value.size
    values.set(toUrl(document.name), read.value.value)
  }
  const [first] = given
  const url = first === undefined ? undefined : toUrl(first.name)
  const root = url === undefined ? undefined : values.get(url)
  if (url === undefined || root === undefined) return failure('There is no description.')
  return success(openDocuments(values, { url, root }))
}

const openDocuments = (
  values: ReadonlyMap<string, JsonValue>,
  { url, root }: { url: string; root: JsonValue },
): Documents => {
  const absolute = new Set<string>()
  const missing = new Set<string>()
  return {
    root,
    rootUrl: isFetchable(url) ? withoutQuery(url) : undefined,
    locate: ref => {
      const target = URL.parse(ref, url)
      if (target === null) return undefined
      const fragment = target.hash
      target.hash = ''
      const { href } = target
      if (href === url) return { document: root, isRoot: true, fragment }
      const document = values.get(href)
      if (document === undefined) {
        if (isFetchable(href) || href.startsWith(FILE_NAMES)) missing.add(toName(href))
        return { document: undefined, isRoot: false, fragment }
      }
      if (!absolute.has(href)) makeAbsolute(document, href)
      absolute.add(href)
      return { document, isRoot: false, fragment }
    },
    missing: () => [...missing].sort(),
  }
}
