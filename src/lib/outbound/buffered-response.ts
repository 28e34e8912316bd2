import { decodeBody, parseContentEncoding } from './content-encoding.ts'
import type { ResponseHead } from './dispatch.ts'
import { noMemoryProblem, type Problem, tooLargeProblem } from './faults.ts'
import type { MemoryShares } from './memory-shares.ts'
import type { OutboundRequest, OutboundResponse } from './outbound-request.ts'
import type { PreparedRequest } from './prepared-request.ts'
import { GROWTH, ResponseMemory, UNCOUNTED_BYTES } from './response-memory.ts'
import { type ResponseReceiver, type StreamOptions, streamResponse } from './stream-response.ts'

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
class BodyCollector {
  /**
   * The body, in memory that threads can read without copying. Its length is that of Content-Length, which the HTTP
   * parser enforces.
   */
  #assembled: Buffer | undefined
  #only: Buffer | undefined
  #chunks: Buffer[] | undefined
  #bytes = 0

  assemble(length: number): void {
    this.#assembled = Buffer.from(new SharedArrayBuffer(length))
  }

  /** Adds a chunk, and returns the number of bytes so far. */
  add(chunk: Buffer): number {
    if (this.#assembled !== undefined) this.#assembled.set(chunk, this.#bytes)
    else if (this.#only === undefined) this.#only = chunk
    else if (this.#chunks === undefined) this.#chunks = [this.#only, chunk]
    else this.#chunks.push(chunk)
    this.#bytes += chunk.length
    return this.#bytes
  }

  body(): Buffer {
    if (this.#assembled !== undefined) return this.#assembled
    return this.#chunks === undefined ? (this.#only ?? Buffer.alloc(0)) : Buffer.concat(this.#chunks, this.#bytes)
  }
}

export type BufferOptions = Omit<StreamOptions, 'mayRetry' | 'abortError'> & {
  /** After decompression. */
  maxResponseBytes: number
  memory: MemoryShares | undefined
  releases: OutboundRequest['releases']
}

/** The controls of a response's stream. */
type Stream = {
  readonly creatorId: string | undefined
  pause: () => void
  resume: () => void
  cut: (error: unknown) => void
}

/** Steps in which the memory of a response grows as it is decoded, in bytes. */
const DECODED_STEP = 256 * 1_024

const NO_HEAD: ResponseHead = { status: 0, statusText: '', headers: {} }

/** Collects and decodes a response. Checks the limits as early as possible. */
class BufferedResponse implements ResponseReceiver {
  /** Set before the response begins. */
  stream: Stream | undefined
  readonly #prepared: PreparedRequest
  readonly #options: BufferOptions
  readonly #resolve: (response: OutboundResponse) => void
  readonly #reject: (error: unknown) => void
  readonly #collector = new BodyCollector()
  #head: ResponseHead = NO_HEAD
  #encoding: string | undefined
  #memory: ResponseMemory | undefined

  constructor(
    prepared: PreparedRequest,
    options: BufferOptions,
    resolve: (response: OutboundResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#prepared = prepared
    this.#options = options
    this.#resolve = resolve
    this.#reject = reject
  }

  fail(error: unknown): void {
    this.#memory?.keepOnly(0)
    this.#reject(error)
  }

  start(head: ResponseHead): Problem | undefined {
    this.#head = head
    const { method, target } = this.#prepared
    const { maxResponseBytes } = this.#options
    if (hasNoBody(method, head.status)) return undefined
    const parsed = parseContentEncoding(head.headers['content-encoding'])
    if (!parsed.ok) return badEncoding(target.host, parsed.error)
    this.#encoding = parsed.value
    const length = Number(head.headers['content-length'])
    if (length > maxResponseBytes) return tooLargeProblem(target.host, maxResponseBytes)
    if (length > UNCOUNTED_BYTES) this.#waitFor(length)
    if (length >= ASSEMBLED_BYTES && parsed.value === undefined) this.#collector.assemble(length)
    return undefined
  }

  add(chunk: Buffer): Problem | undefined {
    const { maxResponseBytes } = this.#options
    const bytes = this.#collector.add(chunk)
    if (bytes > maxResponseBytes) return tooLargeProblem(this.#prepared.target.host, maxResponseBytes)
    if (bytes > (this.#memory?.bytes ?? UNCOUNTED_BYTES)) this.#waitFor(Math.min(bytes * GROWTH, maxResponseBytes))
    return undefined
  }

  /** Pauses the stream until the response may use this much memory. */
  #waitFor(bytes: number): void {
    const { stream } = this
    const granted = this.#makeRoom(bytes)
    if (granted === undefined) return
    const startedMs = performance.now()
    const noteWait = (): void => this.#options.trace?.addWait(performance.now() - startedMs)
    stream?.pause()
    granted.then(
      () => {
        noteWait()
        stream?.resume()
      },
      error => {
        noteWait()
        stream?.cut(error)
      },
    )
  }

  /** Returns undefined if the response may use this much memory now. Rejects with an error for the caller. */
  #makeRoom(bytes: number): Promise<void> | undefined {
    const { memory, organizationId, toError } = this.#options
    if (memory === undefined) return undefined
    const { host } = this.#prepared.target
    const owner = { organizationId, creatorId: this.stream?.creatorId }
    this.#memory ??= new ResponseMemory(memory, owner, error => toError(noMemoryProblem(error, host)))
    return this.#memory.growTo(bytes)
  }

  end(): void {
    const raw = this.#collector.body()
    if (this.#encoding === undefined || raw.length === 0) this.#succeed(raw)
    else void this.#decodeOrFail(this.#encoding, raw)
  }

  async #decodeOrFail(encoding: string, raw: Buffer): Promise<void> {
    try {
      await this.#decode(encoding, raw)
    } catch (error) {
      this.fail(error)
    }
  }

  async #decode(encoding: string, raw: Buffer): Promise<void> {
    const { maxResponseBytes, toError, trace } = this.#options
    const { host } = this.#prepared.target
    const startedMs = performance.now()
    const makeRoom = (bytes: number): Promise<void> | undefined => {
      const { length } = raw
      const isEnough = length + bytes <= (this.#memory?.bytes ?? 0)
      return isEnough ? undefined : this.#makeRoom(length + Math.min(bytes + DECODED_STEP, maxResponseBytes))
    }
    const decoded = await decodeBody(encoding, raw, maxResponseBytes, makeRoom)
    trace?.add('receiving', performance.now() - startedMs)
    if (decoded.ok) this.#succeed(decoded.value)
    else if (decoded.error === 'too_large') this.fail(toError(tooLargeProblem(host, maxResponseBytes)))
    else this.fail(toError(badEncoding(host, `a broken ${encoding} body`)))
  }

  #succeed(body: Buffer): void {
    const { status, statusText, headers } = this.#head
    const memory = this.#memory
    const { releases } = this.#options
    memory?.keepOnly(releases === undefined || body.length <= UNCOUNTED_BYTES ? 0 : body.length)
    if (memory !== undefined) releases?.add(() => memory.keepOnly(0))
    this.#resolve({ status, statusText, headers, body, url: this.#prepared.target.url })
  }
}

/** Sends one request and returns the complete, decoded response. */
export const fetchBuffered = (prepared: PreparedRequest, options: BufferOptions): Promise<OutboundResponse> =>
  new Promise((resolve, reject) => {
    const { dispatch, organizationId, timeoutMs, bodyIdleMs, signal, trace, toError } = options
    const receiver = new BufferedResponse(prepared, options, resolve, reject)
    // A request with a shorter timeout needs no idle timeout, whose timer would outlive the response.
    const idleMs = timeoutMs > bodyIdleMs ? bodyIdleMs : 0
    const streaming: StreamOptions = {
      dispatch,
      organizationId,
      mayRetry: true,
      bodyIdleMs: idleMs,
      timeoutMs,
      signal,
      trace,
      toError,
    }
    receiver.stream = streamResponse(prepared, streaming, receiver)
  })
