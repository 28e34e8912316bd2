import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { failure, type Result, success } from '../kernel/result.ts'

type DecodeOptions = { maxOutputLength: number }
type Decoder = {
  decode: (raw: Buffer, options: DecodeOptions) => Promise<Buffer>
  decodeSync: (raw: Buffer, options: DecodeOptions) => Buffer
}

const gzip: Decoder = { decode: promisify(zlib.gunzip), decodeSync: zlib.gunzipSync }
const zlibDeflate: Decoder = { decode: promisify(zlib.inflate), decodeSync: zlib.inflateSync }
const rawDeflate: Decoder = { decode: promisify(zlib.inflateRaw), decodeSync: zlib.inflateRawSync }
const brotli: Decoder = { decode: promisify(zlib.brotliDecompress), decodeSync: zlib.brotliDecompressSync }
const zstd: Decoder = { decode: promisify(zlib.zstdDecompress), decodeSync: zlib.zstdDecompressSync }

/**
 * `deflate` means the zlib format (RFC 9110 §8.4.1.2), but some servers send a raw deflate stream,
 * which starts differently.
 */
const deflateOf = (raw: Buffer): Decoder => (((raw[0] ?? 0) & 0x0f) === 8 ? zlibDeflate : rawDeflate)

const DECODERS: ReadonlyMap<string, (raw: Buffer) => Decoder> = new Map([
  ['gzip', () => gzip],
  ['x-gzip', () => gzip],
  ['deflate', deflateOf],
  ['br', () => brotli],
  ['zstd', () => zstd],
])

/** Value of Accept-Encoding unless the tool sets one. Every server that compresses supports one of these encodings. */
export const ACCEPTED_ENCODINGS = 'gzip, br'

/**
 * Parses Content-Encoding. Returns undefined if the body is not encoded. Refuses stacked encodings, because no
 * reasonable API uses them and each layer multiplies the size to which a small response can expand.
 */
export const parseContentEncoding = (header: string | string[] | undefined): Result<string | undefined, string> => {
  if (header === undefined) return success(undefined)
  const names = String(header)
    .toLowerCase()
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '' && name !== 'identity')
  const [name] = names
  if (name === undefined) return success(undefined)
  if (names.length > 1) return failure('several Content-Encodings applied in sequence')
  return DECODERS.has(name) ? success(name) : failure('an unknown Content-Encoding')
}

/**
 * Small bodies are decoded synchronously, for a third of the cost of a thread. Larger ones would block the event loop.
 */
const MAX_SYNC_ENCODED_BYTES = 8 * 1_024
const MAX_SYNC_DECODED_BYTES = 64 * 1_024

const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'

const decodeSmall = (decoder: Decoder, raw: Buffer, maxBytes: number): Buffer | undefined => {
  if (raw.length > MAX_SYNC_ENCODED_BYTES) return undefined
  try {
    return decoder.decodeSync(raw, { maxOutputLength: Math.min(maxBytes, MAX_SYNC_DECODED_BYTES) })
  } catch (error) {
    if (isTooLarge(error)) return undefined
    throw error
  }
}

/**
 * Decodes a body with the encoding from `parseContentEncoding`. Stops as soon as the output exceeds `maxBytes`. Awaits
 * `makeRoom` before it decodes a body that may become large.
 */
export const decodeBody = async (
  encoding: string,
  raw: Buffer,
  maxBytes: number,
  makeRoom: () => Promise<void>,
): Promise<Result<Buffer, 'too_large' | 'corrupt'>> => {
  const decoder = DECODERS.get(encoding)?.(raw)
  if (decoder === undefined) return failure('corrupt')
  const attempt = async <Decoded>(
    decode: () => Decoded,
  ): Promise<Result<Awaited<Decoded>, 'too_large' | 'corrupt'>> => {
    try {
      return success(await decode())
    } catch (error) {
      return failure(isTooLarge(error) ? 'too_large' : 'corrupt')
    }
  }
  const small = await attempt(() => decodeSmall(decoder, raw, maxBytes))
  if (!small.ok) return small
  if (small.value !== undefined) return success(small.value)
  await makeRoom()
  return attempt(() => decoder.decode(raw, { maxOutputLength: maxBytes }))
}
