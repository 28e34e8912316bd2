import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { GptEncoding } from 'gpt-tokenizer/GptEncoding'

// The encoding of tokens.ts, made from the package's data: its module of the same content is an array of 200,000 texts,
// and parsing that takes 35 MB that the process does not get back.

/** Each token's bytes in base64, a space, and its rank, a line. */
const FILE = createRequire(import.meta.url).resolve('gpt-tokenizer/data/o200k_base.tiktoken')

const BYTE_ORDER_MARK = Buffer.from('\uFEFF')

/** As the package has it: a token is a text unless it is a part of a character, or begins with what decoders leave out. */
const readToken = (base64: string): string | readonly number[] => {
  const bytes = Buffer.from(base64, 'base64')
  const isText = isUtf8(bytes) && !bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
  return isText ? bytes.toString() : [...bytes]
}

/** The tokens by rank. */
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

/** Of TOKEN_ENCODING. */
export const encoding = GptEncoding.getEncodingApi('o200k_base', () => ranks)
