import type { Client, ClientOptions, Notification, Transport } from '@modelcontextprotocol/client'
import type { Authorizer } from '../oauth-client/authorizer.ts'
import type { ResolvedConfig } from '../upstream.ts'
import { boundDepth } from './bound-depth.ts'
import { keepListening } from './listening.ts'
import { mcpClient } from './mcp-client.ts'
import { maskSecrets, type OutputLog, stripHidden } from './output-log.ts'
import { createRemoteTransport, type RemoteNetwork } from './remote-transport.ts'
import { findFault } from './sdk-errors.ts'
import type { StdioProcesses } from './stdio-processes.ts'
import { createStdioTransport, type StdioLimits } from './stdio-transport.ts'
import { UpstreamError } from './upstream-error.ts'

/** A client of an upstream, connected, in the era that the upstream speaks: `getProtocolEra()`. */
export type UpstreamClient = Client

/** What a client of ours offers an upstream besides asking; left out: nothing, as a shared connection must. */
export type UpstreamOffer = Pick<ClientOptions, 'capabilities' | 'inputRequired'> & {
  /** Called before the client is connected, to set its request handlers. */
  prepare?: (client: UpstreamClient) => void
}

export type OpenConnection = {
  client: UpstreamClient
  isProcess: boolean
  /** Requests that are not answered yet; 0 for a remote one, where nobody counts. */
  pending: () => number
  /** Resolves once the connection is gone, with the reason. */
  ended: Promise<UpstreamError>
  failure: () => UpstreamError | undefined
  close: () => Promise<void>
}

export type OpenConnectionOptions = {
  config: ResolvedConfig
  processes: StdioProcesses
  network: RemoteNetwork
  clientInfo: { name: string; version: string }
  offer: UpstreamOffer
  authorizer: Authorizer | undefined
  log: OutputLog
  limits: StdioLimits
  /** One operation's. */
  timeoutMs: number
  /** From the start of a process to its first answer: a command may have to be fetched first. */
  startTimeoutMs: number
  /** Whether the process is known to speak the older era only, so that it is not asked for the newer one first. */
  isOlderEra: boolean
  onActivity: () => void
  onNotification: (notification: Notification) => void
  signal: AbortSignal
}

/** Pages of one list; far above any honest one, and an end to one that never ends. */
const MAX_LIST_PAGES = 1_000

/** What an upstream says of itself when it is connected, as JSON, in characters: it is held for as long as that lasts. */
const MAX_INTRODUCTION_CHARS = 256 * 1_024

const assertIntroduction = (client: Client): void => {
  const said = [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()]
  if (JSON.stringify(said).length <= MAX_INTRODUCTION_CHARS) return
  const message = `What the upstream says of itself is larger than ${MAX_INTRODUCTION_CHARS / 1_024} KiB; have it say less.`
  throw new UpstreamError('too_large', message)
}

/** Says that a value is whatever it was declared to be. */
const isAsDeclared = <T>(_value: unknown): _value is T => true

/** Results are passed on as they are: whoever asked looks at them, and schemas of strangers are not compiled here. */
const NO_VALIDATION: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator:
    <T>() =>
    (data: unknown) =>
      isAsDeclared<T>(data)
        ? { valid: true, data, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: 'never said' },
}

type Link = {
  transport: Transport
  isProcess: boolean
  pending: () => number
  /** Why it ended, once it has. */
  failure: () => UpstreamError | undefined
  /** What lies behind an error of the SDK that says too little. */
  explain: (fault: UpstreamError | undefined) => UpstreamError | undefined
  close: () => Promise<void>
}

const SILENT = 'see its log, and whether it is an MCP server'

const createProcessLink = (config: ResolvedConfig & { transport: 'stdio' }, options: OpenConnectionOptions): Link => {
  const { processes, log, limits, onActivity, startTimeoutMs } = options
  const transport = createStdioTransport({ processes, command: config, log, limits, onActivity })
  boundDepth(transport)
  return {
    transport,
    isProcess: true,
    pending: transport.pending,
    failure: transport.failure,
    explain: fault => {
      if (fault?.kind !== 'timeout') return fault
      if (!transport.saidOnlyRubbish()) {
        const message = `The process did not answer within ${startTimeoutMs} ms of its start; ${SILENT}.`
        return new UpstreamError('silent', message)
      }
      const message = `What the process prints is no MCP; see its log, and give the arguments that make it serve over stdio.`
      return new UpstreamError('rubbish', message)
    },
    close: () => transport.close(),
  }
}

