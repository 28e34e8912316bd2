import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { runPatchbay, runUser } from '../support/world.ts'
import { historyOf, listen, passTo, startUpstream, until } from './support.ts'

const STREAM = { 'content-type': 'text/event-stream' }

/** Opens a request. Provides the head of the response once it arrives, and the body received so far. */
const open = async (
  url: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
) => {
  const outgoing = requestHttp(url, { method, headers, agent: false })
  outgoing.on('error', () => {})
  onTestFinished(() => void outgoing.destroy())
  const answered = once(outgoing, 'response').then(([answer]: IncomingMessage[]) => {
    if (answer === undefined) throw new Error('no answer')
    const got = { answer, text: '', isClosed: false, isWhole: false }
    answer.setEncoding('utf8')
    answer.on('data', (part: string) => {
      got.text += part
    })
    answer.on('error', () => {})
    answer.on('close', () => {
      got.isClosed = true
      got.isWhole = answer.complete
    })
    return got
  })
  answered.catch(() => {})
  if (method === 'GET') outgoing.end()
  return { outgoing, answered }
}

/** Resolves when the request or response has closed, whether or not it completed. */
const gone = (emitter: IncomingMessage | ServerResponse): Promise<void> =>
  new Promise(resolve => {
    if (emitter.destroyed && emitter.closed) resolve()
    else emitter.on('close', () => resolve())
  })

const TCP_TABLE = '/proc/net/tcp'
/** The `tr` value of the kernel's keep-alive timer, which runs while a connection is silent (proc_pid_net(5)). */
const KEEP_ALIVE_TIMER = '02'

