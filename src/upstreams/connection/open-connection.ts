import type { Client, ClientOptions, JSONRPCMessage, Notification, Transport } from '@modelcontextprotocol/client'
import type { Authorizer } from '../oauth-client/authorizer.ts'
import type { ResolvedConfig } from '../upstream.ts'
import { MAX_STATE_ERROR_CHARS } from './error-responses.ts'
import { subscribeToListChanges } from './list-changes.ts'
import { mcpClient } from './mcp-client.ts'
import type { MessageLimit } from './message-limit.ts'
import { createAwaitedRequests, createMessageScreen } from './message-screen.ts'
import { maskSecrets, type OutputLog, stripHidden } from './output-log.ts'
import { createRemoteTransport, type RemoteNetwork } from './remote-transport.ts'
import { findFault } from './sdk-errors.ts'
import type { StdioProcesses } from './stdio-processes.ts'
import { createStdioTransport, type StdioLimits } from './stdio-transport.ts'
import { guardMessages } from './transport-guards.ts'
import { UpstreamError } from './upstream-error.ts'

/** A connected client; `getProtocolEra()` returns the upstream's era. */
export type UpstreamClient = Client

/** What the upstream may ask this client for. Empty for a shared connection. */
export type ClientSetup = Pick<ClientOptions, 'capabilities'> & {
  /** Whether to connect in the session era only. By default, the newest era that both sides support is used. */
  isSessionEra?: boolean
  /** Called before connecting, to register request handlers. */
  prepare?: (client: UpstreamClient) => void
}

export type OpenConnection = {
  client: UpstreamClient
  isProcess: boolean
  /** Whether the connection keeps a session, without which a session-era upstream cannot send requests. */
  hasSession: boolean
  /** Number of requests in progress. Always 0 for a remote upstream, whose requests are not counted. */
  pending: () => number
  /** Resolves with the reason once the connection has ended. */
  ended: Promise<UpstreamError>
  failure: () => UpstreamError | undefined
  close: () => Promise<void>
}

export type OpenConnectionOptions = {
  config: ResolvedConfig
  processes: StdioProcesses
  network: RemoteNetwork
  clientInfo: { name: string; version: string }
  setup: ClientSetup
  authorizer: Authorizer | undefined
  log: OutputLog
  limits: StdioLimits
  messageLimit: MessageLimit
  /** Per operation. */
  timeoutMs: number
  /** Maximum time from the start of a process to its first response. The command may have to be downloaded first. */
  startTimeoutMs: number
  /** Whether to skip probing for the stateless era. */
  isSessionEra: boolean
  onActivity: () => void
  onNotification: (notification: Notification) => void
  signal: AbortSignal
}

/** Maximum number of pages of one list, to stop a list that never ends. */
const MAX_LIST_PAGES = 1_000

/** The upstream's name, capabilities and instructions as JSON. Held in memory as long as the connection. */
const MAX_SERVER_INFO_CHARS = 256 * 1_024

const assertServerInfoSize = (client: Client): void => {
  const serverInfo = [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()]
  if (JSON.stringify(serverInfo).length <= MAX_SERVER_INFO_CHARS) return
  const message = `The MCP server's name, capabilities and instructions are larger than ${MAX_SERVER_INFO_CHARS / 1_024} KiB.`
  throw new UpstreamError('too_large', message)
}

const isAsDeclared = <T>(_value: unknown): _value is T => true

/** Results are passed on unchecked: the client validates them, and foreign schemas must not be compiled here. */
const NO_VALIDATION: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator:
    <T>() =>
    (data: unknown) =>
      isAsDeclared<T>(data)
        ? { valid: true, data, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: 'unreachable' },
}

type Link = {
  transport: Transport
  isProcess: boolean
  hasSession: () => boolean
  pending: () => number
  /** Returns why the connection ended, or undefined if it has not ended. */
  failure: () => UpstreamError | undefined
  /** Returns the cause of a generic SDK error. */
  explain: (fault: UpstreamError | undefined) => UpstreamError | undefined
  close: () => Promise<void>
}

const createProcessLink = (config: ResolvedConfig & { transport: 'stdio' }, options: OpenConnectionOptions): Link => {
  const { processes, log, limits, messageLimit: limit, onActivity, startTimeoutMs } = options
  const awaited = createAwaitedRequests()
  const send = (message: JSONRPCMessage): void => void transport.send(message).catch(() => {})
  const screen = createMessageScreen({ limit, awaited, send })
  const transport = createStdioTransport({ processes, command: config, log, limits, screen, onActivity })
  guardMessages(transport, awaited)
  return {
    transport,
    isProcess: true,
    hasSession: () => true,
    pending: transport.pending,
    failure: transport.failure,
    explain: fault => {
      if (fault?.kind !== 'timeout') return fault
      if (!transport.printedNoMcp()) {
        const message = `The process did not respond within ${startTimeoutMs} ms of its start. Check its log, and that it is an MCP server.`
        return new UpstreamError('no_response', message)
      }
      const message =
        'The process does not print MCP messages. Check its log, and add the arguments that make it serve over stdio.'
      return new UpstreamError('not_mcp_output', message)
    },
    close: () => transport.close(),
  }
}

