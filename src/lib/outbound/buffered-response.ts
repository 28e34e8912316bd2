import { decodeBody, parseContentEncoding } from './content-encoding.ts'
import type { OutboundDispatcher, ResponseHead } from './dispatch.ts'
import { abortProblem, type Problem, type ToError, timeoutProblem, tooLargeProblem } from './faults.ts'
import type { OutboundRequest, OutboundResponse } from './outbound-request.ts'
import type { PreparedRequest } from './prepared-request.ts'
import type { Target } from './target.ts'

const ONCE = { once: true }

/** Calls `stop` after the timeout or when the signal aborts, unless the function that it returns is called before. */
export const armStop = (
  timeoutMs: number,
  signal: OutboundRequest['signal'],
  stop: (why: 'timeout' | 'aborted') => void,
): (() => void) => {
  const timer = setTimeout(stop, Math.max(1, timeoutMs), 'timeout')
  timer.unref()
  if (signal === undefined) return () => clearTimeout(timer)
  const onAbort = () => stop('aborted')
  signal.addEventListener('abort', onAbort, ONCE)
  return () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

const hasNoBody = (method: string, status: number): boolean => method === 'HEAD' || status === 204 || status === 304

const badEncoding = (host: string, what: string): Problem => ({
  fault: 'encoding',
  text: `${host} responded with ${what}; turn compression off there`,
})

/** Responses of a known length from this size on are assembled while they arrive: copying 10 MB at once blocks the event loop. */
const ASSEMBLED_BYTES = 1_024 * 1_024

/** Collects the chunks of a body. */
const createCollector = () => {
  /** The body, in memory that threads can read in place. Its length is that of the header, which HTTP's parser enforces. */
  let assembled: Buffer | undefined
  let only: Buffer | undefined
  let chunks: Buffer[] | undefined
  let bytes = 0
  return {
    assemble: (length: number): void => {
      assembled = Buffer.from(new SharedArrayBuffer(length))
    },
    /** Returns the number of bytes so far. */
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

/** Buffers one response, decoded. Limits are checked as early as possible, so that the rest is never read. */
const createBufferedResponse = (method: string, { host, url }: Target, maxBytes: number) => {
  const collector = createCollector()
  let head: ResponseHead = { status: 0, statusText: '', headers: {} }
  let encoding: string | undefined

  return {
    /** Returns why the response is refused, if it is. */
    start: (newHead: ResponseHead): Problem | undefined => {
      head = newHead
      const { status, headers } = head
      if (hasNoBody(method, status)) return undefined
      const parsed = parseContentEncoding(headers['content-encoding'])
      if (!parsed.ok) return badEncoding(host, parsed.error)
      encoding = parsed.value
      const length = Number(headers['content-length'])
      if (length > maxBytes) return tooLargeProblem(host, maxBytes)
      if (length >= ASSEMBLED_BYTES && encoding === undefined) collector.assemble(length)
      return undefined
    },
    add: (chunk: Buffer): Problem | undefined =>
      collector.add(chunk) > maxBytes ? tooLargeProblem(host, maxBytes) : undefined,
    /** Returns the response, or a promise of it if it must be decoded. */
    finish: (): OutboundResponse | Promise<OutboundResponse | Problem> => {
      const { status, statusText, headers } = head
      const raw = collector.body()
      if (encoding === undefined || raw.length === 0) return { status, statusText, headers, body: raw, url }
      const name = encoding
      return decodeBody(name, raw, maxBytes).then(decoded => {
        if (decoded.ok) return { status, statusText, headers, body: decoded.value, url }
        return decoded.error === 'too_large'
          ? tooLargeProblem(host, maxBytes)
          : badEncoding(host, `a broken ${name} body`)
      })
    },
  }
}

export type BufferOptions = {
  dispatch: OutboundDispatcher['dispatch']
  bodyIdleMs: number
  /** Time left for the request. */
  timeoutMs: number
  /** After decompression. */
  maxResponseBytes: number
  signal: OutboundRequest['signal']
  toError: ToError
}

/** Sends one request and returns the complete response. */
export const fetchBuffered = (
  { target, method, headers, body }: PreparedRequest,
  { dispatch, bodyIdleMs, timeoutMs, maxResponseBytes, signal, toError }: BufferOptions,
): Promise<OutboundResponse> =>
  new Promise((resolve, reject) => {
    const { host, origin, path } = target
    const response = createBufferedResponse(method, target, maxResponseBytes)
    const settle = (outcome: OutboundResponse | Problem): void => {
      disarm()
      if ('fault' in outcome) reject(toError(outcome))
      else resolve(outcome)
    }
    const cut = (problem: Problem): void => {
      settle(problem)
      call.abort()
    }
    const request = {
      origin,
      host,
      method,
      path,
      headers,
      body: body ?? null,
      mayRetry: true,
      // A request that ends sooner anyway needs no idle timeout: each is a timer that outlives the response.
      bodyIdleMs: timeoutMs > bodyIdleMs ? bodyIdleMs : 0,
      upgrade: null,
    }
    const call = dispatch(request, {
      onHead: head => {
        const refusal = response.start(head)
        if (refusal !== undefined) cut(refusal)
      },
      onData: chunk => {
        const refusal = response.add(chunk)
        if (refusal !== undefined) cut(refusal)
      },
      onEnd: () => {
        const outcome = response.finish()
        if (outcome instanceof Promise) void outcome.then(settle)
        else settle(outcome)
      },
      onFault: settle,
    })
    const disarm = armStop(timeoutMs, signal, why =>
      cut(why === 'timeout' ? timeoutProblem(host, call.phase()) : abortProblem),
    )
    call.start()
  })
