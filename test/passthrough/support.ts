import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { connect, type Server, type Socket } from 'node:net'
import { expect, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { portOf } from '../mcp/wire.ts'
import type { ApiClient } from '../support/api-client.ts'

export type Seen = { method: string; url: string; headers: IncomingHttpHeaders; rawHeaders: string[]; body: string }

/** Starts a server on loopback. After the test, the server and its connections close. */
export const listen = async (
  server: Server,
  port = 0,
): Promise<{ port: number; sockets: Set<Socket>; stop: () => Promise<void> }> => {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  const stop = async (): Promise<void> => {
    const closed = new Promise(resolve => server.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  onTestFinished(stop)
  return { port: portOf(server), sockets, stop }
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(Buffer.from(part))
  return Buffer.concat(parts).toString()
}

/** Starts the upstream of most tests, which records requests and returns them. */
export const startUpstream = async (
  answer: (response: ServerResponse, seen: Seen, request: IncomingMessage) => void = (response, seen) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ method: seen.method, url: seen.url, body: seen.body }))
  },
) => {
  const seen: Seen[] = []
  const listener: RequestListener = async (request, response) => {
    const { method = '', url = '', headers, rawHeaders } = request
    const body = await readBody(request).catch(() => '')
    const one = { method, url, headers, rawHeaders, body }
    seen.push(one)
    answer(response, one, request)
  }
  return { seen, ...(await listen(createServer(listener))) }
}

/** Creates a passthrough server for this upstream URL. */
export const passTo = async (
  api: ApiClient,
  url: string,
  { server = {}, upstream = {} }: { server?: object; upstream?: object } = {},
) => {
  const { id } = await api.create('/servers', {
    name: 'Passing',
    access: 'public',
    presentation: 'passthrough',
    ...server,
  })
  const { id: upstreamId } = await api.create(`/servers/${id}/upstreams`, {
    name: 'behind',
    transport: 'http',
    url,
    ...upstream,
  })
  return { id, upstreamId, path: `/s/${id}`, url: `${api.origin}/s/${id}` }
}

export type RawAnswer = { status: number; head: string; body: string }

/** Sends raw bytes, and reads until the other end closes the connection or has sent a complete response. */
export const sendRaw = (origin: string, text: string): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin)
    const socket = connect(Number(port), hostname === 'localhost' ? '127.0.0.1' : hostname)
    let said = ''
    const end = (): void => {
      socket.destroy()
      const at = said.indexOf('\r\n\r\n')
      resolve({
        status: Number(/^HTTP\/1\.1 (\d{3})/.exec(said)?.[1] ?? 0),
        head: at === -1 ? said : said.slice(0, at),
        body: at === -1 ? '' : said.slice(at + 4),
      })
    }
    socket.setEncoding('latin1')
    socket.on('data', (part: string) => {
      said += part
      const at = said.indexOf('\r\n\r\n')
      const length = at === -1 ? undefined : /content-length: (\d+)/i.exec(said.slice(0, at))?.[1]
      if (length !== undefined && said.length - at - 4 >= Number(length)) end()
      else if (said.endsWith('0\r\n\r\n')) end()
    })
    socket.on('close', end)
    socket.on('error', reject)
    socket.write(text, 'latin1')
  })

const Executions = z.object({
  items: z.array(
    z.object({
      tool: z.string().nullable(),
      outcome: z.string(),
      status: z.number().nullable(),
      client: z.string().nullable(),
      durationMs: z.number(),
      requestBytes: z.number(),
      responseBytes: z.number(),
      error: z.string().nullable(),
      request: z.object({ method: z.string(), url: z.string() }).nullable(),
    }),
  ),
})

/** Retries the check until it succeeds, because the machine may be busy. */
export const until = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 15_000, interval: 10 })

/** Returns the history of a server, newest first, once it has entries. */
export const historyOf = (api: ApiClient, serverId: string) =>
  until(async () => {
    const { items } = Executions.parse((await api.expectOk('GET', `/servers/${serverId}/executions`)).body)
    expect(items.length).toBeGreaterThan(0)
    return items
  })
