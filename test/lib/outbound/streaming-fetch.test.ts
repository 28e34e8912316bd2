import type { RequestListener, ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAddressPolicy } from '../../../src/lib/outbound/address-policy.ts'
import { OutboundError } from '../../../src/lib/outbound/outbound-request.ts'
import {
  createStreamingFetch,
  type StreamingFetch,
  type StreamingFetchOptions,
} from '../../../src/lib/outbound/streaming-fetch.ts'
import { type Api, resolverOf, startApi, startRawApi } from './apis.ts'
import { BAD_NAMES, badTargets } from './bad-targets.ts'

const LIMIT = 4_096

/** Creates a fetch function that may reach loopback, also under the names `api.test` and `other.test`. */
const openFetch = (options: Partial<StreamingFetchOptions> = {}): StreamingFetch => {
  const guarded = createStreamingFetch({
    organizationId: undefined,
    policy: createAddressPolicy({ allow: ['127.0.0.1'] }),
    lookup: resolverOf({ 'api.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'] }),
    maxRedirects: 3,
    connectTimeoutMs: 2_000,
    maxSockets: 8,
    headersTimeoutMs: 10_000,
    bodyIdleMs: 10_000,
    streamIdleMs: 10_000,
    maxResponseBytes: LIMIT,
    ...options,
  })
  onTestFinished(() => guarded.close())
  return guarded
}

const faultOf = async (outcome: Promise<unknown>): Promise<OutboundError> => {
  const error: unknown = await outcome.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof OutboundError) return error
  throw new Error('there was a response, or an error of another kind', { cause: error })
}

const urlOf = ({ port }: Api, path = '/'): string => `http://api.test:${port}${path}`

/** Starts an API that begins an event stream, and provides the response so that a test can continue the stream. */
const startStream = async (headers: Record<string, string> = { 'content-type': 'text/event-stream' }) => {
  const begun = Promise.withResolvers<ServerResponse>()
  const closed = Promise.withResolvers<void>()
  const api = await startApi((_, response) => {
    response.writeHead(200, headers)
    response.flushHeaders()
    response.on('close', () => closed.resolve())
    begun.resolve(response)
  })
  return { api, begun: begun.promise, closed: closed.promise }
}

const readerOf = ({ body }: Response) => {
  if (body === null) throw new Error('there is no body')
  const reader = body.getReader()
  const decoder = new TextDecoder()
  return {
    next: async (): Promise<string | undefined> => {
      const { done, value } = await reader.read()
      return done ? undefined : decoder.decode(value, { stream: true })
    },
    cancel: (): Promise<void> => reader.cancel(),
  }
}

describe('a target inside the network', () => {
  it('is blocked before any connection, in every spelling', async () => {
    const victim = await startApi((_, response) => response.end('reached'), '0.0.0.0')
    const { fetch } = openFetch({ policy: createAddressPolicy({ allow: [] }), lookup: resolverOf(BAD_NAMES) })
    for (const url of badTargets(victim.port)) {
      const { fault } = await faultOf(fetch(url))
      expect([url, fault]).toEqual([url, url.includes('#@') ? 'dns' : 'blocked'])
    }
    expect(victim.connections).toBe(0)
  })
})

it('the origins of Patchbay itself are blocked, also after a redirect', async () => {
  const api = await startApi((_, response) => response.writeHead(302, { location: 'http://self.test/s/1' }).end())
  const { fetch } = openFetch({ ownOrigins: ['http://self.test'] })
  for (const url of ['http://self.test./s/1', urlOf(api)]) {
    expect((await faultOf(fetch(url))).message).toContain('is Patchbay itself')
  }
})

describe('a redirect', () => {
  const seen: { url: string; headers: Record<string, unknown> }[] = []
  const redirect: RequestListener = (request, response) => {
    const { url = '', headers } = request
    seen.push({ url, headers })
    const to = new URL(url, 'http://any.test').searchParams.get('to')
    if (to === null) response.end('arrived')
    else response.writeHead(307, { location: to }).end('moved')
  }

  it('to another origin drops every header except Accept and Accept-Encoding', async () => {
    const api = await startApi(redirect)
    const other = await startApi(redirect)
    seen.length = 0
    const headers = { authorization: 'Bearer s', 'mcp-session-id': 'i', 'x-key': 'k', accept: 'text/event-stream' }
    const to = encodeURIComponent(`http://other.test:${other.port}/there`)
    const answer = await openFetch().fetch(urlOf(api, `/?to=${to}`), { headers })
    expect(await answer.text()).toBe('arrived')
    expect(seen[0]?.headers).toMatchObject(headers)
    const { host, connection, ...sent } = seen[1]?.headers ?? {}
    expect(sent).toEqual({ accept: 'text/event-stream', 'accept-encoding': 'identity', 'user-agent': 'patchbay' })
  })
})

