import { getEventListeners, once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAddressPolicy } from '../../../src/lib/outbound/address-policy.ts'
import { createDispatcher } from '../../../src/lib/outbound/dispatch.ts'
import { type Api, buildClient, faultOf, requestTo, startApi, startRawApi } from './apis.ts'

const urlOf = ({ port }: Api, path = '/'): string => `http://api.test:${port}${path}`

const nextImmediate = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

describe('connections', () => {
  it('are reused', async () => {
    const api = await startApi((_, response) => response.end('ok'))
    const client = buildClient()
    for (let count = 0; count < 20; count++) await client.send(requestTo(urlOf(api)))
    expect(api.connections).toBe(1)
  })

  it('are not shared between clients, whose policies may differ', async () => {
    const api = await startApi((_, response) => response.end('ok'))
    for (const client of [buildClient(), buildClient()]) await client.send(requestTo(urlOf(api)))
    expect(api.connections).toBe(2)
  })

  it('to one origin are limited; further requests wait in order', async () => {
    const held: ServerResponse[] = []
    const api = await startApi((_, response) => {
      // Responds to three requests at a time. With fewer connections, they would wait forever.
      if (held.push(response) === 3) for (const waiting of held.splice(0)) waiting.end('ok')
    })
    const client = buildClient({ maxSockets: 3 })
    const answers = await Promise.all(Array.from({ length: 51 }, () => client.send(requestTo(urlOf(api)))))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(api.connections).toBe(3)
  })

  it('that the API closes after each response are replaced, also for waiting requests', async () => {
    const api = await startApi((_, response) => response.writeHead(200, { connection: 'close' }).end('ok'))
    const client = buildClient({ maxSockets: 2 })
    const answers = await Promise.all(Array.from({ length: 12 }, () => client.send(requestTo(urlOf(api)))))
    expect(answers).toHaveLength(12)
    expect(api.connections).toBe(12)
  })

  it('that fail one after the other fail every waiting request', async () => {
    const api = await startRawApi(socket => socket.resetAndDestroy())
    const client = buildClient({ maxSockets: 1 })
    const errors = await Promise.all(Array.from({ length: 10 }, () => faultOf(client.send(requestTo(urlOf(api))))))
    expect(new Set(errors.map(({ fault }) => fault))).toEqual(new Set(['reset']))
  })

  it('to many origins are kept for the most recent ones only', async () => {
    const api = await startApi((_, response) => response.end('ok'))
    const client = buildClient({
      lookup: (_host, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
    })
    for (let at = 0; at < 280; at++) await client.send(requestTo(`http://host-${at}.test:${api.port}/`))
    await expect.poll(() => api.open.size).toBeLessThanOrEqual(256)
    const connections = api.connections
    await client.send(requestTo(`http://host-279.test:${api.port}/`))
    expect(api.connections).toBe(connections)
  })

  it('never mix up responses, whatever happens to other requests', async () => {
    const api = await startApi((request, response) => {
      const id = Number(request.url?.slice(1))
      if (id % 7 === 1) request.socket.resetAndDestroy()
      else if (id % 7 === 2) response.write(`partial ${id}`)
      else if (id % 7 === 3) response.writeHead(200, { connection: 'close' }).end(`answer ${id}`)
      else if (id % 7 === 4) response.end(Buffer.alloc(2_000))
      else setImmediate(() => response.end(`answer ${id}`))
    })
    const client = buildClient({ maxSockets: 4 })
    const call = async (id: number): Promise<string> => {
      const controller = new AbortController()
      if (id % 7 === 5) setImmediate(() => setImmediate(() => controller.abort()))
      const request = requestTo(urlOf(api, `/${id}`), {
        method: id % 2 === 0 ? 'GET' : 'POST',
        maxResponseBytes: 1_000,
        timeoutMs: id % 7 === 2 ? 30 : 5_000,
        signal: controller.signal,
      })
      return client.send(request).then(
        ({ body }) => body.toString(),
        ({ fault }) => fault,
      )
    }
    const outcomes = await Promise.all(Array.from({ length: 210 }, (_, id) => call(id)))
    for (const [id, outcome] of outcomes.entries()) {
      const answer = `answer ${id}`
      const allowed = [[answer], ['reset'], ['timeout'], [answer], ['too_large'], [answer, 'aborted'], [answer]][id % 7]
      expect([id, allowed]).toEqual([id, expect.arrayContaining([outcome])])
    }
    expect((await client.send(requestTo(urlOf(api, '/0')))).body.toString()).toBe('answer 0')
    await expect.poll(() => api.open.size).toBeLessThanOrEqual(4)
  })
})

/** Starts an API that responds to the first request on each connection and leaves the second to the test. */
const startFickleApi = async (second: (socket: Parameters<Parameters<typeof startRawApi>[0]>[0]) => void) => {
  const requests: string[] = []
  const answered = new WeakSet<object>()
  const api = await startRawApi((socket, path) => {
    requests.push(path)
    if (answered.has(socket) || path === '/never') return second(socket)
    answered.add(socket)
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  })
  return Object.assign(api, { requests })
}

describe('a reused connection that the API closes instead of responding', () => {
  it.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])('makes a %s be sent once more on a new one', async method => {
    for (const close of ['end', 'resetAndDestroy'] as const) {
      const api = await startFickleApi(socket => socket[close]())
      const client = buildClient()
      await client.send(requestTo(urlOf(api, '/first')))
      const answer = await client.send(requestTo(urlOf(api, '/second'), { method }))
      expect(answer.status).toBe(200)
      expect(api.requests).toEqual(['/first', '/second', '/second'])
      expect(api.connections).toBe(2)
    }
  })

  it.each(['POST', 'PATCH', 'QUERY'])('fails a %s, which is never sent twice', async method => {
    const api = await startFickleApi(socket => socket.end())
    const client = buildClient()
    await client.send(requestTo(urlOf(api, '/first')))
    const error = await faultOf(client.send(requestTo(urlOf(api, '/second'), { method, body: '{}' })))
    expect(error.fault).toBe('reset')
    expect(api.requests).toEqual(['/first', '/second'])
  })

  it('after a byte of the response fails the request', async () => {
    const api = await startFickleApi(socket => socket.end('H'))
    const client = buildClient()
    await client.send(requestTo(urlOf(api, '/first')))
    expect((await faultOf(client.send(requestTo(urlOf(api, '/second'))))).fault).toBe('reset')
    expect(api.requests).toEqual(['/first', '/second'])
  })

  it('makes the request be sent only once more, even if the new one is closed, too', async () => {
    const api = await startFickleApi(socket => socket.end())
    const client = buildClient()
    await client.send(requestTo(urlOf(api, '/first')))
    expect((await faultOf(client.send(requestTo(urlOf(api, '/never'))))).fault).toBe('reset')
    expect(api.requests).toEqual(['/first', '/never', '/never'])
  })

  it('makes the request be sent on a new one, although other idle ones are open', async () => {
    const held: (() => void)[] = []
    const answered = new WeakSet<object>()
    const api = await startRawApi(socket => {
      if (answered.has(socket)) {
        socket.end()
        return
      }
      answered.add(socket)
      held.push(() => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'))
      if (held.length >= 3) for (const answer of held.splice(0)) answer()
    })
    const client = buildClient({ maxSockets: 3 })
    const burst = () => Promise.all([1, 2, 3].map(() => client.send(requestTo(urlOf(api)))))
    await burst()
    expect(api.connections).toBe(3)
    // All three connections are stale now. Each request discovers this and gets a new connection.
    expect((await burst()).map(({ status }) => status)).toEqual([200, 200, 200])
    expect(api.connections).toBe(6)
  })

  it('does not make a request count as unsent if the second connection cannot be opened', async () => {
    const api = await startRawApi((socket, path) => {
      if (path === '/first') socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      else socket.resetAndDestroy()
    })
    let isOpen = true
    const { dispatch, close } = createDispatcher({
      policy: createAddressPolicy({ allow: ['127.0.0.1'] }),
      connectTimeoutMs: 2_000,
      lookup: (_host, _options, callback) =>
        isOpen
          ? callback(null, [{ address: '127.0.0.1', family: 4 }])
          : callback(Object.assign(new Error('unknown name'), { code: 'ENOTFOUND' }), []),
    })
    onTestFinished(() => close())
    const send = (path: string): Promise<string> =>
      new Promise(resolve => {
        const request = { origin: `http://api.test:${api.port}`, host: 'api.test', method: 'GET', path }
        const options = {
          ...request,
          organizationId: undefined,
          headers: [],
          body: null,
          mayRetry: true,
          bodyIdleMs: 0,
          upgrade: null,
        }
        const call = dispatch(options, {
          onHead: () => undefined,
          onData: () => undefined,
          onEnd: () => resolve('end'),
          onFault: ({ fault }, isUnsent) => resolve(`${fault}, ${isUnsent ? 'unsent' : 'sent'}`),
        })
        call.start()
      })
    expect(await send('/first')).toBe('end')
    isOpen = false
    expect(await send('/second')).toBe('dns, sent')
  })

  it('fails the request if the connection before it was closed as announced', async () => {
    const requests: string[] = []
    const api = await startRawApi((socket, path) => {
      requests.push(path)
      socket.end(path === '/first' ? 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok' : '')
    })
    const client = buildClient()
    await client.send(requestTo(urlOf(api, '/first')))
    expect((await faultOf(client.send(requestTo(urlOf(api, '/second'))))).fault).toBe('reset')
    expect(requests).toEqual(['/first', '/second'])
  })

  it('fails the request if the connection is new', async () => {
    const api = await startFickleApi(socket => socket.end())
    expect((await faultOf(buildClient().send(requestTo(urlOf(api, '/never'))))).fault).toBe('reset')
    expect(api.requests).toEqual(['/never'])
  })

  it.each(['resetAndDestroy', 'destroy'] as const)(
    'before the request was written (%s) makes it be sent on a new one, even a POST',
    async close => {
      const api = await startFickleApi(socket => socket.end())
      const client = buildClient()
      await client.send(requestTo(urlOf(api, '/first')))
      // After this, the socket is closed before the next request is written.
      await nextImmediate()
      for (const socket of api.open) socket[close]()
      const answer = await client.send(requestTo(urlOf(api, '/second'), { method: 'POST', body: '{}' }))
      expect(answer.status).toBe(200)
      expect(api.requests).toEqual(['/first', '/second'])
    },
  )
})

describe('a signal', () => {
  const held: RequestListener = () => {}

  it('that aborts before the response closes the connection', async () => {
    const controller = new AbortController()
    const api = await startApi(request => {
      request.socket.on('close', () => closed.resolve())
      controller.abort()
    })
    const closed = Promise.withResolvers<void>()
    const error = await faultOf(buildClient().send(requestTo(urlOf(api), { signal: controller.signal })))
    expect([error.fault, error.message]).toEqual(['aborted', expect.stringMatching(/^the call was cancelled \(after/)])
    await closed.promise
  })

  it('that aborts within the body closes the connection', async () => {
    const controller = new AbortController()
    const api = await startApi((_, response) => {
      response.write('some')
      setImmediate(() => controller.abort())
    })
    expect((await faultOf(buildClient().send(requestTo(urlOf(api), { signal: controller.signal })))).fault).toBe(
      'aborted',
    )
    await expect.poll(() => api.open.size).toBe(0)
  })

  it('that has aborted already prevents the request', async () => {
    const api = await startApi(held)
    const error = await faultOf(buildClient().send(requestTo(urlOf(api), { signal: AbortSignal.abort() })))
    expect(error.fault).toBe('aborted')
    expect(api.connections).toBe(0)
  })

  it('that aborts while connecting prevents the request, and leaves the connection to others', async () => {
    const requests: (string | undefined)[] = []
    const api = await startApi(({ url }, response) => {
      requests.push(url)
      response.end('ok')
    })
    const client = buildClient()
    const controller = new AbortController()
    const call = faultOf(client.send(requestTo(urlOf(api, '/cancelled'), { signal: controller.signal })))
    controller.abort()
    expect((await call).fault).toBe('aborted')
    await expect.poll(() => api.connections).toBe(1)
    await client.send(requestTo(urlOf(api, '/next')))
    expect(requests).toEqual(['/next'])
    expect(api.connections).toBe(1)
  })

  it('that aborts while waiting for a connection lets the next request go on', async () => {
    const requests: (string | undefined)[] = []
    const api = await startApi(({ url }, response) => {
      requests.push(url)
      if (url !== '/slow') response.end('ok')
    })
    const client = buildClient({ maxSockets: 1 })
    const [slow, waiting] = [new AbortController(), new AbortController()]
    const calls = [
      faultOf(client.send(requestTo(urlOf(api, '/slow'), { signal: slow.signal }))),
      faultOf(client.send(requestTo(urlOf(api, '/cancelled'), { signal: waiting.signal }))),
    ]
    const last = client.send(requestTo(urlOf(api, '/last')))
    await expect.poll(() => requests).toEqual(['/slow'])
    waiting.abort()
    slow.abort()
    expect((await Promise.all(calls)).map(({ fault }) => fault)).toEqual(['aborted', 'aborted'])
    expect((await last).status).toBe(200)
    expect(requests).toEqual(['/slow', '/last'])
  })

  it('of a finished request has no listeners left', async () => {
    const api = await startApi((_, response) => response.end('ok'))
    const client = buildClient()
    const { signal } = new AbortController()
    await client.send(requestTo(urlOf(api), { signal }))
    await faultOf(client.send(requestTo('http://nowhere.test/', { signal })))
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})

describe('closing the client', () => {
  it('fails running, waiting and later requests', async () => {
    const api = await startApi(() => {})
    const client = buildClient({ maxSockets: 1 })
    const calls = [1, 2, 3].map(() => faultOf(client.send(requestTo(urlOf(api)))))
    await expect.poll(() => api.connections).toBe(1)
    await client.close()
    calls.push(faultOf(client.send(requestTo(urlOf(api)))))
    for (const error of await Promise.all(calls)) {
      expect([error.fault, error.message]).toEqual(['aborted', expect.stringContaining('Patchbay is stopping')])
    }
    await expect.poll(() => api.open.size).toBe(0)
  })

  it('closes idle connections', async () => {
    const api = await startApi((_, response) => response.end('ok'))
    const client = buildClient()
    await client.send(requestTo(urlOf(api)))
    const [socket] = api.open
    const closed = socket === undefined ? Promise.reject(new Error('not kept')) : once(socket, 'close')
    await client.close()
    await client.close()
    await closed
  })
})
