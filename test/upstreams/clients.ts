import {
  Client as Client2,
  type ClientOptions,
  StreamableHTTPClientTransport as Http2,
} from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport as Sse1 } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { onTestFinished } from 'vitest'
import { z } from 'zod'

export const CLIENT_KINDS = ['sdk 1', 'sdk 1 over sse', 'sdk 2', 'sdk 2 stateless'] as const
export type ClientKind = (typeof CLIENT_KINDS)[number]

/** Every kind of client with a server of each era. */
export const PAIRS = CLIENT_KINDS.flatMap(kind => (['talks-old', 'talks-new'] as const).map(line => ({ kind, line })))

/**
 * Each kind of client once and each era of servers twice. For features that share their path through Patchbay with a
 * feature that is tested with all pairs.
 */
export const SOME_PAIRS = [
  { kind: 'sdk 1', line: 'talks-old' },
  { kind: 'sdk 1 over sse', line: 'talks-new' },
  { kind: 'sdk 2', line: 'talks-new' },
  { kind: 'sdk 2 stateless', line: 'talks-old' },
] as const satisfies readonly { kind: ClientKind; line: string }[]

type LogLevel = 'debug' | 'info' | 'warning' | 'error'
type CallOptions = { signal?: AbortSignal; onprogress?: (progress: object) => void }
type Answer = Record<string, unknown>

/** The common interface of clients of both SDK generations and eras, as far as the tests use it. */
export type AnyClient = {
  callTool: (name: string, args?: Record<string, unknown>, options?: CallOptions) => Promise<Answer>
  request: (method: string, params?: Record<string, unknown>) => Promise<Answer>
  /** Sets the level for the session or, in the stateless era, for all later requests. */
  setLevel: (level: LogLevel) => Promise<void>
  /** Returns a function that ends the subscription. */
  subscribe: (uri: string) => Promise<() => Promise<void>>
  capabilities: () => Record<string, unknown>
  instructions: () => string | undefined
  logs: { level: string; logger?: unknown; data?: unknown }[]
  /** URIs of the resources that were announced as updated. */
  updated: string[]
  /** Ends the client's session, if it has one. */
  end: () => Promise<void>
  close: () => Promise<void>
}

export type ClientExtras = {
  token?: string | undefined
  capabilities?: NonNullable<ClientOptions['capabilities']>
  /** Sets the client's handlers before it connects. */
  prepare1?: (client: Client1) => void
  prepare2?: (client: Client2) => void
}

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel'
const INFO = { name: 'official', version: '1.0.0' }
const AnyResult = z.record(z.string(), z.unknown())

const connectFirst = async (url: string, isSse: boolean, extras: ClientExtras): Promise<AnyClient> => {
  const { capabilities = {}, token, prepare1 } = extras
  const client = new Client1(INFO, { capabilities })
  const logs: AnyClient['logs'] = []
  const updated: string[] = []
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logs.push(params))
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri))
  prepare1?.(client)
  const requestInit = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }
  const http = isSse ? undefined : new Http1(new URL(url), { requestInit })
  await client.connect(http ?? new Sse1(new URL(`${url}/sse`), { requestInit }))
  return {
    callTool: (name, given = {}, options) => client.callTool({ name, arguments: given }, undefined, options),
    request: (method, params = {}) => client.request({ method, params }, ResultSchema),
    setLevel: async level => void (await client.setLoggingLevel(level)),
    subscribe: async uri => {
      await client.subscribeResource({ uri })
      return async () => void (await client.unsubscribeResource({ uri }))
    },
    capabilities: () => ({ ...client.getServerCapabilities() }),
    instructions: () => client.getInstructions(),
    logs,
    updated,
    end: async () => http?.terminateSession(),
    close: () => client.close(),
  }
}

const connectSecond = async (url: string, isStateless: boolean, extras: ClientExtras): Promise<AnyClient> => {
  const { capabilities = {}, token, prepare2 } = extras
  const client = new Client2(INFO, {
    capabilities,
    versionNegotiation: { mode: isStateless ? { pin: '2026-07-28' } : 'legacy' },
  })
  const logs: AnyClient['logs'] = []
  const updated: string[] = []
  client.setNotificationHandler('notifications/message', ({ params }) => void logs.push(params))
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri))
  prepare2?.(client)
  const requestInit = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }
  const http = new Http2(new URL(url), { requestInit })
  await client.connect(http)
  let meta = {}
  return {
    callTool: (name, given = {}, options) => client.callTool({ name, arguments: given, _meta: meta }, options),
    request: (method, params = {}) =>
      client.request({ method, params: { ...params, _meta: { ...Object(params._meta), ...meta } } }, AnyResult),
    setLevel: async level => {
      if (isStateless) meta = { [LOG_LEVEL]: level }
      else await client.setLoggingLevel(level)
    },
    subscribe: async uri => {
      if (isStateless) {
        const subscription = await client.listen({ resourceSubscriptions: [uri] })
        return () => subscription.close()
      }
      await client.subscribeResource({ uri })
      return async () => void (await client.unsubscribeResource({ uri }))
    },
    capabilities: () => ({ ...client.getServerCapabilities() }),
    instructions: () => client.getInstructions(),
    logs,
    updated,
    end: () => http.terminateSession(),
    close: () => client.close(),
  }
}

/** Connects an official client of one SDK generation and era. Closes it after the test. */
export const connectClient = async (kind: ClientKind, url: string, extras: ClientExtras = {}): Promise<AnyClient> => {
  const client = kind.startsWith('sdk 1')
    ? await connectFirst(url, kind === 'sdk 1 over sse', extras)
    : await connectSecond(url, kind === 'sdk 2 stateless', extras)
  onTestFinished(() => client.close())
  return client
}

const Content = z.object({ content: z.array(z.object({ text: z.string() })) })

/** Parses the JSON in the text of a tool result. */
export const jsonOf = <T>(answer: Answer): T => JSON.parse(Content.parse(answer).content[0]?.text ?? 'null')

/** Returns the first text of a result. */
export const textOf = ({ content }: Record<string, unknown>): string => {
  const [block]: unknown[] = Array.isArray(content) ? content : []
  return typeof block === 'object' && block !== null && 'text' in block ? String(block.text) : ''
}
