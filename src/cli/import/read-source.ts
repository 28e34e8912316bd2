import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { NO_CREDENTIALS } from '../../imports/import-source.ts'
import { MAX_DESCRIPTION_BYTES } from '../../imports/limits.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { formatBytes } from '../../lib/kernel/format.ts'
import { createTrustedFetch } from '../../lib/outbound/bounded-fetch.ts'
import { OutboundError } from '../../lib/outbound/outbound-request.ts'
import { hasUserInfo } from '../../templates/base-url.ts'
import { codeOf } from '../failure-lines.ts'

/** Stands for standard input in the arguments of a command. */
export const STDIN = '-'

/** Returns whether a source is a URL rather than a file. */
export const isUrl = (source: string): boolean => /^https?:\/\//i.test(source)

const explain = (path: string, error: unknown): AppError => {
  const code = codeOf(error) ?? 'unknown error'
  const reason = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`
  return new AppError('invalid_request', `The file ${path} ${reason}.`)
}

const assertSize = (size: number, source: string): void => {
  if (size <= MAX_DESCRIPTION_BYTES) return
  const name = source === STDIN ? 'The input' : `The file ${source}`
  throw new AppError('payload_too_large', `${name} has more than ${formatBytes(MAX_DESCRIPTION_BYTES)}.`)
}

/** Returns whether a path is that of a file that can be read twice, unlike a pipe. Throws if the file is too large. */
export const isPlainFile = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch((error: unknown) => {
    throw explain(path, error)
  })
  if (found.isDirectory()) throw new AppError('invalid_request', `${path} is a folder, not a file.`)
  assertSize(found.size, path)
  return found.isFile()
}

const FETCH_TIMEOUT_MS = 60_000

/** Fetches a document from this machine, so that it may be on the user's own network. Follows no redirects. */
const fetchSource = async (url: string): Promise<Uint8Array> => {
  if (hasUserInfo(url)) throw new AppError('invalid_request', `The URL ${NO_CREDENTIALS}.`)
  const { fetch, close } = createTrustedFetch({ timeoutMs: FETCH_TIMEOUT_MS, maxResponseBytes: MAX_DESCRIPTION_BYTES })
  try {
    const response = await fetch(url)
    if (response.status === 200) return await response.bytes()
    throw new AppError('invalid_request', `${url} responded with status ${response.status}.`)
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    throw new AppError('unavailable', `${url} cannot be fetched: ${error.message}.`, { cause: error })
  } finally {
    await close()
  }
}

/** Reads a URL, a file or a pipe, or standard input for `-`. Throws `payload_too_large` as soon as the limit is exceeded. */
export const readSource = async (source: string): Promise<Uint8Array> => {
  if (isUrl(source)) return fetchSource(source)
  if (source !== STDIN) await isPlainFile(source)
  const stream: AsyncIterable<Buffer> = source === STDIN ? process.stdin : createReadStream(source)
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of stream) {
      size += chunk.length
      assertSize(size, source)
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof AppError ? error : explain(source, error)
  }
  return Buffer.concat(chunks)
}
