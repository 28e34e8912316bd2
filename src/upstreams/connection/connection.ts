import type { Notification, RequestOptions } from '@modelcontextprotocol/client'
import { failure, success } from '../../lib/kernel/result.ts'
import type { Authorizer } from '../oauth-client/authorizer.ts'
import type { ResolvedConfig, UpstreamState } from '../upstream.ts'
import { CONNECTION_LIMITS, type ConnectionLimits } from './connection-limits.ts'
import { createListeners } from './listeners.ts'
import { type OpenConnection, openConnection, type UpstreamClient, type UpstreamOffer } from './open-connection.ts'
import { createOutputLog, type LogLine, maskSecrets } from './output-log.ts'
import { createProgressTokens, type OnProgress } from './progress-tokens.ts'
import type { RemoteNetwork } from './remote-transport.ts'
import { findFault } from './sdk-errors.ts'
import { createSharedConnection } from './shared-connection.ts'
import type { StdioProcesses } from './stdio-processes.ts'
import { UpstreamError } from './upstream-error.ts'

/** What all connections of one Patchbay share. */
export type UpstreamParts = {
  processes: StdioProcesses
  network: RemoteNetwork
  /** How Patchbay introduces itself. */
  clientInfo: { name: string; version: string }
  /** In place of the usual ones. */
  limits?: Partial<ConnectionLimits>
}

export type UpstreamConnectionOptions = {
  /** The configuration with its globals resolved; asked for before every connection. What it throws may be shown. */
  resolve: () => Promise<ResolvedConfig>
  /** One operation's. */
  timeoutMs: number
  /** Whether the connection is made at once, kept, and made again when it is lost. */
  isEager: boolean
  parts: UpstreamParts
  /** For a connection of one client of ours, which answers what the upstream asks. */
  offer?: UpstreamOffer
  /** Whose tokens it goes by, where the upstream asks for authorization by OAuth. */
  authorizer?: Authorizer | undefined
}

export type UpstreamOperation<T> = (client: UpstreamClient, options: RequestOptions) => Promise<T>

export type UpstreamConnection = {
  /** The client: connects, once however many ask, or comes back after a crash. Rejects with UpstreamError. */
  get: (signal?: AbortSignal) => Promise<UpstreamClient>
  /**
   * Runs one operation with the client, within its time: `options` go to the client's method. Rejects with UpstreamError
   * for what is wrong with the upstream, and with what the upstream itself answered as an error as that is (ProtocolError).
   * Run again, once, when the upstream had forgotten the session and so did nothing.
   */
  run: <T>(operation: UpstreamOperation<T>, signal?: AbortSignal) => Promise<T>
  state: () => UpstreamState
  /** Which era the upstream was last heard to speak; undefined until it is first connected. */
  era: () => 'legacy' | 'modern' | undefined
  /** Answers how to stop hearing. */
  onState: (listener: (state: UpstreamState) => void) => () => void
  /** Changed lists, updated resources, log messages, and whatever else the upstream tells, but for progress. */
  onNotification: (listener: (notification: Notification) => void) => () => void
  /** A token for `_meta.progressToken` of one request, and how to stop hearing of its progress. */
  hearProgress: (listener: OnProgress) => { token: string; stop: () => void }
  /** Tokens that it has shown, which may be shown to nobody else; another list with each new one. Undefined: it shows none. */
  secrets: (() => readonly string[]) | undefined
  /** What the process said beside the protocol, and what became of it. */
  log: () => readonly LogLine[]
  /** Keeps an idle process up, for as long as a subscription lasts, say; answers how to let go. */
  hold: () => () => void
  /** Ends it for good, with its process. */
  close: () => Promise<void>
}

const cancelled = (cause?: unknown): UpstreamError =>
  new UpstreamError('aborted', 'The call was cancelled.', cause === undefined ? {} : { cause })

/** Settles as the promise does, for a caller who may give up waiting; the work goes on for the others. */
const waitFor = <T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(cancelled())
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** Asks for the configuration; what keeps it from being resolved is said as it is. */
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
 * The connection to one upstream, made when it is first needed and shared by all who ask. One that fails is tried again
 * in the background, ever more seldom; a call tries at once, unless it failed over and over.
 */
