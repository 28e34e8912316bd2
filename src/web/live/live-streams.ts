import type { CountedCalls } from '../../history/call-figures.store.ts'
import type { EventBus } from '../../lib/events/event-bus.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { LiveStream } from './live-stream.ts'

/** Maximum open streams per session or token. */
const MAX_PER_SIGN_IN = 8
/** Maximum open streams per user across all sessions. Each watched server costs one database read per second. */
const MAX_PER_USER = 32
/** Maximum open streams per server, and per organization, across all viewers. */
const MAX_PER_PLACE = 200
/** Interval of keep-alive comments, well below the 60 s after which proxies close idle connections. */
const BEAT_EVERY_MS = 15_000
/** How often access is checked again, because the end of a session does not raise an event. */
const CHECK_EVERY_MS = 5_000

/** Where calls are watched: on a server, or on all servers of an organization. */
type Place = CountedCalls | { organizationId: string }

export type Viewer = Place & {
  userId: string
  /** ID of the session or token. */
  signInId: string
  /** Returns whether the viewer may still see these calls. */
  mayStay: () => Promise<boolean>
}

type Entry = Viewer & { stream: LiveStream }

const placeOf = (place: Place): string => ('serverId' in place ? place.serverId : place.organizationId)
const isOn = (place: Place, serverId: string): place is CountedCalls & Place =>
  'serverId' in place && place.serverId === serverId

type LiveStreamsParts = { bus: EventBus; onChanged: (watched: CountedCalls, send: LiveStream['send']) => void }

/**
 * Manages the open live streams of pages. Limits how many are open, keeps them alive, and closes them when the viewer
 * loses access, the server is deleted or the process stops.
 */
export const createLiveStreams = ({ bus, onChanged }: LiveStreamsParts) => {
  const entries = new Set<Entry>()
  let timers: NodeJS.Timeout[] = []
  let isClosing = false

  const countOf = (isOne: (entry: Entry) => boolean): number => [...entries].filter(isOne).length

  /** Closes the stream and tells the page not to reconnect. */
  const dismiss = ({ stream }: Entry): void => {
    stream.send('over', {})
    stream.end()
  }

  const check = async (entry: Entry): Promise<void> => {
    // If a check fails with an error, the stream stays open until the next check.
    const mayStay = await entry.mayStay().catch(() => true)
    if (!mayStay && entries.has(entry)) dismiss(entry)
  }
  const checkAll = async (isOne: (entry: Entry) => boolean): Promise<void> => {
    await Promise.all([...entries].filter(isOne).map(check))
  }

  const subscriptions = [
    bus.subscribe('access_changed', ({ userId }) => checkAll(entry => entry.userId === userId)),
    bus.subscribe('resync', () => checkAll(() => true)),
    bus.subscribe('server_removed', ({ serverId }) => {
      for (const entry of entries) if (isOn(entry, serverId)) dismiss(entry)
    }),
    bus.subscribe('server_changed', ({ serverId }) => {
      for (const entry of entries) if (isOn(entry, serverId)) onChanged(entry, entry.stream.send)
      return checkAll(entry => isOn(entry, serverId))
    }),
  ]

  const startTimers = (): void => {
    const beat = () => {
      for (const { stream } of entries) stream.beat()
    }
    timers = [setInterval(beat, BEAT_EVERY_MS), setInterval(() => void checkAll(() => true), CHECK_EVERY_MS)]
    for (const timer of timers) timer.unref()
  }
  const stopTimers = (): void => {
    for (const timer of timers) clearInterval(timer)
    timers = []
  }

  return {
    /** Throws `rate_limited` if a limit is reached, or `unavailable` while Patchbay is stopping. */
    assertRoom: ({ signInId, userId, ...place }: Place & Pick<Viewer, 'signInId' | 'userId'>): void => {
      if (isClosing) throw new AppError('unavailable', 'Patchbay is stopping.')
      const isFull =
        countOf(entry => entry.signInId === signInId) >= MAX_PER_SIGN_IN ||
        countOf(entry => entry.userId === userId) >= MAX_PER_USER ||
        countOf(entry => placeOf(entry) === placeOf(place)) >= MAX_PER_PLACE
      if (isFull) throw new AppError('rate_limited', 'Too many pages with live updates are open. Close some of them.')
    },

    /** Adds a stream. Returns a function that removes it. */
    add: (viewer: Viewer, stream: LiveStream): (() => void) => {
      const entry = { ...viewer, stream }
      if (entries.size === 0) startTimers()
      entries.add(entry)
      // Access may have ended after it was checked, but before the stream was added.
      void check(entry)
      return () => {
        entries.delete(entry)
        if (entries.size === 0) stopTimers()
      }
    },

    openCount: (): number => entries.size,

    /** Closes all streams. Browsers reconnect as soon as a process accepts streams again. */
    close: (): void => {
      isClosing = true
      for (const unsubscribe of subscriptions) unsubscribe()
      stopTimers()
      for (const { stream } of entries) stream.end()
    },
  }
}
