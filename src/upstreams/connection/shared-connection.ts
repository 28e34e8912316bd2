import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleWhen, isBrokenCircuitError } from 'cockatiel'
import type { UpstreamState } from '../upstream.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import { createIdleEnd } from './idle-end.ts'
import { createListeners } from './listeners.ts'
import type { OpenConnection } from './open-connection.ts'
import { UpstreamError } from './upstream-error.ts'

/** A connection that held this long was a good one: what fails afterwards is a first failure again. */
const GOOD_MS = 30_000

export type SharedConnectionOptions = {
  /** Makes a connection; throws UpstreamError. `onActivity` is to be told of every message of a process. */
  open: (signal: AbortSignal, onActivity: () => void) => Promise<OpenConnection>
  isEager: boolean
  limits: ConnectionLimits
  onIdleEnd: () => void
}

const closedError = (): UpstreamError => new UpstreamError('aborted', 'The connection to the upstream was closed.')

/** The one connection that all callers share: made once however many ask, tried again, ended when nobody needs it. */
export const createSharedConnection = ({ open, isEager, limits, onIdleEnd }: SharedConnectionOptions) => {
  const states = createListeners<UpstreamState>()
  const closing = new AbortController()
  const lastDelayMs = limits.retryDelaysMs.at(-1) ?? 0
  const breaker = circuitBreaker(
    handleWhen(error => error instanceof UpstreamError && error.kind !== 'aborted'),
    { breaker: new ConsecutiveBreaker(limits.maxFailures), halfOpenAfter: lastDelayMs },
  )
  let state: UpstreamState = { kind: 'idle' }
  let current: { opened: OpenConnection; since: number } | undefined
  let opening: Promise<OpenConnection> | undefined
  let failures = 0
  let failedSince: Date | undefined
  let blockedUntilMs = 0
  let retryTimer: NodeJS.Timeout | undefined

  const enter = (next: UpstreamState): void => {
    if (closing.signal.aborted) return
    state = next
    states.tell(next)
  }

  const idle = createIdleEnd({
    idleMs: limits.idleMs,
    isBusy: () => current !== undefined && current.opened.pending() > 0,
    onIdle: () => {
      if (current === undefined) return
      const { opened } = current
      current = undefined
      onIdleEnd()
      enter({ kind: 'idle' })
      void opened.close()
    },
  })
  const touch = (): void => {
    if (!isEager && current?.opened.isProcess === true) idle.touch()
  }

  const retryIn = (ms: number): void => {
    clearTimeout(retryTimer)
    if (closing.signal.aborted) return
    // Waited for by nobody: what comes of it is in the state.
    retryTimer = setTimeout(() => void connect().catch(() => {}), ms)
    retryTimer.unref()
  }

  /** There is no connection any more, or still none; `isRetried`: whether one is made without being asked for. */
  const fail = (error: UpstreamError, isRetried: boolean): void => {
    if (closing.signal.aborted) return
    if (current !== undefined && performance.now() - current.since > GOOD_MS) failures = 0
    current = undefined
    idle.stop()
    const usualMs = limits.retryDelaysMs[failures] ?? lastDelayMs
    const delayMs = Math.max(usualMs, blockedUntilMs - Date.now())
    failures++
    failedSince ??= new Date()
    if (isRetried) retryIn(delayMs)
    const nextTryAt = isRetried ? new Date(Date.now() + delayMs) : undefined
    const { message: why, ownWords } = error
    enter({ kind: 'failed', why, ownWords, since: failedSince, nextTryAt })
  }

  breaker.onStateChange(next => {
    if (next !== CircuitState.Open) return
    blockedUntilMs = Date.now() + lastDelayMs
    if (current === undefined) return
    // It takes connections and answers nothing: a new connection, or process, may be better.
    const { opened } = current
    fail(new UpstreamError('timeout', `The upstream did not answer ${limits.maxFailures} times in a row.`), true)
    void opened.close()
  })

  const unavailable = (cause: unknown): UpstreamError => {
    const why = state.kind === 'failed' ? state.why : 'The upstream failed several times in a row.'
    const seconds = Math.max(1, Math.ceil((blockedUntilMs - Date.now()) / 1_000))
    return new UpstreamError('unavailable', `${why} It is tried again in ${seconds} s.`, { cause })
  }

  const take = (opened: OpenConnection): void => {
    current = { opened, since: performance.now() }
    failedSince = undefined
    enter({ kind: 'connected' })
    touch()
    void opened.ended.then(error => {
      if (current?.opened !== opened) return
      // A process that crashed comes back when it is needed; that a remote one is away we would not hear otherwise.
      fail(error, isEager || !opened.isProcess)
      // What it leaves open, such as sockets, goes with it.
      void opened.close()
    })
  }

  const attempt = async (): Promise<OpenConnection> => {
    clearTimeout(retryTimer)
    try {
      const opened = await breaker.execute(() => {
        enter({ kind: 'connecting' })
        return open(closing.signal, touch)
      })
      if (closing.signal.aborted) {
        await opened.close()
        throw closedError()
      }
      take(opened)
      return opened
    } catch (error) {
      if (isBrokenCircuitError(error)) {
        retryIn(Math.max(blockedUntilMs - Date.now(), 1))
        throw unavailable(error)
      }
      const fault = error instanceof UpstreamError ? error : new UpstreamError('protocol', String(error))
      fail(fault, true)
      throw fault
    } finally {
      opening = undefined
    }
  }

  const connect = (): Promise<OpenConnection> => {
    if (closing.signal.aborted) return Promise.reject(closedError())
    if (current !== undefined) {
      touch()
      return Promise.resolve(current.opened)
    }
    opening ??= attempt()
    return opening
  }
  if (isEager) connect().catch(() => {})

  return {
    connect,
    /** Runs what counts as a failure of the upstream when it throws UpstreamError, but not while it is given up. */
    guard: async <T>(operation: () => Promise<T>): Promise<T> => {
      try {
        return await breaker.execute(operation)
      } catch (error) {
        throw isBrokenCircuitError(error) ? unavailable(error) : error
      }
    },
    state: (): UpstreamState => state,
    onState: states.add,
    hold: idle.hold,
    close: async (): Promise<void> => {
      closing.abort()
      clearTimeout(retryTimer)
      idle.stop()
      await opening?.catch(() => {})
      await current?.opened.close()
      current = undefined
    },
  }
}
