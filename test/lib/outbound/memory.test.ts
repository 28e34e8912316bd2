import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createReleases } from '../../../src/lib/kernel/releases.ts'
import { createMemoryShares, type MemoryLimits } from '../../../src/lib/outbound/memory-shares.ts'
import type { OutboundRequest } from '../../../src/lib/outbound/outbound-request.ts'
import { buildClient, faultOf, requestTo, startApi } from './apis.ts'

const KB = 1_000
const BODY = Buffer.alloc(400 * KB, 'a')
/** Compresses well, but not to almost nothing. */
const RECORDS = Buffer.from(Array.from({ length: 5_000 }, (_, id) => `{"id":${id},"a":${id * 7}}`).join('\n'))

/** Starts an API with a body of 400 kB, of a length that is announced, unknown, or unknown until it is decoded. */
const startLargeApi = () =>
  startApi(({ url }, response) => {
    if (url === '/known') response.end(BODY)
    else if (url === '/moved') response.writeHead(302, { location: '/known' }).end(BODY)
    else if (url === '/dense') response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(BODY))
    else if (url === '/records') response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(RECORDS))
    else if (url === '/zipped')
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(BODY, { level: 0 }))
    else if (url === '/small') response.end('small')
    else {
      response.write(BODY.subarray(0, 100 * KB))
      response.end(BODY.subarray(100 * KB))
    }
  })

/** Opens a client. An organization's creator is the first letter of its name. */
const open = async (limits: Partial<MemoryLimits> = {}) => {
  const { port } = await startLargeApi()
  const memory = createMemoryShares({
    maxBytes: 1_700 * KB,
    maxBytesOfOrganization: 500 * KB,
    maxWaitMs: 60_000,
    ...limits,
  })
  const share = { maxSockets: 32, maxWaitMs: 60_000 }
  const client = buildClient({ memory, share, maxSockets: 64, findCreator: async ([first]) => first })
  const send = (organizationId: string, path: string, more: Partial<OutboundRequest> = {}) => {
    const releases = createReleases()
    const url = `http://api.test:${port}${path}`
    const limit = { maxResponseBytes: 450 * KB, timeoutMs: 60_000 }
    const response = client.send(requestTo(url, { organizationId, releases, ...limit, ...more }))
    return { response, end: releases.end }
  }
  return { send, countWaiting: memory.countWaiting }
}

/** Notes the name of each response that has arrived. */
const noteIn =
  (arrived: string[]) =>
  (name: string, { response }: { response: Promise<unknown> }): void => {
    void response.then(() => arrived.push(name)).catch(() => undefined)
  }

describe.each(['/known', '/unknown', '/zipped', '/dense'])('the memory for the response of %s', path => {
  it('is shared: a second one waits until the first is released', async () => {
    const { send } = await open()
    const first = send('a', path)
    expect((await first.response).body).toEqual(BODY)
    const arrived: string[] = []
    const second = send('a', path)
    noteIn(arrived)('second', second)
    expect((await send('b', path).response).body).toEqual(BODY)
    expect(arrived).toEqual([])
    first.end()
    expect((await second.response).body).toEqual(BODY)
  })

  it('is refused with the reason if it is not free in time, and free again afterwards', async () => {
    const { send } = await open({ maxWaitMs: 50 })
    const first = send('a', path)
    await first.response
    const error = await faultOf(send('a', path).response)
    expect(error).toMatchObject({
      fault: 'busy',
      message: expect.stringMatching(
        /^responses of your organization use 400 kB of memory; this one from api\.test:\d+ waited 0\.05 s for memory; ask for less, or send fewer calls/,
      ),
    })
    first.end()
    expect((await send('a', path).response).body).toEqual(BODY)
  })

  it('is free at once if the call is over before the response', async () => {
    const { send } = await open({ maxWaitMs: 50 })
    for (let at = 0; at < 3; at++) {
      const { response, end } = send('a', path)
      end()
      expect((await response).body).toEqual(BODY)
    }
  })
})

