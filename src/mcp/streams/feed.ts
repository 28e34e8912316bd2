import { randomBytes } from 'node:crypto'
import { type EventStream, messageEvent } from './event-stream.ts'
import type { StreamWatch } from './stream-access.ts'

/** Events kept for a client that comes back, per stream. */
const MAX_KEPT_EVENTS = 64
const MAX_KEPT_CHARACTERS = 64 * 1_024
/** How long a broken stream is waited for. */
const RESUME_WITHIN_MS = 5 * 60 * 1_000

/** Tells ids of this process from those of another, whose events we do not have. */
const PROCESS = randomBytes(3).toString('hex')

/** A connection that carries a feed, and how to ask again whether its caller may have it. */
export type FeedConnection = StreamWatch & { stream: EventStream }

/**
 * One stream of a session as the client sees it: it outlives connections, and its events have ids. `notices` carries
 * what the server has to say by itself, `answer` one request's progress and its answer.
 */
export const createFeed = (number: number, kind: 'notices' | 'answer') => {
  let connection: FeedConnection | undefined
  let sequence = 0
  let kept: { sequence: number; event: string }[] = []
  let brokenAt = 0
  let isFinished = false
  const idOf = (at: number): string => `${PROCESS}-${number}-${at}`
  const keep = (event: string): void => {
    kept.push({ sequence, event })
    let characters = kept.reduce((sum, { event: { length } }) => sum + length, 0)
    while (kept.length > MAX_KEPT_EVENTS || characters > MAX_KEPT_CHARACTERS) {
      characters -= kept.shift()?.event.length ?? characters
    }
  }
  const send = (json: string): void => {
    sequence += 1
    const event = messageEvent(json, idOf(sequence))
    keep(event)
    connection?.stream.send(event)
  }
  return {
    number,
    kind,
    connection: (): FeedConnection | undefined => connection,
    send,
    /** The last there is to say; whoever comes back gets it and an end. */
    finish: (json?: string): void => {
      if (json !== undefined) send(json)
      isFinished = true
      connection?.stream.end()
    },
    /** Goes on behind the event numbered `after`. A connection that was still there is one that broke unseen. */
    attach: (next: FeedConnection, after: number): void => {
      connection?.stream.end()
      connection = next
      kept = kept.filter(event => event.sequence > after)
      for (const { event } of kept) next.stream.send(event)
      if (isFinished) next.stream.end()
    },
    detach: (stream: EventStream, at: number): void => {
      if (connection?.stream !== stream) return
      connection = undefined
      brokenAt = stream.isDelivered && isFinished ? Number.NEGATIVE_INFINITY : at
    },
    /** Nobody is waited for any more: everything has arrived, or the time is up. */
    isOver: (at: number): boolean => connection === undefined && at - brokenAt > RESUME_WITHIN_MS,
    /** An id and nothing else, so that the client can come back before the first event (2025-11-25, transports). */
    prime: (after: number): string => `id: ${idOf(after)}\ndata: \n\n`,
  }
}
export type Feed = ReturnType<typeof createFeed>

/** The `Last-Event-ID` of a stream of this process, taken apart. */
export const parseEventId = (id: string | undefined): { number: number; sequence: number } | undefined => {
  const [, process, number, sequence] = /^([0-9a-f]{6})-(\d{1,9})-(\d{1,9})$/.exec(id ?? '') ?? []
  return process === PROCESS ? { number: Number(number), sequence: Number(sequence) } : undefined
}
