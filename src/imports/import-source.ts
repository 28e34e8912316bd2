import { AppError } from '../lib/kernel/errors.ts'
import { hasUserInfo, parseHttpUrl } from '../templates/base-url.ts'
import type { ImportKind, ImportSettings } from './import.ts'
import { MAX_DOCUMENTS } from './limits.ts'
import { recognizeDocument } from './read/recognize.ts'
import { withoutFragment } from './source-url.ts'

/** A document that the builder gave. */
export type GivenFile = { name: string; bytes: Uint8Array }

/**
 * What is imported. Without a kind, it is recognized. Of several files, the main one is recognized too; the others are the
 * documents that it refers to, or Postman environments.
 */
export type ImportSource = { kind?: ImportKind | undefined; auth?: ImportSettings['auth'] } & (
  | { text: string }
  | { url: string }
  | { files: readonly GivenFile[] }
)

/** A source whose parts have been checked. */
export type OpenedSource = {
  kind: ImportKind | undefined
  url: string | undefined
  files: readonly GivenFile[]
  /** Name of the main file, if it has one. */
  name: string | undefined
}

const MAX_URL_CHARS = 2_000
const MAX_NAME_CHARS = 500
const PASTED = 'pasted text'

const invalid = (path: string, message: string): AppError =>
  new AppError('invalid_request', 'The source is not valid.', { errors: [{ path, message }] })

/** Sources are fetched without signing in, and their URL is kept and shown. */
export const NO_CREDENTIALS =
  'must not contain a user name or a password: download the source with them, and import the file'

/** Returns the URL without its fragment. Throws `invalid_request`. */
const checkUrl = (text: string): string => {
  if (hasUserInfo(text)) throw invalid('url', NO_CREDENTIALS)
  const url = parseHttpUrl(text.trim())
  if (url === undefined || text.length > MAX_URL_CHARS) {
    throw invalid('url', 'must be an http or https URL such as https://api.example.com/openapi.json')
  }
  return withoutFragment(url.href)
}

const checkFiles = (files: readonly GivenFile[], maxBytes: number): readonly GivenFile[] => {
  if (files.length === 0) throw invalid('files', 'is empty')
  if (files.length > MAX_DOCUMENTS) throw invalid('files', `has more than ${MAX_DOCUMENTS} files`)
  const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  if (size > maxBytes) {
    throw new AppError('payload_too_large', `The source is larger than ${maxBytes} bytes (PATCHBAY_MAX_IMPORT_BYTES).`)
  }
  return files.map(({ name, bytes }) => ({ name: name.slice(0, MAX_NAME_CHARS).toWellFormed(), bytes }))
}

const mainOf = (files: readonly GivenFile[], kind: ImportKind | undefined): GivenFile | undefined =>
  files.find(file => {
    const recognized = recognizeDocument(file)
    return recognized.isMain && (kind ?? recognized.kind) === recognized.kind
  }) ?? files[0]

/** Checks a source before it is read. Throws `invalid_request` or `payload_too_large`. */
export const openSource = (source: ImportSource, maxBytes: number): OpenedSource => {
  const { kind } = source
  if ('url' in source) return { kind, url: checkUrl(source.url), files: [], name: undefined }
  if ('files' in source) {
    const files = checkFiles(source.files, maxBytes)
    const main = mainOf(files, kind)
    return { kind: kind ?? (main && recognizeDocument(main).kind), url: undefined, files, name: main?.name }
  }
  const files = checkFiles([{ name: PASTED, bytes: Buffer.from(source.text) }], maxBytes)
  const [file] = files
  return { kind: kind ?? (file && recognizeDocument(file).kind), url: undefined, files, name: undefined }
}