describe('a stream of events', () => {
  it('delivers each chunk as it is sent', async () => {
    const { api, begun } = await startStream()
    const reader = readerOf(await openFetch().fetch(urlOf(api)))
    const response = await begun
    for (const event of ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']) {
      response.write(event)
      expect(await reader.next()).toBe(event)
    }
    response.end()
    expect(await reader.next()).toBeUndefined()
  })

  it('may be longer than the limit if no event is', async () => {
    const { api, begun } = await startStream()
    const reader = readerOf(await openFetch().fetch(urlOf(api)))
    const response = await begun
    const half = 'x'.repeat(LIMIT / 2)
    for (let i = 0; i < 6; i++) {
      // The two line breaks that end an event arrive in separate chunks.
      response.write(`data: ${half}\n`)
      expect(await reader.next()).toContain(half)
      response.write('\n')
      expect(await reader.next()).toBe('\n')
    }
    const rest = faultOf(Promise.all(Array.from({ length: 4 }, () => reader.next())))
    for (let i = 0; i < 4; i++) response.write(half)
    expect((await rest).fault).toBe('too_large')
  })

  it('that is silent for too long ends with a timeout', async () => {
    const { api, closed } = await startStream()
    const reader = readerOf(await openFetch({ streamIdleMs: 50 }).fetch(urlOf(api)))
    expect((await faultOf(reader.next())).message).toContain('sent nothing for 50 ms')
    await closed
  })

  it('whose reader leaves closes the connection', async () => {
    const { api, closed } = await startStream()
    await readerOf(await openFetch().fetch(urlOf(api))).cancel()
    await closed
  })

  it('ends with the reason of the signal', async () => {
    const { api, closed } = await startStream()
    const stop = new AbortController()
    const reader = readerOf(await openFetch().fetch(urlOf(api), { signal: stop.signal }))
    const reason = new Error('no longer wanted')
    stop.abort(reason)
    await expect(reader.next()).rejects.toBe(reason)
    await closed
  })

  it('ends when the fetch is closed', async () => {
    const { api, closed } = await startStream()
    const guarded = openFetch()
    const reader = readerOf(await guarded.fetch(urlOf(api)))
    const ended = faultOf(reader.next())
    await guarded.close()
    expect((await ended).fault).toBe('aborted')
    await closed
    expect((await faultOf(guarded.fetch(urlOf(api)))).fault).toBe('aborted')
  })

  it('that nobody reads does not fill memory: the sender waits until it is read', async () => {
    const { api, begun } = await startStream()
    const other = await startApi((_, response) => response.end('here'))
    const { fetch } = openFetch()
    const answer = await fetch(urlOf(api))
    const response = await begun
    const event = `data: ${'x'.repeat(2_000)}\n\n`
    let isDrained = false
    const drained = new Promise<void>(resolve => {
      response.once('drain', () => {
        isDrained = true
        resolve()
      })
    })
    for (let i = 0; i < 10_000; i++) response.write(event)
    // These round trips give everything enough time to arrive.
    for (let i = 0; i < 100; i++) await (await fetch(urlOf(other))).text()
    expect(isDrained).toBe(false)
    const reader = readerOf(answer)
    for (let received = 0; received < 10_000 * event.length; ) received += (await reader.next())?.length ?? 0
    await drained
  })
})

