import {
  Client as Client2,
  StreamableHTTPClientTransport as Http2,
  type OAuthClientProvider as Provider2,
  SSEClientTransport as Sse2,
} from '@modelcontextprotocol/client'
import type { OAuthClientProvider as Provider1 } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport as Sse1 } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CALLBACK } from './client.ts'

type Known = Awaited<ReturnType<Provider1['clientInformation']>>
type Tokens = Awaited<ReturnType<Provider1['tokens']>>
type Discovered = Awaited<ReturnType<NonNullable<Provider1['discoveryState']>>>

let memories = 0

/**
 * Creates everything an application must provide for the SDKs' OAuth code: a store, and a way to send the user to an
 * address. Records where the user was sent and what was requested from Patchbay.
 */
export const createMemory = ({
  clientMetadataUrl,
  redirectUrl = CALLBACK,
  registered,
}: {
  clientMetadataUrl?: string
  redirectUrl?: string
  registered?: Known
} = {}) => {
  const address = `192.0.2.${++memories}`
  /** The URLs to which the user was sent, in order. */
  const sentTo: URL[] = []
  /** Requests, such as `POST /oauth/token`, in order. */
  const asked: string[] = []
  let known = registered
  let tokens: Tokens
  let discovered: Discovered
  let verifier = ''
  const provider: Provider1 & Provider2 = {
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    redirectUrl,
    clientMetadata: { client_name: 'Official', redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' },
    state: () => `state ${sentTo.length}`,
    clientInformation: () => known,
    saveClientInformation: information => {
      known = information
    },
    tokens: () => tokens,
    saveTokens: given => {
      tokens = given
    },
    redirectToAuthorization: url => void sentTo.push(url),
    saveCodeVerifier: text => {
      verifier = text
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: state => {
      discovered = state
    },
    discoveryState: () => discovered,
    invalidateCredentials: what => {
      if (what === 'all' || what === 'client') known = undefined
      if (what === 'all' || what === 'tokens') tokens = undefined
    },
  }
  return {
    provider,
    sentTo,
    asked,
    clientId: (): string => known?.client_id ?? '',
    tokens: () => ({ access: tokens?.access_token ?? '', refresh: tokens?.refresh_token ?? '' }),
    /** Sends requests from an address of its own, for an app that trusts loopback as its proxy. */
    fetch: (input: string | URL, init?: RequestInit): Promise<Response> => {
      const headers = new Headers(init?.headers)
      headers.set('x-forwarded-for', address)
      asked.push(`${init?.method ?? 'GET'} ${new URL(input).pathname}`)
      return fetch(input, { ...init, headers })
    },
  }
}
export type Memory = ReturnType<typeof createMemory>

/** The features that the tests use and that both SDK generations share. */
export type Connection = {
  listTools: () => Promise<{ tools: { name: string }[] }>
  callTool: (params: { name: string; arguments?: Record<string, unknown> }) => Promise<unknown>
  close: () => Promise<void>
}

/** A client before it is connected. */
export type Attempt = {
  /** Rejects with the SDK's UnauthorizedError after the user has been sent to sign in. */
  connect: () => Promise<Connection>
  /** Passes the parameters of the client's callback to the SDK. */
  finish: (callback: URLSearchParams) => Promise<void>
}

export type SdkClient = {
  name: string
  /**
   * Whether the client requests a missing scope. SDK 1 only refreshes its token instead. Over SSE, neither SDK version
   * reacts.
   */
  canStepUp?: true
  open: (serverUrl: string, memory: Memory) => Attempt
}

const INFO = { name: 'official', version: '1.0.0' }

const second =
  (mode: 'auto' | 'legacy', Transport: typeof Http2 | typeof Sse2, suffix = ''): SdkClient['open'] =>
  (serverUrl, { provider, fetch }) => {
    const transport = new Transport(new URL(`${serverUrl}${suffix}`), { authProvider: provider, fetch })
    return {
      connect: async () => {
        const client = new Client2(INFO, { versionNegotiation: { mode } })
        await client.connect(transport)
        return client
      },
      finish: callback => transport.finishAuth(callback),
    }
  }

const first =
  (Transport: typeof Http1 | typeof Sse1, suffix = ''): SdkClient['open'] =>
  (serverUrl, { provider, fetch }) => {
    const transport = new Transport(new URL(`${serverUrl}${suffix}`), { authProvider: provider, fetch })
    return {
      connect: async () => {
        const client = new Client1(INFO)
        await client.connect(transport)
        return {
          listTools: () => client.listTools(),
          callTool: params => client.callTool(params),
          close: () => client.close(),
        }
      },
      finish: callback => transport.finishAuth(callback.get('code') ?? ''),
    }
  }

/** The official clients of both generations, over all of their transports. */
export const SDK_CLIENTS: readonly SdkClient[] = [
  { name: 'SDK 2 of 2026-07-28', open: second('auto', Http2), canStepUp: true },
  { name: 'SDK 2 with sessions', open: second('legacy', Http2), canStepUp: true },
  { name: 'SDK 2 over SSE', open: second('legacy', Sse2, '/sse') },
  { name: 'SDK 1 over Streamable HTTP', open: first(Http1) },
  { name: 'SDK 1 over SSE', open: first(Sse1, '/sse') },
]
