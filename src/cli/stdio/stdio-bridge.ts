import type { Readable, Writable } from 'node:stream'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../lib/kernel/json.ts'
import { createLineReader } from '../../lib/kernel/line-reader.ts'
import { success } from '../../lib/kernel/result.ts'
import { operatorLookup } from '../../lib/outbound/name-resolver.ts'
import { createStreamingFetch } from '../../lib/outbound/streaming-fetch.ts'
import { explainBridgeFault } from './bridge-faults.ts'
import { createBridgeRequests } from './bridge-requests.ts'

export type StdioBridgeOptions = {
  /** The server's URL, `…/s/<uuid>`. */
  url: string
  /** A personal access token, if the server requires one. */
  token: string | undefined
  input: Readable
  /** Receives protocol messages only. */
  output: Writable
  /** Prints a line for the operator. */
  log: (line: string) => void
  maxMessageBytes: number
  maxJsonDepth: number
  /** The bridge ends when this promise settles, even if the input has not ended. */
  stop: Promise<unknown>
}

const CONNECT_TIMEOUT_MS = 10_000
/** Slightly longer than the maximum duration of a call. */
const RESPONSE_TIMEOUT_MS = 65 * 60_000
/** Maximum silence on a stream. The server sends something regularly. */
const STREAM_IDLE_MS = 30 * 60_000
const BODY_IDLE_MS = 60_000
const MAX_SOCKETS = 256
const MAX_RESPONSE_BYTES = 64 * 1_024 * 1_024
/** Time allowed for pending calls after the input has ended. */
const DRAIN_MS = 1_000
/** Time allowed for ending the session. */
const SESSION_END_MS = 1_000

const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600

const within = async (work: Promise<unknown>, ms: number): Promise<void> => {
  const timeUp = Promise.withResolvers<void>()
  const timer = setTimeout(timeUp.resolve, ms)
  await Promise.race([work.catch(() => {}), timeUp.promise])
  clearTimeout(timer)
}

/** Returns the single message, or the messages of a batch (protocol 2025-03-26). */
const messagesOf = (value: JsonValue): JsonObject[] => (Array.isArray(value) ? value : [value]).filter(isJsonObject)

/**
 * Relays messages between a client on standard input and output and a server over HTTP, with or without sessions, until
 * the input ends. Resolves once everything is closed.
 */
export const runStdioBridge = async (options: StdioBridgeOptions): Promise<void> => {
  const { url, token, input, output, log, maxMessageBytes, maxJsonDepth, stop } = options
  const guarded = createStreamingFetch({
    // The address comes from the operator alone, so every address is allowed.
    policy: () => success(undefined),
    organizationId: undefined,
    maxRedirects: 0,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    maxSockets: MAX_SOCKETS,
    lookup: operatorLookup(),
    headersTimeoutMs: RESPONSE_TIMEOUT_MS,
    bodyIdleMs: BODY_IDLE_MS,
    streamIdleMs: STREAM_IDLE_MS,
    maxResponseBytes: MAX_RESPONSE_BYTES,
  })
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: guarded.fetch,
    requestInit: { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } },
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 30_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: Number.POSITIVE_INFINITY,
    },
  })

  const write = (message: unknown): void => {
    output.write(`${JSON.stringify(message)}\n`)
  }
  const refuse = (id: JsonValue, code: number, message: string): void =>
    write({ jsonrpc: '2.0', id, error: { code, message } })
  const requests = createBridgeRequests({
    transport,
    write,
    explain: error => explainBridgeFault(error, { url, hasToken: token !== undefined }),
    log,
  })
  transport.onmessage = message => requests.receive(message)
  // Requests report their own failures. This handler only receives failures of the streams.
  transport.onerror = () => {}
  await transport.start()

  const takeLine = (line: string): void => {
    if (line.trim() === '') return
    const parsed = parseJson(line, maxJsonDepth)
    const messages = parsed.ok ? messagesOf(parsed.value) : []
    if (!parsed.ok) refuse(null, PARSE_ERROR, `Parse error: ${parsed.error.message}`)
    else if (messages.length === 0) refuse(null, INVALID_REQUEST, 'Invalid Request: no JSON-RPC message')
    for (const message of messages) requests.send(message)
  }
  const lines = createLineReader({
    maxBytes: maxMessageBytes,
    onLine: takeLine,
    onTooLong: () => refuse(null, INVALID_REQUEST, `The message is larger than ${maxMessageBytes} bytes`),
  })

  const inputEnded = new Promise<void>(resolve => {
    input.on('data', (chunk: Buffer) => lines.add(chunk))
    input.once('end', () => {
      lines.end()
      resolve()
    })
    input.once('close', resolve)
    input.once('error', () => resolve())
  })
  const outputEnded = new Promise<void>(resolve => {
    output.once('close', resolve)
    output.once('error', () => resolve())
  })
  const isCut = await Promise.race([inputEnded.then(() => false), outputEnded.then(() => true), stop.then(() => true)])
  if (!isCut) await within(Promise.race([requests.settled(), stop]), DRAIN_MS)
  input.destroy()
  requests.close()
  if (transport.sessionId !== undefined) await within(transport.terminateSession(), SESSION_END_MS)
  await transport.close()
  await guarded.close()
}
