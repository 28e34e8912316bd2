import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { OutboundRequest } from '../../../src/lib/outbound/outbound-request.ts'
import { type Api, buildClient, faultOf, requestTo, resolverOf, startApi } from './apis.ts'

const PATIENT = { maxWaitMs: 60_000 }

/** Starts an API that holds each request until the test answers it by its path. */
const startHoldingApi = async () => {
  const held = new Map<string, ServerResponse>()
  const seen: string[] = []
  const api = await startApi(({ url = '' }, response) => {
    seen.push(url)
    if (url.startsWith('/quick')) response.end('ok')
    else held.set(url, response)
  })
  const answer = (path: string): void => {
    held.get(path)?.end('ok')
    held.delete(path)
  }
  return { api, seen, held, answer, answerAll: () => [...held.keys()].forEach(answer) }
}

const from = (organizationId: string | undefined, { port }: Api, path: string, more: Partial<OutboundRequest> = {}) =>
  requestTo(`http://api.test:${port}${path}`, { organizationId, timeoutMs: 60_000, ...more })

describe('requests of several organizations to one origin', () => {
  it('have a share for each organization', async () => {
    const { api, seen, answerAll } = await startHoldingApi()
    const client = buildClient({ maxSockets: 16, share: { ...PATIENT, maxSockets: 2 } })
    const calls = [1, 2, 3].map(at => client.send(from('a', api, `/a${at}`)))
    await expect.poll(() => seen).toEqual(['/a1', '/a2'])
    expect((await client.send(from('b', api, '/quick'))).status).toBe(200)
    expect((await client.send(from(undefined, api, '/quick'))).status).toBe(200)
    // There is an idle connection now, but the share is used up.
    expect(seen).not.toContain('/a3')
    answerAll()
    await expect.poll(() => seen).toContain('/a3')
    answerAll()
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200])
  })

  it('fail if the creator cannot be looked up', async () => {
    const { api, seen } = await startHoldingApi()
    const findCreator = async () => {
      throw new Error('no database')
    }
    const client = buildClient({ share: { ...PATIENT, maxSockets: 2 }, findCreator })
    expect(await faultOf(client.send(from('a', api, '/quick')))).toMatchObject({ fault: 'unreachable' })
    expect(seen).toEqual([])
  })

  it('of one creator share a limit, which leaves connections to the organizations of others', async () => {
    const { api, seen, answer, answerAll } = await startHoldingApi()
    const creators = new Map([...'abc'].map(organization => [organization, 'ann']))
    const client = buildClient({
      maxSockets: 16,
      share: { ...PATIENT, maxSockets: 2, maxSocketsOfCreator: 3 },
      findCreator: async organization => creators.get(organization),
    })
    const paths = ['/a1', '/a2', '/b1', '/b2', '/c1']
    const calls = paths.map(path => client.send(from(path.charAt(1), api, path)))
    await expect.poll(() => seen).toEqual(['/a1', '/a2', '/b1'])
    expect((await client.send(from('d', api, '/quick'))).status).toBe(200)
    expect((await client.send(from(undefined, api, '/quick'))).status).toBe(200)
    answer('/a1')
    // The organization of the same creator that uses the fewest connections goes first.
    await expect.poll(() => seen.slice(5)).toEqual(['/c1'])
    answerAll()
    await expect.poll(() => seen.slice(6)).toEqual(['/b2'])
    answerAll()
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  })

  it('of one creator fail with the reason if they wait too long for their share', async () => {
    const { api } = await startHoldingApi()
    const client = buildClient({
      maxSockets: 16,
      share: { maxSockets: 2, maxSocketsOfCreator: 3, maxWaitMs: 50 },
      findCreator: async () => 'ann',
    })
    for (const path of ['/a1', '/a2', '/b1']) void client.send(from(path.charAt(1), api, path)).catch(() => {})
    const error = await faultOf(client.send(from('b', api, '/b2')))
    expect([error.fault, error.message]).toEqual([
      'busy',
      expect.stringMatching(
        /^3 requests of the organizations that one user created, yours among them, to api\.test:\d+ are in progress; this one waited 0\.05 s/,
      ),
    ])
  })

  it('are not sent if they are cancelled, or the client is closed, while their creator is looked up', async () => {
    const { api, seen } = await startHoldingApi()
    const creator = Promise.withResolvers<string>()
    const share = { ...PATIENT, maxSockets: 2 }
    const client = buildClient({ maxSockets: 16, share, findCreator: () => creator.promise })
    const controller = new AbortController()
    const cancelled = faultOf(client.send(from('a', api, '/cancelled', { signal: controller.signal })))
    const closed = faultOf(client.send(from('a', api, '/closed')))
    controller.abort()
    expect((await cancelled).fault).toBe('aborted')
    await client.close()
    creator.resolve('ann')
    expect((await closed).fault).toBe('aborted')
    expect(seen).toEqual([])
  })

  it('use the same idle connections, one after the other', async () => {
    const { api } = await startHoldingApi()
    const client = buildClient({ maxSockets: 16, share: { ...PATIENT, maxSockets: 2 } })
    for (const organization of ['a', 'b', undefined]) await client.send(from(organization, api, '/quick'))
    expect(api.connections).toBe(1)
  })

  it('may use no more connections than are left, so that some remain for other organizations', async () => {
    const { api, seen } = await startHoldingApi()
    const client = buildClient({ maxSockets: 8, share: { ...PATIENT, maxSockets: 8 } })
    for (const organization of ['a', 'b', 'c', 'd', 'e']) {
      for (let at = 0; at < 8; at++) void client.send(from(organization, api, `/${organization}`)).catch(() => {})
    }
    await expect.poll(() => seen.toSorted()).toEqual(['/a', '/a', '/a', '/a', '/b', '/b', '/c', '/d'])
  })

  it('that wait take turns, and those of the organization with the fewest requests in progress go first', async () => {
    const { api, seen, held, answer, answerAll } = await startHoldingApi()
    const client = buildClient({ maxSockets: 5, share: { ...PATIENT, maxSockets: 2 } })
    const paths = ['/a1', '/b1', '/a2', '/b2', '/c1', '/a3', '/a4', '/b3', '/b4', '/c2', '/c3', '/d1']
    const calls = new Map(paths.map(path => [path, client.send(from(path.charAt(1), api, path))]))
    await expect.poll(() => [...held.keys()].toSorted()).toEqual(['/a1', '/a2', '/b1', '/b2', '/c1'])
    const steps = [
      ['/a1', ['/d1']],
      // One connection remains for organizations that use none.
      ['/d1', []],
      ['/b1', ['/a3']],
      ['/a2', ['/b3']],
      ['/b2', ['/c2']],
      ['/c1', ['/a4']],
      ['/a3', ['/b4']],
      ['/b3', ['/c3']],
    ] as const
    for (const [answered, started] of steps) {
      const { length } = seen
      answer(answered)
      await calls.get(answered)
      await expect.poll(() => [answered, seen.slice(length)]).toEqual([answered, started])
    }
    answerAll()
    expect((await Promise.all(calls.values())).every(({ status }) => status === 200)).toBe(true)
  })

  it('fail with the reason if they wait too long for their share', async () => {
    const { api, seen } = await startHoldingApi()
    const client = buildClient({ maxSockets: 16, share: { maxSockets: 2, maxWaitMs: 50 } })
    for (const path of ['/1', '/2']) void client.send(from('a', api, path)).catch(() => {})
    const error = await faultOf(client.send(from('a', api, '/3')))
    expect([error.fault, error.message]).toEqual([
      'busy',
      expect.stringMatching(
        /^2 requests of your organization to api\.test:\d+ are in progress; this one waited 0\.05 s for a connection; send fewer at a time, or make the API respond faster \(after \d+ ms\)$/,
      ),
    ])
    expect(seen).toEqual(['/1', '/2'])
  })

  it('fail with the reason if they wait too long because of others', async () => {
    const { api } = await startHoldingApi()
    const client = buildClient({ maxSockets: 1, share: { maxSockets: 1, maxWaitMs: 50 } })
    void client.send(from('a', api, '/1')).catch(() => {})
    const error = await faultOf(client.send(from('b', api, '/2')))
    expect([error.fault, error.message]).toEqual([
      'busy',
      expect.stringMatching(
        /^too many requests of all organizations to api\.test:\d+ are in progress; this one waited/,
      ),
    ])
  })

  it('no longer wait once they are cancelled', async () => {
    const { api, seen, answer } = await startHoldingApi()
    const client = buildClient({ maxSockets: 16, share: { ...PATIENT, maxSockets: 1 } })
    const first = client.send(from('a', api, '/first'))
    const controller = new AbortController()
    const cancelled = faultOf(client.send(from('a', api, '/cancelled', { signal: controller.signal })))
    const last = client.send(from('a', api, '/quick'))
    await expect.poll(() => seen).toEqual(['/first'])
    controller.abort()
    expect((await cancelled).fault).toBe('aborted')
    answer('/first')
    expect((await Promise.all([first, last])).map(({ status }) => status)).toEqual([200, 200])
    expect(seen).toEqual(['/first', '/quick'])
  })

  it('can use the whole share again, whatever happened to earlier ones', async () => {
    let isOver = false
    const held: ServerResponse[] = []
    const api = await startApi((request, response) => {
      const id = Number(request.url?.slice(1))
      if (isOver) held.push(response)
      else if (id % 6 === 0) request.socket.resetAndDestroy()
      else if (id % 6 === 1) response.write('partial')
      else if (id % 6 === 2) response.writeHead(200, { connection: 'close' }).end('ok')
      else setImmediate(() => response.end('ok'))
    })
    const client = buildClient({ maxSockets: 6, share: { ...PATIENT, maxSockets: 3 } })
    const outcomes = Array.from({ length: 180 }, (_, id) => {
      const controller = new AbortController()
      if (id % 6 === 3) setImmediate(() => setImmediate(() => controller.abort()))
      const request = { signal: controller.signal, timeoutMs: id % 6 === 1 ? 30 : 60_000 }
      return client.send(from(`organization ${id % 5}`, api, `/${id}`, request)).catch(() => {})
    })
    await Promise.all(outcomes)
    isOver = true
    const calls = [1, 2, 3].map(id => client.send(from('organization 0', api, `/${id}`)))
    await expect.poll(() => held.length).toBe(3)
    for (const response of held) response.end('ok')
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200])
  })

  it('fail when the client is closed while they wait', async () => {
    const { api, seen } = await startHoldingApi()
    const client = buildClient({ maxSockets: 16, share: { ...PATIENT, maxSockets: 1 } })
    const calls = ['/1', '/2', '/3'].map(path => faultOf(client.send(from('a', api, path))))
    await expect.poll(() => seen).toEqual(['/1'])
    await client.close()
    expect((await Promise.all(calls)).map(({ fault }) => fault)).toEqual(['aborted', 'aborted', 'aborted'])
  })
})

