import { LRUCache } from 'lru-cache'
import { isPassed, type PassedResult, type ToolResult } from '../../runtime/call/compiled-server.ts'

/** What a call was answered, as it is given again: shaped, with secrets masked. */
export type KeptAnswer<Result extends ToolResult | PassedResult = ToolResult | PassedResult> = {
  result: Result
  /** Of the API's answer, as are its bytes; an upstream has none. */
  status: number | undefined
  responseBytes: number
  /** As the API said it. */
  contentType?: string | undefined
  /** When it was given, by the clock of the store. */
  answeredAtMs: number
}

export type AnswerKeepingLimits = {
  /** Of one answer, as it takes memory: a larger one is not kept. */
  maxAnswerBytes: number
  maxServerBytes: number
  maxServerAnswers: number
  maxBytes: number
  maxAnswers: number
}

const LIMITS: AnswerKeepingLimits = {
  // What a model could still read by far; the budget cuts before.
  maxAnswerBytes: 1_024 * 1_024,
  // One server takes a quarter of it all at most, so that a busy one leaves room for its neighbours.
  maxServerBytes: 16 * 1_024 * 1_024,
  maxServerAnswers: 2_000,
  maxBytes: 64 * 1_024 * 1_024,
  maxAnswers: 10_000,
}

/** What an entry takes besides its answer: keys, maps and the objects around. */
const ENTRY_OVERHEAD_BYTES = 1_024
/** Parsed JSON takes several times its text. */
const STRUCTURED_TIMES = 5

/** About what a result takes in memory. */
const weigh = (result: KeptAnswer['result']): number => {
  if (isPassed(result)) {
    const { length } = result.json ?? JSON.stringify(result.passed)
    return ENTRY_OVERHEAD_BYTES + (2 + STRUCTURED_TIMES) * length
  }
  if ('utf8' in result) return ENTRY_OVERHEAD_BYTES + result.utf8.length
  const lengths = result.content.map(block => {
    if (block.type === 'text') return block.text.length
    return block.type === 'resource' ? block.resource.blob.length + block.resource.uri.length : block.data.length
  })
  const characters = lengths.reduce((sum, length) => sum + length, 0)
  const times = result.structuredContent === undefined ? 2 : 2 + STRUCTURED_TIMES
  return ENTRY_OVERHEAD_BYTES + times * characters
}

/** A buffer may be a small part of a large one, which it would keep in memory. */
const compact = (result: KeptAnswer['result']): KeptAnswer['result'] =>
  'utf8' in result && result.utf8.buffer.byteLength > result.utf8.length
    ? { ...result, utf8: Buffer.from(result.utf8) }
    : result

type Entry = { serverId: string; key: string; answer: KeptAnswer; expiresAtMs: number; bytes: number }
/** Of one server: the one used longest ago comes first. */
type Shelf = { entries: Map<string, Entry>; bytes: number }

/** How often those are let go that nobody has asked for since they expired. */
const SWEEP_MS = 60_000

export type AnswerKeepingOptions = { limits?: Partial<AnswerKeepingLimits>; now?: () => number }

/**
 * Answers of tools, in the memory of this process, for the next call that makes the same request. Keys are for the
 * caller to make such that nobody finds what is not for him. Over its bounds those go first that were used longest ago.
 */
export const createAnswerShelves = ({ limits, now = () => performance.now() }: AnswerKeepingOptions = {}) => {
  const most: AnswerKeepingLimits = { ...LIMITS, ...limits }
  const largest = Math.min(most.maxAnswerBytes, most.maxServerBytes, most.maxBytes)
  const shelves = new Map<string, Shelf>()
  let sweptAtMs = now()

  /** The one place where entries leave a shelf, whatever they are let go for. */
  const takeOff = ({ serverId, key, bytes }: Entry): void => {
    const shelf = shelves.get(serverId)
    if (shelf?.entries.delete(key) !== true) return
    shelf.bytes -= bytes
    if (shelf.entries.size === 0) shelves.delete(serverId)
  }
  const all = new LRUCache<Entry, true>({
    max: most.maxAnswers,
    maxSize: most.maxBytes,
    sizeCalculation: (_, { bytes }) => bytes,
    dispose: (_, entry) => takeOff(entry),
  })
  const letGo = (entry: Entry | undefined): void => {
    if (entry !== undefined) all.delete(entry)
  }

  const putOn = (entry: Entry): void => {
    const { serverId, key, bytes } = entry
    letGo(shelves.get(serverId)?.entries.get(key))
    for (;;) {
      const shelf = shelves.get(serverId)
      if (shelf === undefined) break
      if (shelf.entries.size < most.maxServerAnswers && shelf.bytes + bytes <= most.maxServerBytes) break
      const [oldest] = shelf.entries.values()
      letGo(oldest)
    }
    all.set(entry, true)
    const shelf = shelves.get(serverId) ?? { entries: new Map<string, Entry>(), bytes: 0 }
    shelf.entries.set(key, entry)
    shelf.bytes += bytes
    shelves.set(serverId, shelf)
  }

  const sweep = (): void => {
    if (now() - sweptAtMs < SWEEP_MS) return
    sweptAtMs = now()
    for (const entry of [...all.keys()]) if (entry.expiresAtMs <= sweptAtMs) letGo(entry)
  }

  const forgetServer = (serverId: string): void => {
    for (const entry of [...(shelves.get(serverId)?.entries.values() ?? [])]) letGo(entry)
  }

  return {
    now,
    find: (serverId: string, key: string): KeptAnswer | undefined => {
      const entries = shelves.get(serverId)?.entries
      const entry = entries?.get(key)
      if (entries === undefined || entry === undefined) return undefined
      if (entry.expiresAtMs <= now()) {
        letGo(entry)
        return undefined
      }
      all.get(entry)
      entries.delete(key)
      entries.set(key, entry)
      return entry.answer
    },
    /** Keeps it for a time in milliseconds, or does not where it is too large. */
    keep: (serverId: string, key: string, answer: KeptAnswer, forMs: number): void => {
      sweep()
      const result = compact(answer.result)
      const bytes = weigh(result)
      if (bytes > largest) return
      putOn({ serverId, key, answer: { ...answer, result }, expiresAtMs: now() + forMs, bytes })
    },
    /** Lets go of all answers of a server, whichever tool they are of. */
    forgetServer,
    forgetAll: (): void => all.clear(),
    /** What is held now, in answers and in bytes. */
    stats: () => ({ answers: all.size, bytes: all.calculatedSize, servers: shelves.size }),
  }
}
