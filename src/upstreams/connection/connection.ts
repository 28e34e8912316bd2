import type { Notification, RequestOptions } from '@modelcontextprotocol/client'
import { createListeners } from '../../lib/events/listeners.ts'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import { failure, success } from '../../lib/kernel/result.ts'
import type { Authorizer } from '../oauth-client/authorizer.ts'
import type { ResolvedConfig, UpstreamState } from '../upstream.ts'
import { findTrace } from './call-trace.ts'
import { createEraChoice } from './era-choice.ts'
import type { MessageLimit } from './message-limit.ts'
import {
  type ClientSetup,
  type OpenConnection,
  openConnection,
  type UpstreamClient,
  untilAborted,
} from './open-connection.ts'
import { createOutputLog, type LogLine, maskSecrets } from './output-log.ts'
import type { RemoteNetwork } from './remote-transport.ts'
import { findFault } from './sdk-errors.ts'
import { CONNECTION_LIMITS, type ConnectionLimits, createSharedConnection } from './shared-connection.ts'
import type { StdioProcesses } from './stdio-processes.ts'
import { UpstreamError } from './upstream-error.ts'

/** Receives the params of `notifications/progress` without the token. */
type OnProgress = (params: JsonObject) => void

/** Routes a connection's progress notifications to the caller of each request, based on Patchbay's own tokens. */
const createProgressTokens = () => {
  const listeners = new Map<string, OnProgress>()
  let last = 0
  return {
    add: (listener: OnProgress): { token: string; stop: () => void } => {
      const token = `p${++last}`
      listeners.set(token, listener)
      return { token, stop: () => void listeners.delete(token) }
    },
    /** Ignores unknown tokens: their requests are complete. */
    dispatch: (params: unknown): void => {
      if (!isJsonObject(params)) return
      const { progressToken, _meta, ...step } = params
      if (typeof progressToken === 'string') listeners.get(progressToken)?.(step)
    },
  }
}

/** The parts that all upstream connections of one installation share. */
export type UpstreamParts = {
  processes: StdioProcesses
  network: RemoteNetwork
  clientInfo: { name: string; version: string }
  limits?: Partial<ConnectionLimits>
}

export type UpstreamConnectionOptions = {
  /**
   * Returns the configuration with globals resolved. Called before each connection attempt. Its error messages may be
   * shown.
   */
  resolve: () => Promise<ResolvedConfig>
  /** Per operation. */
  timeoutMs: number
  /** Whether to connect immediately and to reconnect whenever the connection is lost. */
  isEager: boolean
  parts: UpstreamParts
  /** What the client can be asked for, on a connection dedicated to one client. */
  setup?: ClientSetup
  /** Supplies tokens if the upstream uses OAuth. */
  authorizer?: Authorizer | undefined
  messageLimit: MessageLimit
}

export type UpstreamOperation<T> = (client: UpstreamClient, options: RequestOptions) => Promise<T>

export type UpstreamConnection = {
  /** Connects or reconnects if necessary. Concurrent calls share one attempt. Rejects with UpstreamError. */
  get: (signal?: AbortSignal) => Promise<UpstreamClient>
  /**
   * Runs one operation within its timeout. Pass `options` to the client's method. Rejects with UpstreamError if the
   * upstream fails, and with ProtocolError if it responds with an error. Retries once if the upstream had lost the
   * session and therefore did nothing.
   */
  run: <T>(operation: UpstreamOperation<T>, signal?: AbortSignal) => Promise<T>
  state: () => UpstreamState
  era: () => 'legacy' | 'modern' | undefined
  /** Whether the upstream can send requests on the current or last connection, because it keeps a session. */
  hasSession: () => boolean
  onState: (listener: (state: UpstreamState) => void) => () => void
  /** Called for every notification except progress. Returns a function that unsubscribes. */
  onNotification: (listener: (notification: Notification) => void) => () => void
  /** Returns a token for one request's `_meta.progressToken`, and a function to stop listening. */
  onProgress: (listener: OnProgress) => { token: string; stop: () => void }
  /** Returns the account tokens used so far, for masking. Undefined without an account. */
  secrets: (() => readonly string[]) | undefined
  /** Returns the process's output other than MCP messages, and events such as its exit. */
  log: () => readonly LogLine[]
  /** Keeps an idle process running, for example during a subscription. Returns a function that ends the hold. */
  hold: () => () => void
  /** Closes the connection permanently and ends its process. */
  close: () => Promise<void>
}

const cancelled = (cause?: unknown): UpstreamError => new UpstreamError('aborted', 'The call was cancelled.', { cause })

/** Lets one caller stop waiting while the shared work continues. */
const waitFor = <T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> =>
  signal === undefined ? promise : untilAborted(promise, signal, () => cancelled())

