import type { Notification, RequestOptions } from '@modelcontextprotocol/client'
import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleWhen, isBrokenCircuitError } from 'cockatiel'
import { failure, success } from '../../kernel/index.ts'
import type { ResolvedConfig, UpstreamState } from '../upstream.ts'
import { createListeners } from './listeners.ts'
import { type OpenConnection, openConnection, type UpstreamClient, type UpstreamOffer } from './open-connection.ts'
import { createOutputLog, type LogLine, maskSecrets } from './output-log.ts'
import type { RemoteNetwork } from './remote-transport.ts'
import { findFault } from './sdk-errors.ts'
import type { StdioProcesses } from './stdio-processes.ts'
import { UpstreamError } from './upstream-error.ts'

/** What all connections of one Patchbay share. */
export type UpstreamParts = {
  processes: StdioProcesses
  network: RemoteNetwork
  /** How Patchbay introduces itself. */
  clientInfo: { name: string; version: string }
  /** Times and sizes, in place of the usual ones. */
  limits?: Partial<ConnectionLimits>
}

export type ConnectionLimits = {
  /** Before each further try; the last one goes on. */
  retryDelaysMs: readonly number[]
  /** Failures in a row after which no call tries any more until the next try is due. */
  maxFailures: number
  /** From the start of a process to its first answer. */
  startTimeoutMs: number
  /** A process that nobody has asked anything for this long is ended. */
  idleMs: number
  maxOutputBytes: number
  outputWindowMs: number
}

const LIMITS: ConnectionLimits = {
  retryDelaysMs: [2_000, 4_000, 8_000, 30_000],
  maxFailures: 5,
  // A command such as npx may have to fetch its package first.
  startTimeoutMs: 30_000,
  idleMs: 5 * 60_000,
  // Far above any honest server, far below what would keep a core busy.
  maxOutputBytes: 64 * 1_024 * 1_024,
  outputWindowMs: 10_000,
}

/** A connection that held this long was a good one: what fails afterwards is a first failure again. */
const GOOD_MS = 30_000

export type UpstreamConnectionOptions = {
  /** The configuration with its globals resolved; asked for before every connection. Throws what may be shown. */
  resolve: () => Promise<ResolvedConfig>
  /** One operation's. */
  timeoutMs: number
  /** Whether the connection is made at once, kept, and made again when it is lost. */
  isEager: boolean
  parts: UpstreamParts
  /** For a connection of one client of ours, which answers what the upstream asks. */
  offer?: UpstreamOffer
}

export type UpstreamConnection = {
  /** The client: connects, once however many ask, or comes back after a crash. Rejects with UpstreamError. */
  get: (signal?: AbortSignal) => Promise<UpstreamClient>
  /**
   * Runs one operation with the client, within its time: `options` go to the client's method. Rejects with UpstreamError
   * for what is wrong with the upstream, and with what the upstream itself answered as an error as that is (ProtocolError).
   * Run again, once, when the upstream had forgotten the session and so did nothing.
   */
  run: <T>(
    operation: (client: UpstreamClient, options: RequestOptions) => Promise<T>,
    signal?: AbortSignal,
  ) => Promise<T>
  state: () => UpstreamState
  /** Answers how to stop hearing. */
  onState: (listener: (state: UpstreamState) => void) => () => void
  /** Changed lists, updated resources, log messages, and whatever else the upstream tells unasked. */
  onNotification: (listener: (notification: Notification) => void) => () => void
  /** What the process said beside the protocol, and what became of it. */
  log: () => readonly LogLine[]
  /** Keeps an idle process up, for as long as a subscription lasts, say; answers how to let go. */
  hold: () => () => void
  /** Ends it for good, with its process. */
  close: () => Promise<void>
}

const closedError = (): UpstreamError => new UpstreamError('aborted', 'The connection to the upstream was closed.')

/** Settles as the promise does, for a caller who may give up waiting; the work goes on for the others. */
const waitFor = <T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new UpstreamError('aborted', 'The call was cancelled.'))
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/**
 * The connection to one upstream, made when it is first needed and shared by all who ask. One that fails is tried again
 * in the background, ever more seldom; a call tries at once, unless it failed over and over.
 */
