import { type Problem, tooLargeProblem } from './faults.ts'

/** Bytes of an answer that wait for their reader; above it the socket is read no further until they are taken. */
const MAX_WAITING_BYTES = 256 * 1_024

const EVENT_ENDS = ['\n\n', '\r\n\r\n', '\r\r'] as const
/** The longest end of an event but for its last byte: what a chunk may have left of one. */
const MAX_SPLIT_BYTES = 3

/** Where the last event that ends in the chunk ends; `undefined` when none does (HTML standard §9.2.6). */
const endOfLastEvent = (chunk: Buffer): number | undefined => {
  const ends = EVENT_ENDS.map(end => {
    const at = chunk.lastIndexOf(end)
    return at === -1 ? -1 : at + end.length
  })
  const last = Math.max(...ends)
  return last === -1 ? undefined : last
}

/** Counts the bytes of the event that is under way: a stream may go on without end, none of its events may. */
const createEventCounter = () => {
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

const createByteCounter = () => {
  let bytes = 0
  return (chunk: Buffer): number => {
    bytes += chunk.length
    return bytes
  }
}

export type BodyStreamOptions = {
  host: string
  /** Server-sent events: without end, so that each event is bounded in place of the whole. */
  isEvents: boolean
  maxBytes: number
  /** Silence after which the body is given up. */
  idleMs: number
  onIdle: () => void
  pause: () => void
  resume: () => void
  /** The reader wants no more. */
  onCancel: () => void
}

/** The body of an answer as a stream that is read no faster than it is taken. */
export const createBodyStream = (options: BodyStreamOptions) => {
  const { host, isEvents, maxBytes } = options
  const count = isEvents ? createEventCounter() : createByteCounter()
  let isOver = false
  let target: ReadableStreamDefaultController<Uint8Array> | undefined
  const idle = setTimeout(options.onIdle, options.idleMs)
  idle.unref()

  /** Says whether this is the end of it. */
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
      pull: () => {
        idle.refresh()
        options.resume()
      },
      cancel: () => {
        if (finish()) options.onCancel()
      },
    },
    { highWaterMark: MAX_WAITING_BYTES, size: chunk => chunk?.byteLength ?? 0 },
  )
  return {
    stream,
    /** What breaks the limit is returned; the caller then fails the stream. */
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
