import { type JsonValue, parseIfJson } from '../../lib/kernel/json.ts'
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

/** Number of bytes at either end of a large event that are searched for its kind and id. */
const SEARCHED_BYTES = 512
const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"\s*`
const ID_MEMBER = String.raw`"id"\s*:\s*(?<id>-?\d+|"[^"\\]*")\s*`
/** The beginning of a response, up to its result or error. */
const RESPONSE_START = new RegExp(
  String.raw`^data: ?\s*\{\s*(?:${VERSION},\s*)?(?:${ID_MEMBER},\s*)?(?:${VERSION},\s*)?"(?:result|error)"`,
  'm',
)
/** The end of a response whose id is its last member, except for the version. */
const RESPONSE_END = new RegExp(String.raw`,\s*${ID_MEMBER}(?:,\s*${VERSION})?\}\s*$`)

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

const idOf = (match: RegExpMatchArray | null): JsonValue | undefined => {
  const id = match?.groups?.id
  return id === undefined ? undefined : parseIfJson(id)
}

/** Decides on events that are too large to be parsed before they are passed on. */
const createLargeEvents = ({ limit, claim }: MessageScreen) => {
  let bytes = 0
  let isResponse = false
  let isClaimed = false
  let end: Buffer = Buffer.alloc(0)
  return {
    /** Returns whether to pass on an event that begins with these pieces. */
    start: (pieces: readonly Buffer[], mustPass: boolean): boolean => {
      const response = RESPONSE_START.exec(Buffer.concat(pieces).toString('latin1', 0, SEARCHED_BYTES))
      isClaimed = claim(idOf(response))
      if (!isClaimed && mustPass) limit.count('requests', 0)
      else if (!isClaimed && !limit.acceptRequest(0)) return false
      isResponse = response !== null
      bytes = 0
      end = Buffer.alloc(0)
      return true
    },
    add: (piece: Buffer): void => {
      bytes += piece.length
      end = Buffer.concat([end, piece.subarray(-SEARCHED_BYTES)]).subarray(-SEARCHED_BYTES)
    },
    /** Counts the size of a complete event that is not an awaited response. */
    end: (): void => {
      const id = isResponse && !isClaimed ? idOf(RESPONSE_END.exec(end.toString('latin1'))) : undefined
      if (!isClaimed && !claim(id)) limit.charge(bytes)
    },
  }
}

/**
 * Drops events of an event stream whose messages are over the limit, before the SDK reads them. Only events that may
 * have an id are parsed for that. Returns a function that takes a chunk and returns what to pass on, in pieces. The
 * first event always passes, because it may contain the endpoint, or the id from which the stream can be resumed.
 */
export const createEventScreen = (messages: MessageScreen): ((chunk: Buffer) => Buffer[]) => {
  const { limit } = messages
  const large = createLargeEvents(messages)
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
    const parse = (from: number, to: number) => parseData(events.toString('utf8', from, to))
    const accept = (from: number, to: number): boolean => {
      const bytes = to - from
      if (!isWithin(findId(from), to)) return limit.acceptNotification(bytes, isWithin(findListChange(from), to))
      const message = parse(from, to)
      return message === undefined ? limit.acceptRequest(bytes) || limit.drop(false) : messages.accept(message, bytes)
    }
    const count = (from: number, to: number): void => {
      const message = isWithin(findId(from), to) ? parse(from, to) : undefined
      if (message === undefined) limit.count('notifications', to - from)
      else messages.count(message, to - from)
    }
    const passed: Buffer[] = []
    let start = 0
    for (let from = 0; from < events.length; ) {
      const to = endOf(from)
      if (isFirst) count(from, to)
      else if (!accept(from, to)) {
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
    const passed: Buffer[] = []
    const isEnding = isPassing && last > 0
    const from = isEnding ? first : 0
    if (isPassing) {
      const rest = isEnding ? chunk.subarray(0, from) : chunk
      large.add(rest)
      if (!isEnding) return [rest]
      if (from > 0) passed.push(rest)
      large.end()
      isPassing = false
    }
    if (last > from) {
      const pieces = [...takeHeld(), chunk.subarray(from, last)]
      const [only] = pieces
      passed.push(...screen(pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces)))
    }
    hold(chunk.subarray(last))
    if (heldBytes > LARGE_BYTES && large.start(held, isFirst)) {
      for (const piece of held) large.add(piece)
      passed.push(...takeHeld())
      isPassing = true
      isFirst = false
    }
    return passed
  }
}
