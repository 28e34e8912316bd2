import { decodeBody, parseContentEncoding } from './content-encoding.ts'
import type { ResponseHead } from './dispatch.ts'
import { abortProblem, type Problem, tooLargeProblem } from './faults.ts'
import type { OutboundResponse } from './outbound-request.ts'
import type { PreparedRequest } from './prepared-request.ts'
import { type StreamOptions, streamResponse } from './stream-response.ts'

const hasNoBody = (method: string, status: number): boolean => method === 'HEAD' || status === 204 || status === 304

const badEncoding = (host: string, what: string): Problem => ({
  fault: 'encoding',
  text: `${host} responded with ${what}; turn compression off there`,
})

/**
 * Responses with a known length of at least this size are assembled as they arrive, because copying 10 MB at once
 * blocks the event loop.
 */
const ASSEMBLED_BYTES = 1_024 * 1_024

/** Collects the chunks of a body. */
const createCollector = () => {
  /**
   * The body, in memory that threads can read without copying. Its length is that of Content-Length, which the HTTP
   * parser enforces.
   */
  let assembled: Buffer | undefined
  let only: Buffer | undefined
  let chunks: Buffer[] | undefined
  let bytes = 0
  return {
    assemble: (length: number): void => {
      assembled = Buffer.from(new SharedArrayBuffer(length))
    },
    /** Adds a chunk, and returns the number of bytes so far. */
    add: (chunk: Buffer): number => {
      if (assembled !== undefined) assembled.set(chunk, bytes)
      else if (only === undefined) only = chunk
      else if (chunks === undefined) chunks = [only, chunk]
      else chunks.push(chunk)
      bytes += chunk.length
      return bytes
    },
    body: (): Buffer => assembled ?? (chunks === undefined ? (only ?? Buffer.alloc(0)) : Buffer.concat(chunks, bytes)),
  }
}

export type BufferOptions = Omit<StreamOptions, 'mayRetry' | 'abortError'> & {
  /** After decompression. */
  maxResponseBytes: number
}

/** Sends one request and returns the complete, decoded response. Limits are checked as early as possible. */
export const fetchBuffered = (
  prepared: PreparedRequest,
  { maxResponseBytes: maxBytes, ...options }: BufferOptions,
): Promise<OutboundResponse> =>
  new Promise((resolve, reject) => {
    const { toError, timeoutMs, bodyIdleMs } = options
    const { host, url } = prepared.target
    const collector = createCollector()
    let head: ResponseHead = { status: 0, statusText: '', headers: {} }
    let encoding: string | undefined

    const start = (received: ResponseHead): Problem | undefined => {
      head = received
      if (hasNoBody(prepared.method, head.status)) return undefined
      const parsed = parseContentEncoding(head.headers['content-encoding'])
      if (!parsed.ok) return badEncoding(host, parsed.error)
      encoding = parsed.value
      const length = Number(head.headers['content-length'])
      if (length > maxBytes) return tooLargeProblem(host, maxBytes)
      if (length >= ASSEMBLED_BYTES && encoding === undefined) collector.assemble(length)
      return undefined
    }
    const decode = async (name: string, raw: Buffer): Promise<void> => {
      const decoded = await decodeBody(name, raw, maxBytes)
      if (decoded.ok) resolve({ ...head, body: decoded.value, url })
      else if (decoded.error === 'too_large') reject(toError(tooLargeProblem(host, maxBytes)))
      else reject(toError(badEncoding(host, `a broken ${name} body`)))
    }
    streamResponse(
      prepared,
      {
        ...options,
        mayRetry: true,
        // A request with a shorter timeout needs no idle timeout, whose timer would outlive the response.
        bodyIdleMs: timeoutMs > bodyIdleMs ? bodyIdleMs : 0,
        abortError: () => toError(abortProblem),
      },
      {
        start,
        add: chunk => (collector.add(chunk) > maxBytes ? tooLargeProblem(host, maxBytes) : undefined),
        end: () => {
          const raw = collector.body()
          if (encoding === undefined || raw.length === 0) resolve({ ...head, body: raw, url })
          else void decode(encoding, raw)
        },
        fail: reject,
      },
    )
  })
