import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleWhen, isBrokenCircuitError } from 'cockatiel'
import { createListeners } from '../../lib/events/listeners.ts'
import type { UpstreamState } from '../upstream.ts'
import type { OpenConnection } from './open-connection.ts'
import { UpstreamError } from './upstream-error.ts'

export type ConnectionLimits = {
  /** Delay before each retry. The last delay applies to all further retries. */
  retryDelaysMs: readonly number[]
  /** Number of consecutive failures after which calls no longer reconnect until the next retry is due. */
  maxFailures: number
  /** Maximum time from the start of a process to its first response. */
  startTimeoutMs: number
  /** A process that receives no request for this long is stopped. */
  idleMs: number
  /** Maximum combined output on stdout and stderr within `outputWindowMs`. */
  maxOutputBytes: number
  outputWindowMs: number
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  retryDelaysMs: [2_000, 4_000, 8_000, 30_000],
  maxFailures: 5,
  // A command such as npx may have to download its package first.
  startTimeoutMs: 30_000,
  idleMs: 5 * 60_000,
  // Far more than any ordinary server prints, far less than would keep a core busy.
  maxOutputBytes: 64 * 1_024 * 1_024,
  outputWindowMs: 10_000,
}

type IdleTimerOptions = {
  idleMs: number
  /** Returns whether something is in progress that must not be interrupted. */
  isBusy: () => boolean
  onIdle: () => void
}

/** Calls `onIdle` after a period without activity, unless something is in progress. */
const createIdleTimer = ({ idleMs, isBusy, onIdle }: IdleTimerOptions) => {
  let timer: NodeJS.Timeout | undefined
  let holdCount = 0

  const check = (): void => {
    timer = undefined
    if (holdCount > 0 || isBusy()) touch()
    else onIdle()
  }
  /** Restarts the timeout. */
  const touch = (): void => {
    if (timer !== undefined) {
      timer.refresh()
      return
    }
    timer = setTimeout(check, idleMs)
    timer.unref()
  }

  return {
    touch,
    stop: (): void => {
      clearTimeout(timer)
      timer = undefined
    },
    /** Prevents `onIdle` until the returned function is called. */
    hold: (): (() => void) => {
      let isHeld = true
      holdCount++
      return () => {
        if (isHeld) holdCount--
        isHeld = false
      }
    },
  }
}

/** A connection that lasts at least this long resets the failure count. */
const STABLE_MS = 30_000

export type SharedConnectionOptions = {
  /** Opens a connection or throws UpstreamError. Calls `onActivity` for every message from a process. */
  open: (signal: AbortSignal, onActivity: () => void) => Promise<OpenConnection>
  isEager: boolean
  limits: ConnectionLimits
  onIdleStop: () => void
}

const closedError = (): UpstreamError => new UpstreamError('aborted', 'The connection to the MCP server was closed.')

/**
 * The connection shared by all callers. Concurrent callers wait for the same attempt to open it. The connection is
 * retried after a failure and closed when idle.
 */
export const createSharedConnection = ({ open, isEager, limits, onIdleStop }: SharedConnectionOptions) => {
  const stateListeners = createListeners<[UpstreamState]>()
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

  const setState = (next: UpstreamState): void => {
    if (closing.signal.aborted) return
    state = next
    stateListeners.notify(next)
  }

  const idleTimer = createIdleTimer({
    idleMs: limits.idleMs,
    isBusy: () => current !== undefined && current.opened.pending() > 0,
    onIdle: () => {
      if (current === undefined) return
      const { opened } = current
      current = undefined
      onIdleStop()
      setState({ kind: 'idle' })
      void opened.close()
    },
  })
  const touch = (): void => {
    if (!isEager && current?.opened.isProcess === true) idleTimer.touch()
  }

  const retryIn = (ms: number): void => {
    clearTimeout(retryTimer)
    if (closing.signal.aborted) return
    // Nothing waits for this attempt. The state shows its result.
    retryTimer = setTimeout(() => void connect().catch(() => {}), ms)
    retryTimer.unref()
  }

  /** Records a lost connection or a failed attempt. `isRetried` tells whether to reconnect in the background. */
  const fail = (error: UpstreamError, isRetried: boolean): void => {
    if (closing.signal.aborted) return
    if (current !== undefined && performance.now() - current.since > STABLE_MS) failures = 0
    current = undefined
    idleTimer.stop()
    const usualMs = limits.retryDelaysMs[failures] ?? lastDelayMs
    const delayMs = Math.max(usualMs, blockedUntilMs - Date.now())
    failures++
    failedSince ??= new Date()
    if (isRetried) retryIn(delayMs)
    const nextTryAt = isRetried ? new Date(Date.now() + delayMs) : undefined
    const { message: why, ownWords } = error
    setState({ kind: 'failed', why, ownWords, since: failedSince, nextTryAt })
  }

  breaker.onStateChange(next => {
    if (next !== CircuitState.Open) return
    blockedUntilMs = Date.now() + lastDelayMs
    if (current === undefined) return
    // The upstream accepts connections but does not respond. A new connection or process may help.
    const { opened } = current
    fail(new UpstreamError('timeout', `The MCP server did not respond ${limits.maxFailures} times in a row.`), true)
    void opened.close()
  })

  const unavailable = (cause: unknown): UpstreamError => {
    const why = state.kind === 'failed' ? state.why : 'The MCP server failed several times in a row.'
    const seconds = Math.max(1, Math.ceil((blockedUntilMs - Date.now()) / 1_000))
    return new UpstreamError('unavailable', `${why} Patchbay reconnects in ${seconds} s.`, { cause })
  }

  const adopt = (opened: OpenConnection): void => {
    current = { opened, since: performance.now() }
    failedSince = undefined
    setState({ kind: 'connected' })
    touch()
    void opened.ended.then(error => {
      if (current?.opened !== opened) return
      // A crashed process is restarted when needed. A remote upstream is retried, because nothing else would show that
      // it is available again.
      fail(error, isEager || !opened.isProcess)
      // Release whatever is still open, such as sockets.
      void opened.close()
    })
  }

  const attempt = async (): Promise<OpenConnection> => {
    clearTimeout(retryTimer)
    try {
      const opened = await breaker.execute(() => {
        setState({ kind: 'connecting' })
        return open(closing.signal, touch)
      })
      if (closing.signal.aborted) {
        await opened.close()
        throw closedError()
      }
      adopt(opened)
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
    /**
     * Runs an operation and counts an UpstreamError as a failure of the upstream. Fails immediately while the circuit
     * is open.
     */
    guard: async <T>(operation: () => Promise<T>): Promise<T> => {
      try {
        return await breaker.execute(operation)
      } catch (error) {
        throw isBrokenCircuitError(error) ? unavailable(error) : error
      }
    },
    state: (): UpstreamState => state,
    onState: stateListeners.add,
    hold: idleTimer.hold,
    close: async (): Promise<void> => {
      closing.abort()
      clearTimeout(retryTimer)
      idleTimer.stop()
      await opening?.catch(() => {})
      await current?.opened.close()
      current = undefined
    },
  }
}