/** Returns the active kernel timer of the socket from `port` to `otherPort`, both on loopback. */
const timerOf = (port: number | undefined, otherPort: number | undefined): string | undefined => {
  const place = (number = 0): string => `0100007F:${number.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync(TCP_TABLE, 'utf8')
    .split('\n')
    .map(row => row.trim().split(/\s+/))
  return rows.find(([, local, remote]) => local === place(port) && remote === place(otherPort))?.[5]?.slice(0, 2)
}

describe('a stream through a passthrough server', () => {
  const patchbay = runPatchbay()
  const api = runUser(patchbay)

  /** Starts an upstream whose responses the test writes. */
  const startHeld = async (server = {}) => {
    const held: ServerResponse[] = []
    const requests: IncomingMessage[] = []
    const upstream = await listen(
      createServer((request, response) => {
        requests.push(request)
        held.push(response)
        if (request.method === 'GET') response.writeHead(200, STREAM).flushHeaders()
        request.on('error', () => {})
      }),
    )
    return {
      held,
      requests,
      ...upstream,
      server: await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`, { server }),
    }
  }
  const nextOf = async <T>(list: readonly T[], index = 0): Promise<T> => {
    await until(() => expect(list.length).toBeGreaterThan(index))
    const item = list[index]
    if (item === undefined) throw new Error('it is not there')
    return item
  }

  it('delivers its head at once and each event as it is written', async () => {
    const { held, server } = await startHeld()
    const { answered } = await open(server.url)
    const got = await answered
    expect(got.answer.headers['content-type']).toBe('text/event-stream')
    const response = await nextOf(held)
    for (const event of ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']) {
      const before = got.text
      response.write(event)
      // No later data follows that could flush the event.
      await until(() => expect(got.text).toBe(before + event))
    }
    response.end()
    await gone(got.answer)
    expect(got.isWhole).toBe(true)
    const [latest] = await historyOf(api, server.id)
    expect(latest).toMatchObject({ outcome: 'ok', status: 200, responseBytes: 27 })
  })

  it('of a request body arrives as it is sent, and the response during it', async () => {
    const { held, requests, server } = await startHeld()
    const { outgoing, answered } = await open(server.url, { method: 'POST' })
    outgoing.write('first')
    const request = await nextOf(requests)
    expect(String((await once(request, 'data'))[0])).toBe('first')
    const response = await nextOf(held)
    response.writeHead(200).write('answer to the first')
    const got = await answered
    await until(() => expect(got.text).toBe('answer to the first'))
    outgoing.end('second')
    expect(String((await once(request, 'data'))[0])).toBe('second')
    response.end()
    await gone(got.answer)
  })

  it('ends at the upstream as soon as its client disconnects', async () => {
    const { held, server } = await startHeld()
    const { outgoing, answered } = await open(server.url)
    await answered
    const response = await nextOf(held)
    outgoing.destroy()
    await gone(response)
    expect((await historyOf(api, server.id))[0]).toMatchObject({ outcome: 'ok', status: 200 })
  })

  it.skipIf(!existsSync(TCP_TABLE))('may be silent for any time while both ends are connected', async () => {
    const { port, requests, server } = await startHeld()
    const { answered } = await open(server.url)
    const client = (await answered).answer.socket
    const upstream = (await nextOf(requests)).socket
    // For a moment, the timer for unacknowledged data or for an acknowledgment may run instead, so this retries.
    await until(() => expect(timerOf(client.remotePort, client.localPort)).toBe(KEEP_ALIVE_TIMER))
    await until(() => expect(timerOf(upstream.remotePort, port)).toBe(KEEP_ALIVE_TIMER))
  })

  it('without a response ends at the upstream as soon as its client disconnects', async () => {
    const { held, server } = await startHeld()
    const { outgoing } = await open(server.url, { method: 'POST' })
    outgoing.end()
    const response = await nextOf(held)
    outgoing.destroy()
    await gone(response)
    await until(async () =>
      expect((await historyOf(api, server.id))[0]).toMatchObject({
        outcome: 'error',
        status: null,
        error: 'The client disconnected before the MCP server responded.',
      }),
    )
  })

  it.each(['GET', 'POST'])('is cut off at its client if the upstream cuts it off (%s)', async method => {
    const { held, server } = await startHeld()
    const { outgoing, answered } = await open(server.url, { method })
    if (method === 'POST') outgoing.end()
    const response = await nextOf(held)
    if (method === 'POST') response.writeHead(200, { 'content-length': '100' })
    response.write('a part')
    const got = await answered
    await until(() => expect(got.text).toBe('a part'))
    response.destroy()
    await gone(got.answer)
    expect(got.isWhole).toBe(false)
  })

  it('is read no faster than its client reads it', async () => {
    let sent = 0
    const upstream = await startUpstream(response => {
      const piece = Buffer.alloc(64 * 1_024, 'x')
      response.writeHead(200, STREAM)
      const write = (): void => {
        do sent += piece.length
        while (!response.destroyed && response.write(piece))
      }
      response.on('drain', write)
      write()
    })
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`)
    const outgoing = requestHttp(server.url, { agent: false })
    onTestFinished(() => void outgoing.destroy())
    outgoing.on('error', () => {})
    outgoing.end()
    // The response is not read yet.
    const [answer]: IncomingMessage[] = await once(outgoing, 'response')
    let before = -1
    await vi.waitFor(
      () => {
        const isStill = sent === before
        before = sent
        expect(isStill).toBe(true)
      },
      { interval: 300, timeout: 10_000 },
    )
    // Only what fits into the loopback buffers was sent, not everything that could have been.
    expect(sent).toBeLessThan(64 * 1_024 * 1_024)
    answer?.resume()
    await until(() => expect(sent).toBeGreaterThan(before))
  })

  it('ends when its caller loses access to the server', async () => {
    const { server } = await startHeld()
    const { answered } = await open(server.url)
    const got = await answered
    await api.expectOk('PATCH', `/servers/${server.id}`, { access: 'private' })
    await gone(got.answer)
    expect(got.isWhole).toBe(true)
  })

  it.each(['chunks', 'a length'])('of another kind, with %s, is cut off when its caller loses access', async kind => {
    const { held, server } = await startHeld()
    const begin = async () => {
      const { outgoing, answered } = await open(server.url, { method: 'POST' })
      outgoing.end()
      const response = await nextOf(held, held.length)
      response.writeHead(200, {
        'content-type': 'application/x-ndjson',
        ...(kind === 'a length' && { 'content-length': 1_000_000 }),
      })
      response.write('{}\n')
      const got = await answered
      await until(() => expect(got.text).toBe('{}\n'))
      return { got, response }
    }
    const first = await begin()
    // The stream survives a change of the route and is still tracked.
    await api.expectOk('PATCH', `/upstreams/${server.upstreamId}`, { timeoutMs: 9_000 })
    first.response.write('{}\n')
    await until(() => expect(first.got.text).toBe('{}\n{}\n'))
    const second = await begin()
    await api.expectOk('PATCH', `/servers/${server.id}`, { access: 'private' })
    await Promise.all([first, second].flatMap(({ got, response }) => [gone(got.answer), gone(response)]))
    expect([first.got.isWhole, second.got.isWhole]).toEqual([false, false])
    await api.expectOk('PATCH', `/servers/${server.id}`, { access: 'public' })
    const third = await begin()
    await api.expectOk('DELETE', `/servers/${server.id}`)
    await Promise.all([gone(third.got.answer), gone(third.response)])
  })

  it('ends cleanly when the server stops or starts being a passthrough server', async () => {
    const { held, server } = await startHeld()
    const got = await (await open(server.url)).answered
    const response = await nextOf(held)
    await api.expectOk('PATCH', `/servers/${server.id}`, { presentation: 'flat' })
    await Promise.all([gone(got.answer), gone(response)])
    expect(got.isWhole).toBe(true)
    const own = await (await open(`${server.url}/sse`, { headers: { accept: 'text/event-stream' } })).answered
    await until(() => expect(own.text).toContain('event: endpoint'))
    await api.expectOk('PATCH', `/servers/${server.id}`, { presentation: 'passthrough' })
    await gone(own.answer)
    expect(own.isWhole).toBe(true)
    expect((await (await open(server.url)).answered).answer.statusCode).toBe(200)
  })

  it('ends when its upstream is replaced, while running requests still complete', async () => {
    const { held, server } = await startHeld()
    const stream = await (await open(server.url)).answered
    const { outgoing, answered } = await open(server.url, { method: 'POST' })
    outgoing.end()
    const response = await nextOf(held, 1)
    const other = await startUpstream()
    await api.expectOk('PATCH', `/upstreams/${server.upstreamId}`, { url: `http://127.0.0.1:${other.port}/` })
    await gone(stream.answer)
    response.end('still here')
    const got = await answered
    await gone(got.answer)
    expect(got.text).toBe('still here')
    expect(await (await fetch(server.url)).json()).toMatchObject({ url: '/' })
  })

  it('is counted among the open connections of its server, and ends with it', async () => {
    const { held, server } = await startHeld()
    const got = await (await open(server.url)).answered
    const response = await nextOf(held)
    await api.expectOk('DELETE', `/servers/${server.id}`)
    await Promise.all([gone(got.answer), gone(response)])
    expect((await fetch(server.url)).status).toBe(404)
  })
})