export const createUpstreamConnection = (options: UpstreamConnectionOptions): UpstreamConnection => {
  const { parts, timeoutMs, isEager, offer = {}, authorizer } = options
  const limits: ConnectionLimits = { ...CONNECTION_LIMITS, ...parts.limits }
  const log = createOutputLog({ now: () => new Date() })
  const notifications = createListeners<Notification>()
  const progress = createProgressTokens()
  let secrets: readonly string[] = []
  let isOlderEra = false
  let era: ReturnType<UpstreamConnection['era']>
  /** Of a process that ended at once, whichever era it was asked in: each further try is one start, in turns. */
  let hasTriedBoth = false

  const open = async (signal: AbortSignal, onActivity: () => void): Promise<OpenConnection> => {
    const config = await resolveConfig(options.resolve)
    secrets = config.secrets
    // What keeps it from being authorized is said as it is, before anything is asked of the upstream.
    if (config.transport !== 'stdio') await authorizer?.getToken(config.url)
    log.hide(secrets)
    const make = (): Promise<OpenConnection> =>
      openConnection({
        ...parts,
        config,
        offer,
        authorizer,
        log,
        timeoutMs,
        startTimeoutMs: limits.startTimeoutMs,
        limits: { ...limits, maxMessageBytes: parts.network.maxResponseBytes },
        isOlderEra: isOlderEra && config.transport === 'stdio',
        onActivity,
        onNotification: told =>
          told.method === 'notifications/progress' ? progress.tell(told.params) : notifications.tell(told),
        signal,
      })
    try {
      const opened = await make()
      era = opened.client.getProtocolEra()
      isOlderEra = era === 'legacy'
      hasTriedBoth = false
      return opened
    } catch (error) {
      // Some servers of the older era end at a question that they do not know; asked as of old they stay.
      const hasEnded = error instanceof UpstreamError && error.kind === 'exited' && !signal.aborted
      if (hasEnded && hasTriedBoth) isOlderEra = !isOlderEra
      if (!hasEnded || hasTriedBoth || isOlderEra) throw error
      isOlderEra = true
      return make().catch((second: unknown) => {
        isOlderEra = false
        hasTriedBoth = true
        throw second
      })
    }
  }
  const openAndLog: typeof open = async (signal, onActivity) => {
    try {
      return await open(signal, onActivity)
    } catch (error) {
      const why = error instanceof Error ? error.message : ''
      // The end of a process is there already.
      if (!signal.aborted && log.list().at(-1)?.text !== why) log.add('patchbay', why)
      throw error
    }
  }
  const shared = createSharedConnection({
    open: openAndLog,
    isEager,
    limits,
    onIdleEnd: () => log.add('patchbay', 'The process was ended: nobody had asked it anything for a while.'),
  })

  /** What an operation failed with, told as the upstream's fault where it is one. */
  const translate = (error: unknown, opened: OpenConnection): unknown => {
    const fault = findFault(error)
    const known = fault?.kind === 'timeout' ? fault : (opened.failure() ?? fault)
    // What it answered before it went is an answer still.
    if (fault === undefined && !(error instanceof Error && error.message === 'Not connected')) return error
    if (known === undefined) return error
    const hidden = [...secrets, ...(authorizer?.secrets() ?? [])]
    return new UpstreamError(known.kind, maskSecrets(known.message, hidden), { cause: error })
  }

  const runOnce = async <T>(operation: UpstreamOperation<T>, signal: AbortSignal | undefined): Promise<T> => {
    const opened = await waitFor(shared.connect(), signal)
    const requestOptions = { timeout: timeoutMs, ...(signal !== undefined && { signal }) }
    // Only that it does not answer counts here: a crash is one failure, however many calls it ended.
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
        return runOnce(operation, signal)
      }
    },
    state: shared.state,
    era: () => era,
    onState: shared.onState,
    onNotification: notifications.add,
    hearProgress: progress.take,
    secrets: authorizer?.secrets,
    log: log.list,
    hold: shared.hold,
    close: shared.close,
  }
}