it('one organization cannot take all memory, and small responses need none', async () => {
  const { send } = await open({ maxBytes: 1_300 * KB, maxBytesOfOrganization: 1_300 * KB, maxWaitMs: 50 })
  await send('a', '/known').response
  // Not more than is left: 900 kB.
  await send('a', '/known').response
  expect(await faultOf(send('a', '/known').response)).toMatchObject({ fault: 'busy' })
  expect((await send('a', '/small').response).body.toString()).toBe('small')
  expect((await send('b', '/known').response).body).toEqual(BODY)
  const error = await faultOf(send('c', '/known').response)
  expect(error.message).toMatch(
    /^the memory for responses is in use by the calls of all organizations; this one from .* waited .*; ask for less or try again later, or have the operator raise PATCHBAY_MEMORY_MB/,
  )
})

it('all organizations of one user cannot take it either', async () => {
  const share = { maxBytesOfOrganization: 500 * KB, maxBytesOfCreator: 1_000 * KB }
  const { send } = await open({ maxBytes: 4_000 * KB, ...share, maxWaitMs: 50 })
  await Promise.all([send('a1', '/known').response, send('a2', '/known').response])
  const error = await faultOf(send('a3', '/known').response)
  expect(error.message).toMatch(
    /^responses of the organizations that one user created, yours among them, use 800 kB of memory; this one from .* waited /,
  )
  expect((await send('b1', '/known').response).body).toEqual(BODY)
})

it('a response larger than its share is received once per user, and not from the reserve', async () => {
  const { send } = await open({ maxBytes: 1_600 * KB, maxBytesOfOrganization: 390 * KB, maxWaitMs: 50 })
  const held = ['a1', 'b1', 'c1'].map(organization => send(organization, '/known'))
  await Promise.all(held.map(({ response }) => response))
  expect(await faultOf(send('a2', '/known').response)).toMatchObject({ fault: 'busy' })
  expect(await faultOf(send('d1', '/known').response)).toMatchObject({ fault: 'busy' })
  expect((await send('d1', '/records').response).body).toEqual(RECORDS)
})

it('a compressed response needs little more than its own size, whatever its limit', async () => {
  const { send } = await open({ maxBytes: 16_000 * KB, maxBytesOfOrganization: 1_000 * KB, maxWaitMs: 50 })
  await send('a', '/known').response
  expect((await send('a', '/records', { maxResponseBytes: 10_000 * KB }).response).body).toEqual(RECORDS)
})

it('the body of a redirect needs none once it has been followed', async () => {
  const { send } = await open({ maxWaitMs: 50 })
  expect((await send('a', '/moved').response).body).toEqual(BODY)
})

it('a response larger than all memory for responses is received if there is no other', async () => {
  const { send } = await open({ maxBytes: 100 * KB, maxBytesOfOrganization: 50 * KB, maxWaitMs: 50 })
  const only = send('a', '/known')
  expect((await only.response).body).toEqual(BODY)
  expect(await faultOf(send('b', '/known').response)).toMatchObject({ fault: 'busy' })
  only.end()
  expect((await send('b', '/known').response).body).toEqual(BODY)
})

it('of waiting organizations the one that uses least goes first', async () => {
  const { send, countWaiting } = await open({ maxBytes: 800 * KB, maxBytesOfOrganization: 800 * KB })
  const [a1, b1] = [send('a', '/known'), send('b', '/known')]
  await Promise.all([a1.response, b1.response])
  const arrived: string[] = []
  const [a2, c1] = [send('a', '/known'), send('c', '/known')]
  noteIn(arrived)('a2', a2)
  noteIn(arrived)('c1', c1)
  await expect.poll(countWaiting).toBe(2)
  b1.end()
  expect((await c1.response).body).toEqual(BODY)
  expect(arrived).toEqual(['c1'])
  a1.end()
  expect((await a2.response).body).toEqual(BODY)
})

it('a call that is cancelled while it waits leaves the queue', async () => {
  const { send, countWaiting } = await open()
  const first = send('a', '/known')
  await first.response
  const controller = new AbortController()
  const cancelled = send('a', '/known', { signal: controller.signal })
  await expect.poll(countWaiting).toBe(1)
  controller.abort()
  expect(await faultOf(cancelled.response)).toMatchObject({ fault: 'aborted' })
  expect(countWaiting()).toBe(0)
  first.end()
  expect((await send('a', '/known').response).body).toEqual(BODY)
})
