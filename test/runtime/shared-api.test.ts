import type { ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { POST_HEADERS, statelessRequest } from '../mcp/wire.ts'
import { makeServer } from '../support/api-client.ts'
import { answerJson } from '../support/fake-api.ts'
import { type Person, runFakeApi, runPatchbay } from '../support/world.ts'

const Reply = z.object({
  result: z.object({ content: z.array(z.object({ text: z.string() })), isError: z.boolean().optional() }),
})
const History = z.object({ items: z.array(z.object({ tool: z.string() })) })
type Outcome = { text: string; isError: boolean }

const outcomeOf = ({ result }: z.infer<typeof Reply>): Outcome => ({
  text: result.content.map(({ text }) => text).join(' '),
  isError: result.isError === true,
})

/** The number of requests that an organization can have in progress at one origin. */
const SHARE = 32

describe('an API that the tools of several organizations call', () => {
  const patchbay = runPatchbay()
  const held: ServerResponse[] = []
  const fake = runFakeApi(({ url }, response) => {
    if (url === '/hang') held.push(response)
    else answerJson(response, { url })
  })

  const answerHeld = (): void => {
    for (const response of held.splice(0)) answerJson(response, { url: '/hang' })
  }

  /** Creates a server with the tools `hang` and `quick`. */
  const serve = async (builder: Person) => {
    const tools = ['hang', 'quick'].map(name => ({ name, method: 'GET', url: `${fake.origin}/${name}` }))
    const { url, serverId, toolIds } = await makeServer(builder, tools)
    const send = async (method: string, params: JsonObject, signal?: AbortSignal): Promise<unknown> => {
      const { body, headers } = statelessRequest(method, params)
      const request = { method: 'POST', headers: { ...POST_HEADERS, ...headers }, body: JSON.stringify(body) }
      return (await fetch(url, signal === undefined ? request : { ...request, signal })).json()
    }
    return {
      call: async (name: string, signal?: AbortSignal): Promise<Outcome> => {
        return outcomeOf(Reply.parse(await send('tools/call', { name, arguments: {} }, signal)))
      },
      /** Sends a tool's request from its editor. */
      test: async (name: string): Promise<Outcome> => {
        const { body } = await builder.expectOk('POST', `/tools/${toolIds[name]}/test`, { arguments: {} })
        return outcomeOf(Reply.parse(body))
      },
      /** Returns the tools of the calls that are over. */
      listRecorded: async (): Promise<string[]> => {
        await patchbay.services.recorder.flush()
        const { body } = await builder.expectOk('GET', `/servers/${serverId}/executions`)
        return History.parse(body).items.map(({ tool }) => tool)
      },
      /** Resolves once Patchbay has received the calls before. */
      receivedAll: () => send('tools/list', {}),
    }
  }

  const startPair = async () => {
    onTestFinished(answerHeld)
    return { one: await serve(await patchbay.person()), other: await serve(await patchbay.person()) }
  }

  it('is available to one organization while 200 calls of another hang, of which those beyond its share fail soon', async () => {
    const { one, other } = await startPair()
    const calls = Array.from({ length: 200 }, () => one.call('hang'))
    await one.receivedAll()
    await expect.poll(() => held.length).toBeGreaterThanOrEqual(SHARE)
    expect(await other.call('quick')).toEqual({ text: '{"url":"/quick"}', isError: false })

    const failed: string[] = []
    const settled = calls.map(async call => {
      const { text, isError } = await call
      if (isError) failed.push(text.replace(/after \d+ ms/, 'after some time'))
      return isError
    })
    await expect.poll(() => failed.length, { timeout: 20_000 }).toBe(calls.length - SHARE)
    const { host } = new URL(fake.origin)
    expect([...new Set(failed)]).toEqual([
      `The request failed: ${SHARE} requests of your organization to ${host} are in progress; this one waited 2 s for a connection; send fewer at a time, or make the API respond faster (after some time).`,
    ])
    expect(held).toHaveLength(SHARE)

    answerHeld()
    expect((await Promise.all(settled)).filter(isError => !isError)).toHaveLength(SHARE)
    const again = Array.from({ length: SHARE }, () => one.call('hang'))
    await expect.poll(() => held.length).toBe(SHARE)
    answerHeld()
    expect((await Promise.all(again)).every(({ isError }) => !isError)).toBe(true)
  })

  it('has one share for the calls of an organization and the tests of its tools', async () => {
    const { one, other } = await startPair()
    const calls = Array.from({ length: SHARE }, () => one.call('hang'))
    await expect.poll(() => held.length).toBe(SHARE)
    expect(await one.test('quick')).toEqual({
      text: expect.stringContaining(`${SHARE} requests of your organization to`),
      isError: true,
    })
    expect((await other.test('quick')).isError).toBe(false)
    answerHeld()
    await Promise.all(calls)
  })

  it('receives nothing of a call that its caller cancels while the call waits for a connection', async () => {
    const { one } = await startPair()
    const calls = Array.from({ length: SHARE }, () => one.call('hang'))
    await expect.poll(() => held.length).toBe(SHARE)
    const cancelled = new AbortController()
    const before = fake.seen.length
    const waiting = one.call('quick', cancelled.signal)
    await one.receivedAll()
    cancelled.abort()
    await expect(waiting).rejects.toThrow()
    await expect.poll(one.listRecorded).toEqual(['quick'])
    answerHeld()
    await Promise.all(calls)
    expect((await one.call('quick')).isError).toBe(false)
    expect(fake.seen.slice(before).map(({ url }) => url)).toEqual(['/quick'])
  })
})
