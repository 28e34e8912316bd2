import { parseIfJson } from '../../lib/kernel/json.ts'
import type { MessageScreen } from './message-screen.ts'

/** The ends of an event, including those with two kinds of line ends (HTML standard §9.2.6). */
const EVENT_ENDS = ['\n\n', '\n\r\n', '\r\r'] as const
/** Maximum bytes of an event's end that can be at the end of one chunk while the rest is in the next chunk. */
const MAX_SPLIT_BYTES = 2
/** An event of which this much has arrived is passed on before it is complete, to save memory. */
const LARGE_BYTES = 256 * 1_024

/** Requests and responses always have an `id`. */
const ID = '"id"'
const LIST_CHANGED = 'list_changed'

/** Returns a function that finds a text at or after a position, which must never decrease. */
const createFinder = (bytes: Buffer, text: string): ((from: number) => number) => {
  let at = bytes.indexOf(text)
  return from => {
    if (at !== -1 && at < from) at = bytes.indexOf(text, from)
    return at
  }
}

/**
 * Returns a function that returns where the event that starts at `from` ends, or the number of bytes if it is not
 * complete.
 */
const createEndFinder = (bytes: Buffer): ((from: number) => number) => {
  const finders = EVENT_ENDS.map(end => ({ find: createFinder(bytes, end), length: end.length }))
  return from => {
    const ends = finders.map(({ find, length }) => {
      const at = find(from)
      return at === -1 ? bytes.length : at + length
    })
    return Math.min(...ends)
  }
}

/** Returns where the first and the last event of a chunk end, or 0 if none does. `before` is the end of the last chunk. */
const findEnds = (before: Buffer, chunk: Buffer): { first: number; last: number } => {
  const lasts = EVENT_ENDS.map(end => {
    const at = chunk.lastIndexOf(end)
    return at === -1 ? 0 : at + end.length
  })
  const last = Math.max(...lasts)
  const joint = Buffer.concat([before, chunk.subarray(0, MAX_SPLIT_BYTES)])
  const split = EVENT_ENDS.some(end => joint.includes(end)) ? createEndFinder(joint)(0) - before.length : 0
  if (split > 0) return { first: split, last: Math.max(split, last) }
  return { first: last === 0 ? 0 : createEndFinder(chunk)(0), last }
}

/** Parses the data of an event. Returns undefined if it is not JSON. */
const parseData = (event: string) => {
  const lines = event.split(/\r\n|\n|\r/).filter(line => line.startsWith('data:'))
  return parseIfJson(lines.map(line => line.slice('data:'.length)).join('\n'))
}

/**
 * Drops events of an event stream whose messages are over the limit, before they are decoded and parsed. Returns a
 * function that takes a chunk and returns what to pass on, in pieces. The first event always passes, because it may
 * contain the endpoint, or the id from which the stream can be resumed.
 */
export const createEventScreen = ({ limit, acceptOverLimit }: MessageScreen): ((chunk: Buffer) => Buffer[]) => {
  /** The beginning of an event that is not complete. */
  let held: Buffer[] = []
  let heldBytes = 0
  /** Whether the beginning of the current event has been passed on. */
  let isPassing = false
  let isFirst = true
  let tail: Buffer = Buffer.alloc(0)

  const screen = (events: Buffer): Buffer[] => {
    const endOf = createEndFinder(events)
    const findId = createFinder(events, ID)
    const findListChange = createFinder(events, LIST_CHANGED)
    const isWithin = (at: number, end: number): boolean => at !== -1 && at < end
    const accept = (from: number, to: number): boolean => {
      if (!isWithin(findId(from), to)) return limit.acceptNotification(to - from, isWithin(findListChange(from), to))
      // Its kind is not known. The size of anything but an awaited response is counted once it is parsed.
      if (limit.acceptRequest(0)) return true
      const message = parseData(events.toString('utf8', from, to))
      return message !== undefined && acceptOverLimit(message)
    }
    const passed: Buffer[] = []
    let start = 0
    for (let from = 0; from < events.length; ) {
      const to = endOf(from)
      if (!isFirst && !accept(from, to)) {
        if (from > start) passed.push(events.subarray(start, from))
        start = to
      }
      isFirst = false
      from = to
    }
    if (start < events.length) passed.push(events.subarray(start))
    return passed
  }

  const takeHeld = (): Buffer[] => {
    const taken = held
    held = []
    heldBytes = 0
    return taken
  }
  const hold = (rest: Buffer): void => {
    if (rest.length === 0) return
    held.push(rest)
    heldBytes += rest.length
  }

  return chunk => {
    const { first, last } = findEnds(tail, chunk)
    tail = Buffer.concat([tail, chunk.subarray(-MAX_SPLIT_BYTES)]).subarray(-MAX_SPLIT_BYTES)
    if (isPassing && last === 0) return [chunk]
    const passed: Buffer[] = []
    const from = isPassing ? first : 0
    if (from > 0) passed.push(chunk.subarray(0, from))
    isPassing = false
    if (last > from) {
      const pieces = [...takeHeld(), chunk.subarray(from, last)]
      const [only] = pieces
      passed.push(...screen(pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces)))
    }
    hold(chunk.subarray(last))
    if (heldBytes > LARGE_BYTES && (isFirst || limit.acceptRequest(0))) {
      passed.push(...takeHeld())
      isPassing = true
      isFirst = false
    }
    return passed
  }
}
