import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { makeServer } from '../support/api-client.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

const Instance = z.object({ id: z.string(), toolId: z.string() })

const LIST_REFUSAL = 'contains a secret, which cannot be a part of a list'
const SECRET = 'canary-1/ä "b"/canary-2'

describe('a secret and a placeholder with a serialization', () => {
  const patchbay = runPatchbay()
  const builder = runUser(patchbay)
  const fake = runFakeApi()
  let serverId: string
  let toolkitId: string

  beforeAll(async () => {
    ;({ serverId, toolkitId } = await makeServer(builder, []))
    const store = (key: string, value: string) =>
      builder.expectOk('PUT', `/servers/${serverId}/globals/${key}`, { value, secret: true, origins: [fake.origin] })
    await store('list', '["canary-1", "canary-2"]')
    await store('path', SECRET)
  })

  let made = 0
  const bind = async (url: string, binding: object) => {
    const name = `tool_${++made}`
    const tool = await builder.create(`/toolkits/${toolkitId}/tools`, { name, method: 'GET', url })
    const bindings = { v: binding }
    return builder.send('POST', `/servers/${serverId}/instances`, { toolId: tool.id, name, bindings })
  }

  it.each([
    ['alone', 'comma', { source: 'server', value: 'list' }],
    ['as a fixed value', 'repeat', { source: 'instance', value: '{{list}}' }],
    ['in a member', 'pipe', { source: 'instance', value: ['a', '{{path}}'] }],
    ['in JSON', 'comma', { source: 'instance', value: '[{"a": "x{{path}}"}]' }],
  ])('do not go together %s, because a member could escape masking', async (_how, serialization, binding) => {
    const refused = await bind(`${fake.origin}/?t={{json:v | ${serialization}}}`, binding)
    expect(refused).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'bindings.v', message: expect.stringContaining(LIST_REFUSAL) }] },
    })
  })

  it('do not go together if the global becomes a secret later', async () => {
    await builder.expectOk('PUT', `/servers/${serverId}/globals/late`, { value: '["canary-3"]' })
    expect((await bind(`${fake.origin}/?t={{json:v | comma}}`, { source: 'server', value: 'late' })).status).toBe(201)
    const global = { value: '["canary-3"]', secret: true, origins: [fake.origin] }
    const stored = await builder.send('PUT', `/servers/${serverId}/globals/late`, global)
    expect(stored).toMatchObject({ status: 400, body: { detail: expect.stringContaining(LIST_REFUSAL) } })
  })

  it('are refused in segments if there is other text, which could tell what is in the secret', async () => {
    const refused = await bind(`${fake.origin}/{{v | segments}}`, { source: 'instance', value: '.{{path}}' })
    expect(refused).toMatchObject({
      status: 400,
      body: { errors: [{ message: expect.stringContaining('In a host, in segments of the path') }] },
    })
  })

  it('are sent in segments, and masked in the result, the history and the test of the tool', async () => {
    const { body: instance } = await bind(`${fake.origin}/x/{{v | segments}}`, { source: 'server', value: 'path' })
    const { id, toolId } = Instance.parse(instance)
    const { body: result } = await builder.expectOk('POST', `/instances/${id}/call`, { arguments: {} })
    expect(fake.seen.at(-1)?.url).toBe('/x/canary-1/%C3%A4%20%22b%22/canary-2')
    const { body: history } = await builder.expectOk('GET', `/servers/${serverId}/executions`)
    const { body: test } = await builder.expectOk('POST', `/tools/${toolId}/test`, {
      arguments: { v: SECRET },
      serverId,
    })
    for (const shown of [result, history, test]) {
      expect(JSON.stringify(shown)).toContain('•••')
      expect(JSON.stringify(shown)).not.toContain('canary')
    }
  })

  it('are masked where a model repeats the secret in a list', async () => {
    const url = `${fake.origin}/?t={{json:v | repeat}}&f{{json:f? | brackets}}`
    const { body: instance } = await bind(url, { source: 'exposed' })
    const { id } = Instance.parse(instance)
    const args = { v: ['a', SECRET, [SECRET]], f: { a: { b: SECRET } } }
    const { body: result } = await builder.expectOk('POST', `/instances/${id}/call`, { arguments: args })
    const { body: history } = await builder.expectOk('GET', `/servers/${serverId}/executions`)
    for (const shown of [result, history]) expect(JSON.stringify(shown)).not.toContain('canary')
  })
})
