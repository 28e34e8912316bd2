import { gunzipSync } from 'node:zlib'
import { formatBytes } from '../../lib/kernel/format.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'

/** Signatures of files that people give instead of a description, with what to do. */
const OTHER_FILES = [
  ['PK\u0003\u0004', 'It is a zip archive. Unpack it, and give the description inside.'],
  ['%PDF-', 'It is a PDF document. Give the description as JSON or YAML.'],
  ['\u0089PNG', 'It is an image. Give the description as JSON or YAML.'],
  ['\u00ff\u00d8\u00ff', 'It is an image. Give the description as JSON or YAML.'],
  ['7z\u00bc\u00af', 'It is a 7z archive. Unpack it, and give the description inside.'],
  ['BZh', 'It is compressed with bzip2. Unpack it first.'],
  ['(\u00b5/\u00fd', 'It is compressed with zstd. Unpack it first.'],
] as const

const startsWith = (bytes: Uint8Array, signature: string): boolean =>
  [...signature].every((char, index) => bytes[index] === char.charCodeAt(0))

const isTooLong = (error: unknown): boolean =>
  error instanceof Error && Reflect.get(error, 'code') === 'ERR_BUFFER_TOO_LARGE'

const gunzip = (bytes: Uint8Array, maxBytes: number): Result<Uint8Array, string> => {
  try {
    return success(gunzipSync(bytes, { maxOutputLength: maxBytes }))
  } catch (error) {
    if (isTooLong(error)) return failure(`It has more than ${formatBytes(maxBytes)} unpacked.`)
    return failure('It is compressed with gzip, but the file is damaged.')
  }
}

/** The encodings that YAML allows (YAML 1.2 §5.2), by their byte order marks, without UTF-32. */
const encodingOf = (bytes: Uint8Array): string => {
  if (startsWith(bytes, '\u00ff\u00fe')) return 'utf-16le'
  return startsWith(bytes, '\u00fe\u00ff') ? 'utf-16be' : 'utf-8'
}

/**
 * Returns the text of a document, without its byte order mark. Unpacks gzip, to at most `maxBytes`. The error is a
 * sentence that says what the bytes are instead.
 */
export const unpackText = (bytes: Uint8Array, maxBytes: number): Result<string, string> => {
  const isGzip = startsWith(bytes, '\u001f\u008b')
  const unpacked = isGzip ? gunzip(bytes, maxBytes) : success(bytes)
  if (!unpacked.ok) return unpacked
  if (unpacked.value.length > maxBytes) return failure(`It has more than ${formatBytes(maxBytes)}.`)
  const other = OTHER_FILES.find(([signature]) => startsWith(unpacked.value, signature))
  if (other !== undefined) return failure(other[1])
  try {
    const text = new TextDecoder(encodingOf(unpacked.value), { fatal: true }).decode(unpacked.value)
    if (text.includes('\0')) return failure('It is a binary file. Give the description as JSON or YAML.')
    return success(text)
  } catch {
    return failure('It is not text in UTF-8. Give the description as JSON or YAML.')
  }
}