const createRemoteLink = (
  config: ResolvedConfig & { transport: 'http' | 'sse' },
  options: OpenConnectionOptions,
): Link => {
  const { network, limits, authorizer, messageLimit } = options
  const remote = createRemoteTransport(config, network, limits, authorizer, messageLimit)
  return {
    ...remote,
    isProcess: false,
    pending: () => 0,
    explain: fault => {
      const seen = remote.lastFault() ?? fault
      if (seen?.kind !== 'timeout') return seen
      const message = `The MCP server did not respond within ${options.timeoutMs} ms while connecting. Check the URL.`
      return new UpstreamError('no_response', message)
    },
  }
}

const createClient = ({ clientInfo, setup, config, ...options }: OpenConnectionOptions): UpstreamClient => {
  // Detecting the era takes at most half of the time, leaving the other half for the session era's handshake.
  const probe = { timeoutMs: config.transport === 'stdio' ? options.startTimeoutMs / 2 : options.timeoutMs }
  const isSession = config.transport === 'sse' || options.isSessionEra
  const client = new (mcpClient().Client)(clientInfo, {
    capabilities: setup.capabilities ?? {},
    inputRequired: { autoFulfill: false },
    versionNegotiation: { mode: isSession ? 'legacy' : 'auto', probe },
    jsonSchemaValidator: NO_VALIDATION,
    listMaxPages: MAX_LIST_PAGES,
  })
  // The SDK's own handler drops the last progress notification before a response.
  client.removeNotificationHandler('notifications/progress')
  setup.prepare?.(client)
  client.fallbackNotificationHandler = async notification => options.onNotification(notification)
  return client
}

/** Settles like the promise, but rejects if the signal aborts first. */
export const untilAborted = async <T>(
  promise: Promise<T>,
  signal: AbortSignal,
  toError: () => UpstreamError,
): Promise<T> => {
  const end = Promise.withResolvers<never>()
  const onAbort = (): void => end.reject(toError())
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, end.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Rejects after `ms` or when the signal aborts. */
const withTimeout = <T>(promise: Promise<T>, ms: number, signal: AbortSignal): Promise<T> =>
  untilAborted(promise, AbortSignal.any([signal, AbortSignal.timeout(ms)]), () =>
    signal.aborted
      ? new UpstreamError('aborted', 'The connection was closed while connecting.')
      : new UpstreamError('timeout', 'The time is up.'),
  )

const OPEN_FAILED = 'Cannot connect to the MCP server'

const openFailed = (error: unknown, secrets: readonly string[]): UpstreamError => {
  const text = maskSecrets(stripHidden(error instanceof Error ? error.message : String(error)), secrets)
  return new UpstreamError('protocol', `${OPEN_FAILED}: ${text.slice(0, MAX_STATE_ERROR_CHARS)}`, {
    ownWords: `${OPEN_FAILED}.`,
  })
}

/** Converts any error to an UpstreamError with secrets masked. */
const toFault = (error: unknown, link: Link, secrets: readonly string[]): UpstreamError => {
  const fault = link.failure() ?? link.explain(findFault(error)) ?? openFailed(error, secrets)
  const ownWords = maskSecrets(fault.ownWords, secrets)
  return new UpstreamError(fault.kind, maskSecrets(fault.message, secrets), { cause: error, ownWords })
}

/** Opens one connection. On failure, cleans up and throws UpstreamError with the reason. */
export const openConnection = async (options: OpenConnectionOptions): Promise<OpenConnection> => {
  const { config, signal } = options
  const link = config.transport === 'stdio' ? createProcessLink(config, options) : createRemoteLink(config, options)
  const client = createClient(options)
  const ended = Promise.withResolvers<UpstreamError>()
  const closed = new UpstreamError('protocol', 'The connection to the MCP server was closed.')
  client.onclose = () => ended.resolve(link.failure() ?? closed)
  // The SDK keeps waiting for a response even after its transport has closed.
  const lost = ended.promise.then(error => Promise.reject(error))
  lost.catch(() => {})
  const stop = new AbortController()
  let isClosed = false
  const totalMs = link.isProcess ? options.startTimeoutMs : 2 * options.timeoutMs
  try {
    const timeout = link.isProcess ? options.startTimeoutMs : options.timeoutMs
    await withTimeout(Promise.race([client.connect(link.transport, { timeout }), lost]), totalMs, signal)
    assertServerInfoSize(client)
    options.authorizer?.keepOpeningTokens()
  } catch (error) {
    const fault = toFault(error, link, [...config.secrets, ...(options.authorizer?.secrets() ?? [])])
    await link.close()
    throw fault
  }
  subscribeToListChanges({
    client,
    timeoutMs: options.timeoutMs,
    onNotification: options.onNotification,
    signal: stop.signal,
  })
  void ended.promise.then(() => stop.abort())
  return {
    client,
    isProcess: link.isProcess,
    hasSession: client.getProtocolEra() === 'legacy' && link.hasSession(),
    pending: link.pending,
    ended: ended.promise,
    failure: () =>
      link.failure() ?? (isClosed ? new UpstreamError('aborted', 'The connection was closed.') : undefined),
    close: async () => {
      isClosed = true
      stop.abort()
      await link.close()
    },
  }
}