const createRemoteLink = (
  config: ResolvedConfig & { transport: 'http' | 'sse' },
  options: OpenConnectionOptions,
): Link => {
  const remote = createRemoteTransport(config, options.network, options.limits, options.authorizer)
  return {
    transport: remote.transport,
    isProcess: false,
    pending: () => 0,
    failure: remote.failure,
    explain: fault => {
      const seen = remote.lastFault() ?? fault
      if (seen?.kind !== 'timeout') return seen
      const message = `The upstream did not answer within ${options.timeoutMs} ms while the connection was made; check the URL.`
      return new UpstreamError('silent', message)
    },
    close: remote.close,
  }
}

const createLink = (options: OpenConnectionOptions): Link => {
  const { config } = options
  return config.transport === 'stdio' ? createProcessLink(config, options) : createRemoteLink(config, options)
}

const createClient = ({ clientInfo, offer, config, ...options }: OpenConnectionOptions): UpstreamClient => {
  const { capabilities = {}, inputRequired = { autoFulfill: false } } = offer
  // Half of the time for the question which era it is, so that the older handshake has the other half.
  const probe = { timeoutMs: config.transport === 'stdio' ? options.startTimeoutMs / 2 : options.timeoutMs }
  const isOlder = config.transport === 'sse' || options.isOlderEra
  const client = new (mcpClient().Client)(clientInfo, {
    capabilities,
    inputRequired,
    versionNegotiation: { mode: isOlder ? 'legacy' : 'auto', probe },
    jsonSchemaValidator: NO_VALIDATION,
    listMaxPages: MAX_LIST_PAGES,
  })
  // The SDK's own handler forgets a request before it has told the last of its progress.
  client.removeNotificationHandler('notifications/progress')
  offer.prepare?.(client)
  client.fallbackNotificationHandler = async notification => options.onNotification(notification)
  return client
}

/** Settles as the promise does, or rejects when the time is up or the signal says so. */
const within = async <T>(promise: Promise<T>, ms: number, signal: AbortSignal): Promise<T> => {
  const end = Promise.withResolvers<never>()
  const timer = setTimeout(() => end.reject(new UpstreamError('timeout', 'The time is up.')), ms)
  const onAbort = (): void => end.reject(new UpstreamError('aborted', 'The connection was closed while it was made.'))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, end.promise])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

/** Of what an upstream said in an error. */
const MAX_SAID_CHARS = 300

const NOT_OPENED = 'The upstream could not be opened as an MCP server'

const refusedToOpen = (error: unknown, secrets: readonly string[]): UpstreamError => {
  const said = maskSecrets(stripHidden(error instanceof Error ? error.message : String(error)), secrets)
  return new UpstreamError('protocol', `${NOT_OPENED}: ${said.slice(0, MAX_SAID_CHARS)}`, {
    ownWords: `${NOT_OPENED}.`,
  })
}

/** An error of ours for whatever went wrong, without the values of secrets. */
const toFault = (error: unknown, link: Link, secrets: readonly string[]): UpstreamError => {
  const fault = link.failure() ?? link.explain(findFault(error)) ?? refusedToOpen(error, secrets)
  const ownWords = maskSecrets(fault.ownWords, secrets)
  return new UpstreamError(fault.kind, maskSecrets(fault.message, secrets), { cause: error, ownWords })
}

/** Makes one connection. Throws UpstreamError that says why there is none; nothing of it is left then. */
export const openConnection = async (options: OpenConnectionOptions): Promise<OpenConnection> => {
  const { config, signal } = options
  const link = createLink(options)
  const client = createClient(options)
  const ended = Promise.withResolvers<UpstreamError>()
  const closed = new UpstreamError('protocol', 'The connection to the upstream was closed.')
  client.onclose = () => ended.resolve(link.failure() ?? closed)
  // The SDK waits on for the answer that a transport it has closed cannot bring.
  const lost = ended.promise.then(error => Promise.reject(error))
  lost.catch(() => {})
  const stop = new AbortController()
  let isClosed = false
  const totalMs = link.isProcess ? options.startTimeoutMs : 2 * options.timeoutMs
  try {
    const timeout = link.isProcess ? options.startTimeoutMs : options.timeoutMs
    await within(Promise.race([client.connect(link.transport, { timeout }), lost]), totalMs, signal)
    assertIntroduction(client)
  } catch (error) {
    const fault = toFault(error, link, [...config.secrets, ...(options.authorizer?.secrets() ?? [])])
    await link.close()
    throw fault
  }
  keepListening({ client, timeoutMs: options.timeoutMs, onNotification: options.onNotification, signal: stop.signal })
  void ended.promise.then(() => stop.abort())
  return {
    client,
    isProcess: link.isProcess,
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
