import { AppError } from '../kernel/index.ts'
import type { EventBus } from '../platform/events/index.ts'
import type { LiveStream } from './live-stream.ts'

/** Pages that one browser, or one token, keeps up to date at once. */
const MAX_PER_SIGN_IN = 8
/** Of one user, by however many sign-ins: each server that is watched is read of once a second. */
const MAX_PER_USER = 32
/** Of one server, by all who look at it. */
const MAX_PER_SERVER = 200
/** Well within the 60 s after which proxies give up on a silent connection. */
const BEAT_EVERY_MS = 15_000
/** How often it is asked whether who looks still may: a session that ends is announced to nobody. */
const CHECK_EVERY_MS = 5_000

export type Viewer = {
  serverId: string
  userId: string
  /** Of the session or token. */
  signInId: string
  /** Whether who looks may see the server still. */
  mayStay: () => Promise<boolean>
}

type Entry = Viewer & { stream: LiveStream }

export type LiveStreamsParts = { bus: EventBus; onChanged: (serverId: string, send: LiveStream['send']) => void }

/**
 * The open streams of pages: bounded in number, kept alive, and ended with the access of who looks, with the server
 * and with the process.
 */
export const createLiveStreams = ({ bus, onChanged }: LiveStreamsParts) => {
  const entries = new Set<Entry>()
  let timers: NodeJS.Timeout[] = []
  let isClosing = false

  const countOf = (isOne: (entry: Entry) => boolean): number => [...entries].filter(isOne).length

  /** Tells the page not to come back, and lets it go. */
  const dismiss = ({ stream }: Entry): void => {
    stream.send('over', {})
    stream.end()
  }

  const check = async (entry: Entry): Promise<void> => {
    // Whoever cannot be asked for now is not sent away: they are asked for again.
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
      for (const entry of entries) if (entry.serverId === serverId) dismiss(entry)
    }),
    bus.subscribe('server_changed', ({ serverId }) => {
      for (const entry of entries) if (entry.serverId === serverId) onChanged(serverId, entry.stream.send)
      return checkAll(entry => entry.serverId === serverId)
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
    /** Throws where one more would be too many, or Patchbay stops. */
    assertRoom: ({ serverId, signInId, userId }: Omit<Viewer, 'mayStay'>): void => {
      if (isClosing) throw new AppError('unavailable', 'Patchbay stops.')
      const isFull =
        countOf(entry => entry.signInId === signInId) >= MAX_PER_SIGN_IN ||
        countOf(entry => entry.userId === userId) >= MAX_PER_USER ||
        countOf(entry => entry.serverId === serverId) >= MAX_PER_SERVER
      if (isFull) throw new AppError('rate_limited', 'Too many pages are kept up to date at once: close some.')
    },

    /** Keeps the stream from here on; answers what forgets it. */
    add: (viewer: Viewer, stream: LiveStream): (() => void) => {
      const entry = { ...viewer, stream }
      if (entries.size === 0) startTimers()
      entries.add(entry)
      return () => {
        entries.delete(entry)
        if (entries.size === 0) stopTimers()
      }
    },

    openCount: (): number => entries.size,

    /** Ends every stream; browsers come back once there is somebody to come back to. */
    close: (): void => {
      isClosing = true
      for (const unsubscribe of subscriptions) unsubscribe()
      stopTimers()
      for (const { stream } of entries) stream.end()
    },
  }
}
