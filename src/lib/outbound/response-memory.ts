import type { MemoryHolder, MemoryShares, NoMemoryError } from './memory-shares.ts'

/** Responses of at most this size are not counted. The limits on connections bound their memory. */
export const UNCOUNTED_BYTES = 64 * 1_024
/** Factor by which the memory of a response of unknown length grows as it arrives. */
export const GROWTH = 4

/** The memory that one response uses. */
export class ResponseMemory implements MemoryHolder {
  readonly organizationId: string | undefined
  readonly creatorId: string | undefined
  /** Bytes that the response may use, or waits for. */
  bytes = 0
  readonly #shares: MemoryShares
  readonly #toError: (error: NoMemoryError) => unknown
  #waiting: PromiseWithResolvers<void> | undefined

  constructor(
    shares: MemoryShares,
    { organizationId, creatorId }: Pick<MemoryHolder, 'organizationId' | 'creatorId'>,
    toError: (error: NoMemoryError) => unknown,
  ) {
    this.#shares = shares
    this.organizationId = organizationId
    this.creatorId = creatorId
    this.#toError = toError
  }

  /** Returns undefined if the response may use this many bytes now, otherwise a promise. */
  growTo(bytes: number): Promise<void> | undefined {
    const more = bytes - this.bytes
    if (this.#waiting !== undefined || more <= 0) return this.#waiting?.promise
    this.bytes = bytes
    if (this.#shares.take(this, more)) return undefined
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }

  /** Frees the rest, and ends the wait. */
  keepOnly(bytes: number): void {
    this.#waiting = undefined
    this.bytes = Math.min(this.bytes, bytes)
    this.#shares.keepOnly(this, this.bytes)
  }

  onGranted(): void {
    this.#waiting?.resolve()
    this.#waiting = undefined
  }

  onRefused(error: NoMemoryError): void {
    this.#waiting?.reject(this.#toError(error))
    this.#waiting = undefined
  }
}