describe('a body that is not a stream of events', () => {
  it('is refused above the limit, with or without a Content-Length', async () => {
    const said = await startApi((_, response) => response.end('x'.repeat(LIMIT + 1)))
    expect((await faultOf(openFetch().fetch(urlOf(said)))).fault).toBe('too_large')
    const unsaid = await startApi((_, response) => {
      response.write('x')
      response.end('x'.repeat(LIMIT))
    })
    const answer = await openFetch().fetch(urlOf(unsaid))
    expect((await faultOf(answer.text())).fault).toBe('too_large')
  })

  it('that nobody reads may exceed the limit at once', async () => {
    const chunk = `2000\r\n${'x'.repeat(0x2000)}\r\n`
    const heads = ['HTTP/1.1 302 Found\r\nLocation: /next', 'HTTP/1.1 205 Reset Content']
    const api = await startRawApi((socket, path) =>
      socket.write(`${heads[Number(path.slice(1))]}\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`),
    )
    const { fetch } = openFetch({ maxRedirects: 0 })
    const problems: unknown[] = []
    const note = (reason: unknown): number => problems.push(reason)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    await Promise.allSettled([fetch(urlOf(api, '/0')), fetch(urlOf(api, '/1'))])
    await expect.poll(() => api.open.size).toBe(0)
    expect(problems).toEqual([])
  })

  it('may have a reason phrase of any characters', async () => {
    const api = await startRawApi(socket => socket.write('HTTP/1.1 200 成功\r\nContent-Length: 2\r\n\r\nok'))
    const { fetch } = openFetch()
    const response = await fetch(urlOf(api))
    expect([response.status, response.statusText, await response.text()]).toEqual([200, '', 'ok'])
  })

  it('that is cut off fails its reader', async () => {
    const api = await startRawApi(socket => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'))
    const answer = await openFetch().fetch(urlOf(api))
    expect((await faultOf(answer.text())).fault).toBe('reset')
  })

  it('that falls silent ends with a timeout', async () => {
    const { api } = await startStream({ 'content-type': 'application/json' })
    const answer = await openFetch({ bodyIdleMs: 50 }).fetch(urlOf(api))
    expect((await faultOf(answer.text())).message).toContain('sent nothing for 50 ms')
  })

  it('that is compressed without a request for it is refused', async () => {
    const api = await startApi((_, response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('{}')))
    expect((await faultOf(openFetch().fetch(urlOf(api)))).fault).toBe('encoding')
  })

  it('may be missing', async () => {
    const api = await startApi((_, response) => response.writeHead(204).end())
    const answer = await openFetch().fetch(urlOf(api))
    expect([answer.status, answer.body]).toEqual([204, null])
  })
})

describe('a request', () => {
  it('is sent with its method, headers and body, and reuses the connection', async () => {
    const api = await startApi((request, response) => {
      const parts: Buffer[] = []
      request.on('data', part => parts.push(part))
      request.on('end', () =>
        response.end(`${request.method} ${request.headers['x-key']} ${Buffer.concat(parts).toString()}`),
      )
    })
    const { fetch } = openFetch()
    const init = { method: 'POST', body: '{}', headers: { 'x-key': 'k' } }
    for (let i = 0; i < 3; i++) expect(await (await fetch(urlOf(api), init)).text()).toBe('POST k {}')
    expect(api.connections).toBe(1)
  })

  it('without a response ends with a timeout', async () => {
    const api = await startApi(() => {})
    expect((await faultOf(openFetch({ headersTimeoutMs: 50 }).fetch(urlOf(api)))).fault).toBe('timeout')
  })

  it('that was aborted before it began is not sent', async () => {
    const api = await startApi((_, response) => response.end())
    const reason = new Error('no longer wanted')
    await expect(openFetch().fetch(urlOf(api), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(api.connections).toBe(0)
  })

  it('to a closed port is refused', async () => {
    const api = await startRawApi(() => {})
    const { port } = api
    const gone = await startApi((_, response) => response.end())
    expect(port).not.toBe(gone.port)
    expect((await faultOf(openFetch().fetch('http://api.test:1/'))).fault).toBe('refused')
  })
})

it('a slow reader of a flood of small chunks slows the sender, and little is buffered', async () => {
  const chunk = ': nothing\n\n'.repeat(600)
  let sentBytes = 0
  const api = await startApi((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const write = (): void => {
      while (!response.destroyed && response.write(chunk)) sentBytes += chunk.length
      sentBytes += chunk.length
      response.once('drain', write)
    }
    write()
  })
  const { next, cancel } = readerOf(await openFetch().fetch(urlOf(api)))
  let readBytes = 0
  for (let reads = 0; reads < 1_000; reads++) {
    readBytes += (await next())?.length ?? 0
    // Lets everything that has arrived be read.
    await setImmediate()
    await setImmediate()
  }
  // Most of it is in the buffers of both sockets.
  expect(sentBytes - readBytes).toBeLessThan(16 * 1_024 * 1_024)
  await cancel()
})
