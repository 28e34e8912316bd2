import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { CALL_RESULTS } from '../../src/history/call-result.ts'
import { makeServer } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { answerJson } from '../support/fake-api.ts'
import { freePort } from '../support/free-port.ts'
import { signInToPages } from '../support/signed-in.ts'
import { during, runFakeApi, runPatchbay, runUser } from '../support/world.ts'

const Recorded = z.object({
  id: z.string(),
  outcome: z.enum(['ok', 'error']),
  result: z.enum(CALL_RESULTS),
  status: z.int().nullable(),
})
const History = z.object({ items: z.tuple([Recorded]) })

/** A tool, its arguments, and how the call ends. */
type Case = {
  situation: string
  tool: { url: string; [field: string]: unknown }
  args?: Record<string, unknown>
  bindings?: Record<string, unknown>
  result: z.infer<typeof Recorded>['result']
  status: number | null
  words: string
  state: 'good' | 'rejected' | 'failed'
}

const SCHEMA = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }
const NOT_SENT = { status: null, state: 'rejected' } as const
const INVALID = { ...NOT_SENT, result: 'invalid_arguments', words: 'Invalid arguments' } as const
const BLOCKED = { ...NOT_SENT, result: 'blocked', words: 'Blocked' } as const

const CASES: readonly Case[] = [
  {
    situation: 'a 2xx response',
    tool: { url: '/status/201' },
    result: 'success',
    status: 201,
    words: '201 Created',
    state: 'good',
  },
  {
    situation: 'a 4xx response',
    tool: { url: '/status/404' },
    result: 'rejected',
    status: 404,
    words: '404 Not found',
    state: 'rejected',
  },
  {
    situation: 'a 5xx response',
    tool: { url: '/status/500' },
    result: 'failed',
    status: 500,
    words: '500 Server error',
    state: 'failed',
  },
  {
    situation: 'a response that does not match the output schema',
    tool: { url: '/status/200', outputSchema: SCHEMA },
    result: 'success',
    status: 200,
    words: '200 OK, not as in its schema',
    state: 'good',
  },
  {
    situation: 'a response that the transform cannot use',
    tool: { url: '/status/200', response: { transform: { language: 'jsonata', expression: '$error("no")' } } },
    result: 'failed',
    status: 200,
    words: '200 OK, unusable response',
    state: 'failed',
  },
  {
    situation: 'no response in time',
    tool: { url: '/hang', timeoutMs: 150 },
    result: 'timeout',
    status: null,
    words: 'Timed out',
    state: 'failed',
  },
  {
    situation: 'a connection that was reset',
    tool: { url: '/reset' },
    result: 'failed',
    status: null,
    words: 'No response',
    state: 'failed',
  },
  { situation: 'a private address', tool: { url: 'http://10.0.0.1/' }, ...BLOCKED },
  { situation: 'a redirect to a private address', tool: { url: '/inward' }, ...BLOCKED },
  { situation: 'an argument of another type', tool: { url: '/{{integer:id}}' }, args: { id: 'one' }, ...INVALID },
  { situation: 'a missing argument', tool: { url: '/{{id}}' }, ...INVALID },
  { situation: 'an unknown argument', tool: { url: '/status/200' }, args: { id: 1 }, ...INVALID },
  { situation: 'an argument that does not fit its place', tool: { url: '/{{id}}' }, args: { id: '..' }, ...INVALID },
  {
    situation: 'arguments that do not match the input schema',
    tool: { url: '/{{json:id}}', inputSchema: SCHEMA },
    args: { id: 'one' },
    ...INVALID,
  },
]

describe.each(databasesOfRun)('the result of a recorded call, on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const fake = runFakeApi(({ url }, response) => {
    const [, status] = /^\/status\/(\d{3})$/.exec(url) ?? []
    if (url === '/hang') return
    if (url === '/reset') response.socket?.resetAndDestroy()
    else if (url === '/inward') response.writeHead(302, { location: 'http://10.0.0.1/' }).end()
    else answerJson(response, { id: 'one' }, Number(status ?? 200))
  })
  const builder = runUser(patchbay)
  const person = during(() => signInToPages(patchbay.origin, builder.email))

  const makeTool = async ({ tool, bindings = {} }: Pick<Case, 'tool' | 'bindings'>) => {
    const url = tool.url.startsWith('/') ? `${fake.origin}${tool.url}` : tool.url
    const made = await makeServer(builder, [{ name: 'tool', method: 'GET', ...tool, url }], {
      bindings: { tool: bindings },
    })
    return { serverId: made.serverId, instanceId: made.instanceIds.tool ?? '' }
  }
  const call = (instanceId: string, args: object) =>
    builder.expectOk('POST', `/instances/${instanceId}/call`, { arguments: args })
  const recordedIn = async (serverId: string) =>
    History.parse((await builder.expectOk('GET', `/servers/${serverId}/executions`)).body).items[0]

  it.each(CASES)('is $result for $situation', async ({ result, status, words, state, args = {}, ...made }) => {
    const { serverId, instanceId } = await makeTool(made)
    await call(instanceId, args)
    const recorded = await recordedIn(serverId)
    expect(recorded).toMatchObject({ result, status, outcome: result === 'success' ? 'ok' : 'error' })
    expect((await builder.expectOk('GET', `/executions/${recorded.id}`)).body).toMatchObject({ result })
    const sign = `<span class="state" data-state="${state}">${words}</span>`
    for (const path of ['', '/history', `/history/${recorded.id}`]) {
      expect((await person.get(`/servers/${serverId}${path}`)).html).toContain(sign)
    }
    const inspected = await person.submit(`/servers/${serverId}/inspector?tool=tool&as=json`, {
      arguments: JSON.stringify(args),
    })
    expect(inspected.html).toContain(sign)
  })

  it.each([
    ['a binding', { tool: { url: '/{{id}}' }, bindings: { id: { source: 'server' } } }],
    [
      'a default binding',
      { tool: { url: '/{{id}}', parameters: { id: { binding: { source: 'server', key: 'id', secret: false } } } } },
    ],
  ])('is failed for a tool that is not offered, because %s has no value', async (_, made) => {
    const { serverId, instanceId } = await makeTool(made)
    await call(instanceId, {})
    expect(await recordedIn(serverId)).toMatchObject({ result: 'failed', status: null })
  })

  it('is failed for an API that refuses the connection', async () => {
    const { serverId, instanceId } = await makeTool({ tool: { url: `http://127.0.0.1:${await freePort()}/` } })
    await call(instanceId, {})
    expect(await recordedIn(serverId)).toMatchObject({ result: 'failed', status: null })
  })
})
