import { createByteCounter, createEventCounter } from './body-stream.ts'
import type { MemoryHolder, MemoryShares, NoMemoryError } from './memory-shares.ts'
import { GROWTH, ResponseMemory, UNCOUNTED_BYTES } from './response-memory.ts'

export type CountedBodyOptions = {
  memory: MemoryShares
  owner: Pick<MemoryHolder, 'organizationId' | 'creatorId'>
  /** Whether the body is a stream of server-sent events. If so, each event is counted until it is complete. */
  isEvents: boolean
  /** Undefined if it is not known. */
  contentLength: number | undefined
  maxBytes: number
  toError: (error: NoMemoryError) => unknown
}

/**
 * Counts the memory of a body that is read as a whole, or of each event in it. Reading waits until there is enough. The
 * memory is free again once the reader had the time to handle what it read.
 */
export const countBody = (
  body: ReadableStream<Uint8Array>,
  { memory: shares, owner, isEvents, contentLength, maxBytes, toError }: CountedBodyOptions,
): ReadableStream<Uint8Array> => {
  const memory = new ResponseMemory(shares, owner, toError)
  const count = isEvents ? createEventCounter() : createByteCounter()
  const reader = body.getReader()
  let bytes = 0

  const release = (): void => memory.keepOnly(0)
  const makeRoom = (): Promise<void> | undefined => {
    if (bytes <= Math.max(memory.bytes, UNCOUNTED_BYTES)) return undefined
    return memory.growTo(isEvents || contentLength === undefined ? Math.min(bytes * GROWTH, maxBytes) : contentLength)
  }
  const releaseEvent = (): void => {
    if (bytes <= UNCOUNTED_BYTES) release()
  }
  return new ReadableStream<Uint8Array>(
    {
      start: controller => {
        // The response may break while it waits for memory.
        const fail = (error: unknown): void => {
          release()
          controller.error(error)
        }
        reader.closed.then(() => setImmediate(release), fail)
      },
      pull: async controller => {
        try {
          const { done, value } = await reader.read()
          if (done) return controller.close()
          bytes = count(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
          await makeRoom()
          controller.enqueue(value)
          if (isEvents && memory.bytes > 0 && bytes <= UNCOUNTED_BYTES) setImmediate(releaseEvent)
        } catch (error) {
          controller.error(error)
          await reader.cancel(error).catch(() => undefined)
        }
      },
      cancel: reason => {
        release()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