export const createUpstreamConnection = (options: UpstreamConnectionOptions): UpstreamConnection => {
  const { parts, timeoutMs, isEager, offer = {} } = options
  const limits: ConnectionLimits = { ...LIMITS, ...parts.limits }
  const now = (): Date => new Date()
  const log = createOutputLog({ now })
  const states = createListeners<UpstreamState>()
  const notifications = createListeners<Notification>()
  const closing = new AbortController()
  const lastDelayMs = limits.retryDelaysMs.at(-1) ?? 0
  const breaker = circuitBreaker(
    handleWhen(error => !closing.signal.aborted && error instanceof UpstreamError),
    { breaker: new ConsecutiveBreaker(limits.maxFailures), halfOpenAfter: lastDelayMs },
  )
  let state: UpstreamState = { kind: 'idle' }
  let current: { opened: OpenConnection; since: number } | undefined
  let opening: Promise<OpenConnection> | undefined
  let secrets: readonly string[] = []
  let isOlderEra = false
  let failures = 0
  let failedSince: Date | undefined
  let holds = 0
  let retryTimer: NodeJS.Timeout | undefined
  let idleTimer: NodeJS.Timeout | undefined

  const enter = (next: UpstreamState): void => {
    if (closing.signal.aborted) return
    state = next
    states.tell(next)
  }

  const open = async (): Promise<OpenConnection> => {
    enter({ kind: 'connecting' })
    let config: ResolvedConfig
    try {
      config = await options.resolve()
    } catch (error) {
      const why = error instanceof Error ? error.message : 'Its configuration cannot be resolved.'
      throw error instanceof UpstreamError ? error : new UpstreamError('protocol', why, { cause: error })
    }
    secrets = config.secrets
    log.hide(secrets)
    const make = (): Promise<OpenConnection> =>
      openConnection({
        ...parts,
        config,
        offer,
        log,
        timeoutMs,
        startTimeoutMs: limits.startTimeoutMs,
        limits: { ...limits, maxMessageBytes: parts.network.maxResponseBytes },
        isOlderEra: isOlderEra && config.transport === 'stdio',
        onActivity: touch,
        onNotification: notifications.tell,
        signal: closing.signal,
      })
    if (isOlderEra || config.transport !== 'stdio') return make()
    try {
      return await make()
    } catch (error) {
      // Some servers of the older era end at a question that they do not know; asked as of old they stay.
      const mayBeOlder = error instanceof UpstreamError && error.kind === 'exited' && !closing.signal.aborted
      if (!mayBeOlder) throw error
      isOlderEra = true
      return make().catch((second: unknown) => {
        isOlderEra = false
        throw second
      })
    }
  }

  const fail = (error: UpstreamError, isRetried: boolean): void => {
    if (current !== undefined && performance.now() - current.since > GOOD_MS) failures = 0
    current = undefined
    forgetIdle()
    const delayMs = limits.retryDelaysMs[failures] ?? lastDelayMs
    failures++
    failedSince ??= now()
    const nextTryAt = isRetried ? new Date(Date.now() + delayMs) : undefined
    if (isRetried) retryIn(delayMs)
    enter({ kind: 'failed', why: maskSecrets(error.message, secrets), since: failedSince, nextTryAt })
  }
  const retryIn = (ms: number): void => {
    clearTimeout(retryTimer)
    if (closing.signal.aborted) return
    retryTimer = setTimeout(() => {
      // Waited for by nobody: what comes of it is in the state.
      connect().catch(() => {})
    }, ms)
    retryTimer.unref()
  }

  /** What became of a connection that was made: for one that is missed it is made again. */
  const onEnded = (opened: OpenConnection, error: UpstreamError): void => {
    if (current?.opened !== opened || closing.signal.aborted) return
    // What it leaves open, such as sockets, goes with it.
    void opened.close()
    fail(error, isEager || !opened.isProcess)
  }

  const attempt = async (): Promise<OpenConnection> => {
    clearTimeout(retryTimer)
    try {
      const opened = await breaker.execute(open)
      if (closing.signal.aborted) {
        await opened.close()
        throw closedError()
      }
      current = { opened, since: performance.now() }
      isOlderEra = opened.isProcess && opened.client.getProtocolEra() === 'legacy'
      failedSince = undefined
      enter({ kind: 'connected' })
      touch()
      void opened.ended.then(error => onEnded(opened, error))
      return opened
    } catch (error) {
      if (isBrokenCircuitError(error)) {
        retryIn(timeToNextTry())
        throw unavailable(error)
      }
      const fault = error instanceof UpstreamError ? error : new UpstreamError('protocol', String(error))
      if (!closing.signal.aborted) fail(fault, true)
      throw fault
    } finally {
      opening = undefined
    }
  }

  const connect = (): Promise<OpenConnection> => {
    if (closing.signal.aborted) return Promise.reject(closedError())
    if (current !== undefined) return Promise.resolve(current.opened)
    opening ??= attempt()
    return opening
  }

  const timeToNextTry = (): number => {
    const at = state.kind === 'failed' ? state.nextTryAt : undefined
    return Math.max(at === undefined ? lastDelayMs : at.getTime() - Date.now(), 50)
  }

  const unavailable = (cause: unknown): UpstreamError => {
    const why = state.kind === 'failed' ? state.why : 'It failed several times in a row.'
    const seconds = Math.ceil(timeToNextTry() / 1_000)
    return new UpstreamError('unavailable', `${why} It is tried again in ${seconds} s.`, { cause })
  }

  /** Ends a process that nobody asks anything any more. */
  const touch = (): void => {
    if (isEager || current === undefined || !current.opened.isProcess) return
    if (idleTimer !== undefined) {
      idleTimer.refresh()
      return
    }
    idleTimer = setTimeout(endIfIdle, limits.idleMs)
    idleTimer.unref()
  }
  const forgetIdle = (): void => {
    clearTimeout(idleTimer)
    idleTimer = undefined
  }
  const endIfIdle = (): void => {
    idleTimer = undefined
    if (current === undefined) return
    if (holds > 0 || current.opened.pending() > 0) {
      touch()
      return
    }
    const { opened } = current
    current = undefined
    log.add('patchbay', 'The process was ended: nobody had asked it anything for a while.')
    enter({ kind: 'idle' })
    void opened.close()
  }

  const translate = (error: unknown, opened: OpenConnection, signal: AbortSignal | undefined): unknown => {
    if (signal?.aborted) return new UpstreamError('aborted', 'The call was cancelled.', { cause: error })
    const fault =
      findFault(error) ?? (error instanceof Error && error.message === 'Not connected' ? closedError() : undefined)
    if (fault === undefined) return error
    const known = fault.kind === 'timeout' ? fault : (opened.failure() ?? fault)
    return new UpstreamError(known.kind, maskSecrets(known.message, secrets), { cause: error })
  }

  const runOnce = async <T>(
    operation: (client: UpstreamClient, requestOptions: RequestOptions) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> => {
    const opened = await waitFor(connect(), signal)
    touch()
    try {
      const requestOptions = { timeout: timeoutMs, ...(signal !== undefined && { signal }) }
      // Only that it does not answer counts here: a crash is one failure, however many calls it ended.
      const outcome = await breaker.execute(async () => {
        try {
          return success(await operation(opened.client, requestOptions))
        } catch (error) {
          const fault = translate(error, opened, signal)
          if (fault instanceof UpstreamError && fault.kind === 'timeout') throw fault
          return failure(fault)
        }
      })
      if (outcome.ok) return outcome.value
      throw outcome.error
    } catch (error) {
      throw isBrokenCircuitError(error) ? unavailable(error) : error
    }
  }

  breaker.onStateChange(next => {
    if (next !== CircuitState.Open || current === undefined) return
    const { opened } = current
    failures = Math.max(failures, limits.maxFailures)
    fail(new UpstreamError('timeout', `The upstream did not answer ${limits.maxFailures} times in a row.`), true)
    void opened.close()
  })
  if (isEager) connect().catch(() => {})

  return {
    get: async signal => {
      const { client } = await waitFor(connect(), signal)
      touch()
      return client
    },
    run: async (operation, signal) => {
      try {
        return await runOnce(operation, signal)
      } catch (error) {
        if (!(error instanceof UpstreamError) || error.kind !== 'session_ended') throw error
        return runOnce(operation, signal)
      }
    },
    state: () => state,
    onState: states.add,
    onNotification: notifications.add,
    log: log.list,
    hold: () => {
      let isHeld = true
      holds++
      return () => {
        if (!isHeld) return
        isHeld = false
        holds--
        touch()
      }
    },
    close: async () => {
      closing.abort()
      clearTimeout(retryTimer)
      forgetIdle()
      await opening?.catch(() => {})
      await current?.opened.close()
      current = undefined
    },
  }
}
