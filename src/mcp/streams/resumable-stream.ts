import { randomBytes } from 'node:crypto'
import { type EventStream, messageEvent } from './event-stream.ts'
import type { StreamWatch } from './stream-access.ts'

/** Number of events buffered per stream, for clients that reconnect. */
const MAX_BUFFERED_EVENTS = 64
const MAX_BUFFERED_CHARACTERS = 64 * 1_024
/**
 * Makes clients wait 5 s before they reconnect (HTML, "Server-sent events"). Some give up after two attempts, by default
 * within 2.5 s, and a restart of Patchbay can take longer.
 */
export const RETRY = 'retry: 5000\n'
/** Time within which a disconnected client can resume its stream. */
const RESUME_WITHIN_MS = 5 * 60 * 1_000

/** Identifies this process in event ids, because other processes do not have its events. */
const PROCESS = randomBytes(3).toString('hex')

/** The current connection of a stream, with the access check of its caller. */
export type StreamConnection = StreamWatch & { stream: EventStream }

/**
 * Creates a logical stream of a session, which outlives its connections and numbers its events. A `notices` stream
 * carries notifications. A `response` stream carries the progress and response of one request. `onCutOff` is called if a
 * shutdown is about to cut off its connection.
 */
export const createResumableStream = (number: number, kind: 'notices' | 'response', onCutOff = (): void => {}) => {
  let connection: StreamConnection | undefined
  let sequence = 0
  let kept: { sequence: number; event: string }[] = []
  let brokenAt = 0
  let isFinished = false
  const idOf = (at: number): string => `${PROCESS}-${number}-${at}`
  const keep = (event: string): void => {
    kept.push({ sequence, event })
    let characters = kept.reduce((sum, { event: { length } }) => sum + length, 0)
    while (kept.length > MAX_BUFFERED_EVENTS || characters > MAX_BUFFERED_CHARACTERS) {
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
    onCutOff,
    connection: (): StreamConnection | undefined => connection,
    send,
    /** Sends the last message and ends the stream. Clients that reconnect later receive both. */
    finish: (json?: string): void => {
      if (json !== undefined) send(json)
      isFinished = true
      connection?.stream.end()
    },
    /**
     * Connects a client that has received events up to `after`. Ends the previous connection, if any, which must have
     * failed unnoticed.
     */
    attach: (next: StreamConnection, after: number): void => {
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
    /** Whether the stream can be dropped, because the client has received everything or can no longer resume. */
    isOver: (at: number): boolean => connection === undefined && at - brokenAt > RESUME_WITHIN_MS,
    /**
     * Formats an event that has only an id, so that the client can resume even before the first message (2025-11-25,
     * transports).
     */
    prime: (after: number): string => `id: ${idOf(after)}\n${RETRY}data: \n\n`,
  }
}
export type ResumableStream = ReturnType<typeof createResumableStream>

/** Parses a `Last-Event-ID` issued by this process. */
export const parseEventId = (id: string | undefined): { number: number; sequence: number } | undefined => {
  const [, process, number, sequence] = /^([0-9a-f]{6})-(\d{1,9})-(\d{1,9})$/.exec(id ?? '') ?? []
  return process === PROCESS ? { number: Number(number), sequence: Number(sequence) } : undefined
}
