import { listChanged } from '../protocol.ts'
import type { MountedServer, Subscriber } from '../registry/mounted-server.ts'
import { createResumableStream, parseEventId, type ResumableStream, type StreamConnection } from './resumable-stream.ts'

/** Maximum number of disconnected streams per session. */
const MAX_BROKEN_STREAMS = 4

/** Manages all streams of a session, and subscribes to changes to the server. */
export const createResumableStreams = (now: () => number) => {
  const streams = new Map<number, ResumableStream>()
  let last = 0
  let mounted: MountedServer | undefined

  const forgetBroken = (): void => {
    const at = now()
    const broken = [...streams.values()].filter(stream => stream.connection() === undefined)
    for (const [index, stream] of broken.entries()) {
      if (stream.isOver(at) || index < broken.length - MAX_BROKEN_STREAMS) streams.delete(stream.number)
    }
  }
  const connections = (): StreamConnection[] => [...streams.values()].flatMap(stream => stream.connection() ?? [])
  /**
   * Sends a message to exactly one stream (basic/transports): the newest open one or, if none is open, the newest
   * disconnected one, from which a client that reconnects receives it.
   */
  const notify = (json: string): void => {
    forgetBroken()
    const all = [...streams.values()].filter(stream => stream.kind === 'notices')
    const target = all.findLast(stream => stream.connection() !== undefined) ?? all.at(-1)
    target?.send(json)
  }
  /** Ends all streams except those of running calls, which end with their calls. */
  const end = (): void => {
    for (const stream of streams.values()) {
      if (stream.kind === 'notices') stream.connection()?.stream.end()
    }
    streams.clear()
    mounted?.unsubscribe(subscriber)
  }
  const subscriber: Subscriber = {
    listChanged: kind => notify(listChanged(kind)),
    checkAccess: (policy, userId) => {
      for (const connection of connections()) connection.checkAccess(policy, userId)
    },
    beat: () => {
      for (const connection of connections()) connection.beat()
      forgetBroken()
      if (streams.size === 0) mounted?.unsubscribe(subscriber)
    },
    end,
  }
  /** Opens a stream and subscribes to changes to the server `on`. */
  const open = (kind: ResumableStream['kind'], on: MountedServer, onCutOff?: () => void): ResumableStream => {
    mounted = on
    mounted.subscribe(subscriber)
    forgetBroken()
    const stream = createResumableStream(++last, kind, onCutOff)
    streams.set(stream.number, stream)
    return stream
  }
  return {
    open,
    /** Returns the stream and the event number that an event id names, or a new stream if the id is unknown. */
    resume: (lastEventId: string | undefined, on: MountedServer): { resumable: ResumableStream; after: number } => {
      const wanted = parseEventId(lastEventId)
      const known = wanted === undefined ? undefined : streams.get(wanted.number)
      if (wanted === undefined || known === undefined) return { resumable: open('notices', on), after: 0 }
      mounted = on
      mounted.subscribe(subscriber)
      return { resumable: known, after: wanted.sequence }
    },
    forgetBroken,
    notify,
    /** Returns whether a stream for notifications is open. */
    hasNotices: (): boolean =>
      [...streams.values()].some(stream => stream.kind === 'notices' && stream.connection() !== undefined),
    hasOpenStream: (): boolean => connections().length > 0,
    end,
  }
}
export type ResumableStreams = ReturnType<typeof createResumableStreams>