describe('the lookup of a name', () => {
  it('is told for which organization it is', async () => {
    const api = await startApi((_, response) => response.writeHead(200, { connection: 'close' }).end('ok'))
    const asked: (string | undefined)[] = []
    const resolve = resolverOf({ 'api.test': ['127.0.0.1'] })
    const client = buildClient({
      lookup: (hostname, options, callback, organizationId) => {
        asked.push(organizationId)
        resolve(hostname, options, callback)
      },
    })
    const organizations = ['a', 'b', undefined, 'a']
    for (const organization of organizations) await client.send(from(organization, api, '/'))
    expect(asked).toEqual(organizations)
  })

  it('is for the organization of the waiting request that gets the next connection', async () => {
    const held: ServerResponse[] = []
    const api = await startApi((_, response) => void held.push(response))
    const asked: (string | undefined)[] = []
    const resolve = resolverOf({ 'api.test': ['127.0.0.1'] })
    const client = buildClient({
      maxSockets: 1,
      lookup: (hostname, options, callback, organizationId) => {
        asked.push(organizationId)
        resolve(hostname, options, callback)
      },
    })
    const calls = ['a', 'b'].map(organization => client.send(from(organization, api, '/')))
    for (const count of [1, 2]) {
      await expect.poll(() => held.length).toBe(count)
      held.at(-1)?.writeHead(200, { connection: 'close' }).end('ok')
    }
    await Promise.all(calls)
    expect(asked).toEqual(['a', 'b'])
  })
})
