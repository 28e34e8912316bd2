import { describe, expect, it, onTestFinished } from 'vitest'
import { createAddressPolicy } from '../../../src/lib/outbound/address-policy.ts'
import { createMemoryShares, type MemoryLimits } from '../../../src/lib/outbound/memory-shares.ts'
import { createStreamingFetch } from '../../../src/lib/outbound/streaming-fetch.ts'
import { faultOf, resolverOf, startApi } from './apis.ts'

const KB = 1_000
const BYTES = 300 * KB
const EVENT_END = '\n\n'
/** More than is received uncounted. */
const COUNTED = 100 * KB

/** Starts an API whose responses end once `finish` is called. */
const startSlowApi = async (type: string) => {
  const isEvents = type === 'text/event-stream'
  const unfinished: (() => void)[] = []
  const api = await startApi(({ url }, response) => {
    response.writeHead(200, { 'content-type': type, ...(url === '/known' && { 'content-length': BYTES }) })
    response.write('a'.repeat(200 * KB))
    const rest = 'a'.repeat(BYTES - 200 * KB - EVENT_END.length) + EVENT_END
    // The stream of events stays open.
    unfinished.push(() => (isEvents ? response.write(rest) : response.end(rest)))
  })
  const finish = (): void => {
    for (const end of unfinished.splice(0)) end()
  }
  return { api, finish }
}

const open = async (type: string, path: string, limits: Partial<MemoryLimits> = {}) => {
  const { api, finish } = await startSlowApi(type)
  const memory = createMemoryShares({
    maxBytes: 3_000 * KB,
    maxBytesOfOrganization: 500 * KB,
    maxWaitMs: 60_000,
    ...limits,
  })
  return {
    finish,
    /** Begins to read a response. `readTo` continues until this number of bytes has been received. */
    read: async (organizationId: string) => {
      const guarded = createStreamingFetch({
        organizationId,
        memory,
        policy: createAddressPolicy({ allow: ['127.0.0.1'] }),
        lookup: resolverOf({ 'api.test': ['127.0.0.1'] }),
        maxRedirects: 0,
        connectTimeoutMs: 5_000,
        maxSockets: 8,
        headersTimeoutMs: 60_000,
        bodyIdleMs: 60_000,
        streamIdleMs: 60_000,
        maxResponseBytes: 400 * KB,
      })
      onTestFinished(() => guarded.close())
      const { body } = await guarded.fetch(`http://api.test:${api.port}${path}`)
      const reader = body?.getReader()
      let received = 0
      const readTo = async (bytes: number): Promise<void> => {
        while (received < bytes) {
          const { value, done = true } = (await reader?.read()) ?? {}
          if (done) return
          received += value?.length ?? 0
        }
      }
      return { readTo, cancel: async () => reader?.cancel(), close: guarded.close }
    },
  }
}

describe.each([
  ['application/json', '/known'],
  ['application/json', '/unknown'],
  ['text/event-stream', '/unknown'],
])('the memory of a streamed response (%s, %s)', (type, path) => {
  it('is shared: a second one waits until the first has been handled', async () => {
    const { read, finish } = await open(type, path)
    const first = await read('a')
    await first.readTo(COUNTED)
    const second = await read('a')
    let isWaiting = true
    const done = second.readTo(BYTES).then(() => {
      isWaiting = false
    })
    const other = await read('b')
    await other.readTo(COUNTED)
    expect(isWaiting).toBe(true)
    finish()
    await other.readTo(BYTES)
    expect(isWaiting).toBe(true)
    await first.readTo(type === 'text/event-stream' ? BYTES : Number.POSITIVE_INFINITY)
    await done
  })

  it('is refused with the reason if it is not free in time, and free after a cancelled response', async () => {
    const { read, finish } = await open(type, path, { maxWaitMs: 50 })
    const first = await read('a')
    await first.readTo(COUNTED)
    const error = await faultOf((await read('a')).readTo(BYTES))
    expect(error).toMatchObject({
      fault: 'busy',
      message: expect.stringMatching(
        /^responses of your organization use .* of memory; this one from api\.test:\d+ waited/,
      ),
    })
    await first.cancel()
    const next = await read('a')
    finish()
    await next.readTo(BYTES)
  })

  it('is free after its connection is closed', async () => {
    const { read, finish } = await open(type, path, { maxWaitMs: 50 })
    const first = await read('a')
    await first.readTo(COUNTED)
    await first.close()
    const next = await read('a')
    finish()
    await next.readTo(BYTES)
  })
})