/** Resolves the configuration. Throws UpstreamError with the original message. */
const resolveConfig = async (resolve: UpstreamConnectionOptions['resolve']): Promise<ResolvedConfig> => {
  try {
    return await resolve()
  } catch (error) {
    if (error instanceof UpstreamError) throw error
    const why = error instanceof Error ? error.message : 'The configuration cannot be resolved.'
    throw new UpstreamError('misconfigured', why, { cause: error })
  }
}

/**
 * A connection to one upstream, opened on first use and shared by all callers. After a failure, it reconnects in the
 * background with growing delays. A call reconnects immediately, unless the connection has failed repeatedly.
 */
export const createUpstreamConnection = (options: UpstreamConnectionOptions): UpstreamConnection => {
  const { parts, timeoutMs, isEager, setup = {}, authorizer } = options
  const limits: ConnectionLimits = { ...CONNECTION_LIMITS, ...parts.limits }
  const log = createOutputLog()
  const notifications = createListeners<[Notification]>()
  const progress = createProgressTokens()
  let secrets: readonly string[] = []
  const eraChoice = createEraChoice(setup.isSessionEra === true)
  let last: { era: 'legacy' | 'modern' | undefined; hasSession: boolean } | undefined

  const open = async (signal: AbortSignal, onActivity: () => void): Promise<OpenConnection> => {
    const config = await resolveConfig(options.resolve)
    secrets = config.secrets
    // Report authorization problems before contacting the upstream.
    if (config.transport !== 'stdio') await authorizer?.getToken(config.url)
    log.hide(secrets)
    const attempt = (isSessionEra: boolean): Promise<OpenConnection> =>
      openConnection({
        ...parts,
        config,
        setup,
        authorizer,
        log,
        timeoutMs,
        startTimeoutMs: limits.startTimeoutMs,
        messageLimit: options.messageLimit,
        limits: { ...limits, maxMessageBytes: parts.network.maxResponseBytes },
        isSessionEra,
        onActivity,
        onNotification: notification =>
          notification.method === 'notifications/progress'
            ? progress.dispatch(notification.params)
            : notifications.notify(notification),
        signal,
      })
    const openInEra = config.transport === 'stdio' ? eraChoice.openProcess : eraChoice.openRemote
    const opened = await openInEra(attempt, signal)
    last = { era: opened.client.getProtocolEra(), hasSession: opened.hasSession }
    return opened
  }
  const openAndLog: typeof open = async (signal, onActivity) => {
    try {
      return await open(signal, onActivity)
    } catch (error) {
      const why = error instanceof Error ? error.message : ''
      // The exit of a process is already logged.
      if (!signal.aborted && log.list().at(-1)?.text !== why) log.add('patchbay', why)
      throw error
    }
  }
  const shared = createSharedConnection({
    open: openAndLog,
    isEager,
    limits,
    onIdleStop: () => log.add('patchbay', 'The process was stopped because it was idle.'),
  })

  /** Converts an operation's error to an UpstreamError if the upstream is at fault. */
  const translate = (error: unknown, opened: OpenConnection): unknown => {
    const fault = findFault(error)
    const known = fault?.kind === 'timeout' ? fault : (opened.failure() ?? fault)
    // An error response that arrived before the connection ended still counts as a response.
    if (fault === undefined && !(error instanceof Error && error.message === 'Not connected')) return error
    if (known === undefined) return error
    const hidden = [...secrets, ...(authorizer?.secrets() ?? [])]
    return new UpstreamError(known.kind, maskSecrets(known.message, hidden), { cause: error })
  }

  const runOnce = async <T>(operation: UpstreamOperation<T>, signal: AbortSignal | undefined): Promise<T> => {
    const opened = await waitFor(shared.connect(), signal)
    const requestOptions = { timeout: timeoutMs, ...(signal !== undefined && { signal }) }
    // Only timeouts count as failures here. A crash counts only once, no matter how many calls it ends.
    const outcome = await shared.guard(async () => {
      try {
        return success(await operation(opened.client, requestOptions))
      } catch (error) {
        const fault = signal?.aborted ? cancelled(error) : translate(error, opened)
        if (fault instanceof UpstreamError && fault.kind === 'timeout') throw fault
        return failure(fault)
      }
    })
    if (outcome.ok) return outcome.value
    throw outcome.error
  }

  return {
    get: async signal => (await waitFor(shared.connect(), signal)).client,
    run: async (operation, signal) => {
      try {
        return await runOnce(operation, signal)
      } catch (error) {
        if (!(error instanceof UpstreamError) || error.kind !== 'session_ended') throw error
        findTrace()?.repeat({ fault: 'session_ended' })
        return runOnce(operation, signal)
      }
    },
    state: shared.state,
    era: () => last?.era,
    hasSession: () => last?.hasSession === true,
    onState: shared.onState,
    onNotification: notifications.add,
    onProgress: progress.add,
    secrets: authorizer?.secrets,
    log: log.list,
    hold: shared.hold,
    close: shared.close,
  }
}
