import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { GptEncoding } from 'gpt-tokenizer/GptEncoding'

// The encoding is built from the package's data file. The package's own module is an array of 200,000 strings, and
// parsing it takes 35 MB that is never freed.

/** One token per line: its bytes in Base64, a space, and its rank. */
const FILE = createRequire(import.meta.url).resolve('gpt-tokenizer/data/o200k_base.tiktoken')

const BYTE_ORDER_MARK = Buffer.from('\uFEFF')

/** Reads a token as the package does: as text, unless it is part of a character or starts with a byte order mark. */
const readToken = (base64: string): string | readonly number[] => {
  const bytes = Buffer.from(base64, 'base64')
  const isText = isUtf8(bytes) && !bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
  return isText ? bytes.toString() : [...bytes]
}

/** Returns the tokens by rank. */
const readRanks = (file: string): (string | readonly number[])[] => {
  const ranks: (string | readonly number[])[] = []
  for (let start = 0; start < file.length; ) {
    const space = file.indexOf(' ', start)
    const end = file.indexOf('\n', space)
    ranks[Number(file.slice(space, end))] = readToken(file.slice(start, space))
    start = end + 1
  }
  return ranks
}

const ranks = readRanks(await readFile(FILE, 'latin1'))

/** The encoder for TOKEN_ENCODING. */
export const encoding = GptEncoding.getEncodingApi('o200k_base', () => ranks)
