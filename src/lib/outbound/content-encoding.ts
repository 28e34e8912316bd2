import type { Transform } from 'node:stream'
import zlib from 'node:zlib'
import { failure, type Result, success } from '../kernel/result.ts'

type Decoder = {
  open: (options: { chunkSize: number }) => Transform
  decodeSync: (raw: Buffer, options: { maxOutputLength: number }) => Buffer
}

const gzip: Decoder = { open: zlib.createGunzip, decodeSync: zlib.gunzipSync }
const zlibDeflate: Decoder = { open: zlib.createInflate, decodeSync: zlib.inflateSync }
const rawDeflate: Decoder = { open: zlib.createInflateRaw, decodeSync: zlib.inflateRawSync }
const brotli: Decoder = { open: zlib.createBrotliDecompress, decodeSync: zlib.brotliDecompressSync }
const zstd: Decoder = { open: zlib.createZstdDecompress, decodeSync: zlib.zstdDecompressSync }

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

/** Size of the pieces in which large bodies are decoded. */
const CHUNK_BYTES = 64 * 1_024

type Decoded = Result<Buffer, 'too_large' | 'corrupt'>

const decodeLarge = async (
  output: AsyncIterator<Buffer>,
  maxBytes: number,
  makeRoom: (bytes: number) => Promise<void> | undefined,
): Promise<Decoded> => {
  const chunks: Buffer[] = []
  let bytes = 0
  for (;;) {
    const next = await output.next().catch(() => undefined)
    if (next === undefined) return failure('corrupt')
    if (next.done === true) return success(Buffer.concat(chunks, bytes))
    bytes += next.value.length
    if (bytes > maxBytes) return failure('too_large')
    await makeRoom(bytes)
    chunks.push(next.value)
  }
}

/**
 * Decodes a body with the encoding from `parseContentEncoding`. Stops as soon as the output exceeds `maxBytes`. If the
 * output may become large, awaits `makeRoom` for its number of bytes, before it is decoded and as it grows.
 */
export const decodeBody = async (
  encoding: string,
  raw: Buffer,
  maxBytes: number,
  makeRoom: (bytes: number) => Promise<void> | undefined,
): Promise<Decoded> => {
  const decoder = DECODERS.get(encoding)?.(raw)
  if (decoder === undefined) return failure('corrupt')
  try {
    const small = decodeSmall(decoder, raw, maxBytes)
    if (small !== undefined) return success(small)
  } catch {
    return failure('corrupt')
  }
  await makeRoom(raw.length)
  const stream = decoder.open({ chunkSize: CHUNK_BYTES })
  try {
    stream.end(raw)
    return await decodeLarge(stream[Symbol.asyncIterator](), maxBytes, makeRoom)
  } finally {
    stream.destroy()
  }
}
