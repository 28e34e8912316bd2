import type { Readable, Writable } from 'node:stream'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createLineReader, isJsonObject, type JsonObject, type JsonValue, parseJson, success } from '../kernel/index.ts'
import { createGuardedFetch } from '../platform/net/index.ts'
import { explainBridgeFault } from './bridge-faults.ts'
import { createBridgeRequests } from './bridge-requests.ts'

export type StdioBridgeOptions = {
  /** Of the server, `…/s/<uuid>`. */
  url: string
  /** A personal access token, where the server asks for one. */
  token: string | undefined
  input: Readable
  /** Gets the protocol's messages, and nothing else. */
  output: Writable
  /** For whoever looks after it. */
  log: (line: string) => void
  maxMessageBytes: number
  maxJsonDepth: number
  /** Ends it before its input does. */
  stop: Promise<unknown>
}

const CONNECT_TIMEOUT_MS = 10_000
/** The longest a call may be allowed to take, and some. */
const ANSWER_TIMEOUT_MS = 65 * 60_000
/** Silence of a stream: the server says something every so often. */
const STREAM_IDLE_MS = 30 * 60_000
const BODY_IDLE_MS = 60_000
const MAX_SOCKETS = 256
const MAX_ANSWER_BYTES = 64 * 1_024 * 1_024
/** What calls under way still have once nobody says anything any more. */
const LAST_ANSWERS_MS = 1_000
/** What the end of a session may take. */
const GOODBYE_MS = 1_000

const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600

const within = async (work: Promise<unknown>, ms: number): Promise<void> => {
  const timeUp = Promise.withResolvers<void>()
  const timer = setTimeout(timeUp.resolve, ms)
  await Promise.race([work.catch(() => {}), timeUp.promise])
  clearTimeout(timer)
}

/** A message, or several in one, as the protocol of 2025-03-26 has it. */
const messagesOf = (value: JsonValue): JsonObject[] => (Array.isArray(value) ? value : [value]).filter(isJsonObject)

/**
 * Passes on what a client says over standard input and output to a server reached over HTTP, and back, in either era of
 * the protocol, until the input ends. Resolves once nothing is left open.
 */
export const runStdioBridge = async (options: StdioBridgeOptions): Promise<void> => {
  const { url, token, input, output, log, maxMessageBytes, maxJsonDepth, stop } = options
  const guarded = createGuardedFetch({
    // The operator of this command says where to, and nobody else.
    policy: () => success(undefined),
    maxRedirects: 0,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    maxSockets: MAX_SOCKETS,
    headersTimeoutMs: ANSWER_TIMEOUT_MS,
    bodyIdleMs: BODY_IDLE_MS,
    streamIdleMs: STREAM_IDLE_MS,
    maxResponseBytes: MAX_ANSWER_BYTES,
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
  // Each request's own end tells its client; this is of the streams between them.
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
  if (!isCut) await within(Promise.race([requests.settled(), stop]), LAST_ANSWERS_MS)
  input.destroy()
  requests.close()
  if (transport.sessionId !== undefined) await within(transport.terminateSession(), GOODBYE_MS)
  await transport.close()
  await guarded.close()
}
