import { decodeBody, parseContentEncoding } from './content-encoding.ts'
import { type Problem, tooLargeProblem } from './faults.ts'
import type { OutboundResponse } from './http-client.ts'
import type { Target } from './target.ts'

export type ResponseHeaders = Record<string, string | string[]>

const hasNoBody = (method: string, status: number): boolean => method === 'HEAD' || status === 204 || status === 304

const badEncoding = (host: string, what: string): Problem => ({
  fault: 'encoding',
  text: `${host} answered with ${what}; have it answer without compression`,
})

/** Answers of a known length from here on are put together while they arrive: copied at once, 10 MB hold the event loop. */
const GATHERED_BYTES = 1_024 * 1_024

/** Puts chunks where they belong in the whole, which threads can read in place. Its length is kept to by HTTP's parser. */
const gather = (length: number) => {
  const body = Buffer.from(new SharedArrayBuffer(length))
  let end = 0
  return {
    body,
    add: (chunk: Buffer): void => {
      body.set(chunk, end)
      end += chunk.length
    },
  }
}

/** Collects one answer. What breaks a limit is returned at once, so that the rest is never read. */
export const createAnswer = (method: string, { host, url }: Target, maxBytes: number) => {
  let status = 0
  let statusText = ''
  let headers: ResponseHeaders = {}
  let encoding: string | undefined
  let receivedBytes = 0
  let only: Buffer | undefined
  let chunks: Buffer[] | undefined
  let gathered: ReturnType<typeof gather> | undefined

  const raw = (): Buffer => {
    if (gathered !== undefined) return gathered.body
    return chunks === undefined ? (only ?? Buffer.alloc(0)) : Buffer.concat(chunks, receivedBytes)
  }

  return {
    start: (newStatus: number, newStatusText: string, newHeaders: ResponseHeaders): Problem | undefined => {
      status = newStatus
      statusText = newStatusText
      headers = newHeaders
      if (hasNoBody(method, status)) return undefined
      const parsed = parseContentEncoding(headers['content-encoding'])
      if (!parsed.ok) return badEncoding(host, parsed.error)
      encoding = parsed.value
      const length = Number(headers['content-length'])
      if (length > maxBytes) return tooLargeProblem(host, maxBytes)
      if (length >= GATHERED_BYTES && encoding === undefined) gathered = gather(length)
      return undefined
    },
    add: (chunk: Buffer): Problem | undefined => {
      receivedBytes += chunk.length
      if (receivedBytes > maxBytes) return tooLargeProblem(host, maxBytes)
      if (gathered !== undefined) gathered.add(chunk)
      else if (only === undefined) only = chunk
      else if (chunks === undefined) chunks = [only, chunk]
      else chunks.push(chunk)
      return undefined
    },
    /** Whether `decoded` has anything to do; if not, `whole` has the answer. */
    isEncoded: (): boolean => encoding !== undefined && receivedBytes > 0,
    whole: (): OutboundResponse => ({ status, statusText, headers, body: raw(), url }),
    decoded: async (): Promise<OutboundResponse | Problem> => {
      const decoded = await decodeBody(encoding ?? '', raw(), maxBytes)
      if (decoded.ok) return { status, statusText, headers, body: decoded.value, url }
      if (decoded.error === 'too_large') return tooLargeProblem(host, maxBytes)
      return badEncoding(host, `a broken ${encoding} body`)
    },
  }
}
