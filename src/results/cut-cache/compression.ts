import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'

const compressBytes = promisify(zstdCompress)
const decompressBytes = promisify(zstdDecompress)

const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 } }

/** Zstandard (RFC 8878) with a checksum, off the event loop. */
export const compress = async (content: Buffer): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await compressBytes(content, OPTIONS))

/** undefined: it was altered, or is larger than `maxBytes`. */
export const decompress = (content: Uint8Array, maxBytes: number): Promise<Buffer | undefined> =>
  decompressBytes(content, { maxOutputLength: maxBytes }).catch(() => undefined)
