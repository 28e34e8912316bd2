import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createRawServer, type LookupFunction, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { createAddressPolicy } from '../../../src/lib/outbound/address-policy.ts'
import { createHttpClient, type HttpClientOptions } from '../../../src/lib/outbound/client.ts'
import { type HttpClient, OutboundError, type OutboundRequest } from '../../../src/lib/outbound/outbound-request.ts'

const closeAfterTest = (server: Server, sockets: Set<Socket>): void => {
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise(resolve => server.close(resolve))
  })
}

/** A server on loopback: its port, the number of accepted connections and the open sockets. */
export type Api = { port: number; connections: number; open: Set<Socket> }

export const listen = async (server: Server, host = '127.0.0.1', port = 0): Promise<Api> => {
  const api: Api = { port, connections: 0, open: new Set() }
  server.on('connection', socket => {
    api.connections++
    api.open.add(socket)
    // Ignores errors, because clients may close connections in any way.
    socket.on('error', () => {})
    socket.on('close', () => api.open.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  closeAfterTest(server, api.open)
  const address = server.address()
  if (address !== null && typeof address === 'object') api.port = address.port
  return api
}

export const startApi = (answer: RequestListener, host?: string, port?: number): Promise<Api> =>
  listen(createServer(answer), host, port)

export const startTlsApi = (pair: { key: string; cert: string }, answer: RequestListener): Promise<Api> =>
  listen(createTlsServer(pair, answer))

/** Starts a raw TCP server that calls `answer` with the socket and path of each request. */
export const startRawApi = (answer: (socket: Socket, path: string) => void): Promise<Api> =>
  listen(
    createRawServer(socket => {
      socket.on('data', head => answer(socket, String(head).split(' ')[1] ?? ''))
    }),
  )

/** Returns a resolver that knows only these names, with or without a trailing dot. */
export const resolverOf = (names: Readonly<Record<string, readonly string[]>>): LookupFunction => {
  const known = new Map(Object.entries(names))
  return (hostname, _options, callback) => {
    const addresses = known.get(hostname.replace(/\.$/, ''))
    process.nextTick(() => {
      if (addresses === undefined) callback(Object.assign(new Error('unknown name'), { code: 'ENOTFOUND' }), [])
      else
        callback(
          null,
          addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
        )
    })
  }
}

/** Creates a client that may reach loopback, also under the names `api.test` and `other.test`. */
export const buildClient = (options: Partial<HttpClientOptions> = {}): HttpClient => {
  const client = createHttpClient({
    policy: createAddressPolicy({ allow: ['127.0.0.1'] }),
    lookup: resolverOf({ 'api.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'] }),
    maxRedirects: 5,
    connectTimeoutMs: 2_000,
    maxSockets: 8,
    ...options,
  })
  onTestFinished(() => client.close())
  return client
}

export const requestTo = (url: string, request: Partial<OutboundRequest> = {}): OutboundRequest => ({
  organizationId: undefined,
  method: 'GET',
  url,
  headers: [],
  timeoutMs: 5_000,
  maxResponseBytes: 4_000_000,
  ...request,
})

/** Returns the error with which a request fails. Fails the test if there is a response. */
export const faultOf = async (answer: Promise<unknown>): Promise<OutboundError> => {
  const outcome: unknown = await answer.catch((error: unknown) => error)
  if (outcome instanceof OutboundError) return outcome
  throw new Error('there was a response, or an error of another kind', { cause: outcome })
}
