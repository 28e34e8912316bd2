import { type Problem, tooLargeProblem } from './faults.ts'

/** Maximum bytes buffered for the reader. When it is reached, reading from the socket pauses. */
const MAX_WAITING_BYTES = 256 * 1_024
/**
 * Reading resumes once no more than this is buffered. If it resumed for each chunk, the parser would put the rest of
 * what it has back into the socket's buffer each time, which copies that buffer and lets it grow.
 */
const FEW_WAITING_BYTES = MAX_WAITING_BYTES / 2

const EVENT_ENDS = ['\n\n', '\r\n\r\n', '\r\r'] as const
/** Maximum bytes of an event terminator that can be at the end of one chunk while the rest is in the next chunk. */
const MAX_SPLIT_BYTES = 3

/** Returns where the last event of a chunk ends, or undefined if none does (HTML standard §9.2.6). */
const endOfLastEvent = (chunk: Buffer): number | undefined => {
  const ends = EVENT_ENDS.map(end => {
    const at = chunk.lastIndexOf(end)
    return at === -1 ? -1 : at + end.length
  })
  const last = Math.max(...ends)
  return last === -1 ? undefined : last
}

/** Counts the bytes of the current event. A stream may be endless, but a single event may not. */
export const createEventCounter = () => {
  let bytes = 0
  let tail: Buffer = Buffer.alloc(0)
  return (chunk: Buffer): number => {
    const end = endOfLastEvent(chunk)
    const isSplit = endOfLastEvent(Buffer.concat([tail, chunk.subarray(0, MAX_SPLIT_BYTES)])) !== undefined
    if (end !== undefined) bytes = chunk.length - end
    else bytes = (isSplit ? 0 : bytes) + chunk.length
    tail = chunk.subarray(-MAX_SPLIT_BYTES)
    return bytes
  }
}

export const createByteCounter = () => {
  let bytes = 0
  return (chunk: Buffer): number => {
    bytes += chunk.length
    return bytes
  }
}

export type BodyStreamOptions = {
  host: string
  /** Whether the body is a stream of server-sent events. If so, the size limit applies to each event. */
  isEvents: boolean
  maxBytes: number
  /** Longest silence. */
  idleMs: number
  onIdle: () => void
  pause: () => void
  resume: () => void
  /** Called when the reader cancels the stream. */
  onCancel: () => void
}

/** Creates a stream of a response body, with backpressure. */
export const createBodyStream = (options: BodyStreamOptions) => {
  const { host, isEvents, maxBytes } = options
  const count = isEvents ? createEventCounter() : createByteCounter()
  let isOver = false
  let target: ReadableStreamDefaultController<Uint8Array> | undefined
  const idle = setTimeout(options.onIdle, options.idleMs)
  idle.unref()

  /** Marks the stream as ended. Returns false if it had already ended. */
  const finish = (): boolean => {
    if (isOver) return false
    isOver = true
    clearTimeout(idle)
    return true
  }
  const stream = new ReadableStream<Uint8Array>(
    {
      start: controller => {
        target = controller
      },
      pull: controller => {
        idle.refresh()
        const waitingBytes = MAX_WAITING_BYTES - (controller.desiredSize ?? 0)
        if (waitingBytes <= FEW_WAITING_BYTES) options.resume()
      },
      cancel: () => {
        if (finish()) options.onCancel()
      },
    },
    { highWaterMark: MAX_WAITING_BYTES, size: chunk => chunk?.byteLength ?? 0 },
  )
  return {
    stream,
    /** Adds a chunk. Returns a problem if the size limit is exceeded. The caller must then fail the stream. */
    add: (chunk: Buffer): Problem | undefined => {
      if (isOver || target === undefined) return undefined
      if (count(chunk) > maxBytes) return tooLargeProblem(host, maxBytes)
      idle.refresh()
      target.enqueue(chunk)
      if ((target.desiredSize ?? 0) <= 0) options.pause()
      return undefined
    },
    end: (): void => {
      if (finish()) target?.close()
    },
    fail: (error: unknown): void => {
      if (finish()) target?.error(error)
    },
  }
}
