import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { makeServer } from '../support/api-client.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

const Result = z.object({ content: z.tuple([z.object({ text: z.string() })]), isError: z.boolean().optional() })
const Instance = z.object({ inputSchema: z.record(z.string(), z.unknown()) })

describe('an argument of a parameter with a serialization', () => {
  const patchbay = runPatchbay()
  const builder = runUser(patchbay)
  const fake = runFakeApi()

  /** Makes a tool with this query. Returns its input schema, and a function that returns the query or the error. */
  const tool = async (query: string, parameters: object = {}, bindings: Record<string, unknown> = {}) => {
    const definition = { name: 'tool', method: 'GET', url: `${fake.origin}/?${query}`, parameters }
    const { instanceIds, serverId } = await makeServer(builder, [definition], { bindings: { tool: bindings } })
    const { body } = await builder.expectOk('GET', `/instances/${instanceIds.tool}`)
    const call = async (args: object): Promise<string> => {
      const called = await builder.expectOk('POST', `/instances/${instanceIds.tool}/call`, { arguments: args })
      const { content, isError } = Result.parse(called.body)
      return isError === true ? content[0].text : (fake.seen.at(-1)?.url ?? '')
    }
    return { call, serverId, schema: Instance.parse(body).inputSchema }
  }

  it('is described and checked by its type', async () => {
    const { call, schema } = await tool('t={{json:t | repeat}}&f{{json:f? | brackets}}')
    expect(schema).toEqual({
      type: 'object',
      properties: { t: { type: 'array', items: {} }, f: { type: 'object' } },
      required: ['t'],
      additionalProperties: false,
    })
    expect(await call({ t: ['a', 2], f: { x: { y: true } } })).toBe('/?t=a&t=2&f%5Bx%5D%5By%5D=true')
    expect(await call({ t: '["a"]', f: null })).toBe('/?t=a')
    expect(await call({ t: 'a' })).toBe('"t" must be an array, and is a string.')
    expect(await call({ t: ['a'], f: [1] })).toBe('"f" must be an object, and is an array.')
    expect(await call({})).toBe('"t" is missing: it must be an array.')
  })

  it('counts as missing without members, so that its default applies', async () => {
    const { call } = await tool('t={{json:t | comma=[1]}}&u={{json:u | pipe}}&f={{json:f? | comma}}', {
      u: { default: [2] },
    })
    expect(await call({ t: [], u: [], f: {} })).toBe('/?t=1&u=2')
    expect(await call({ t: null, u: [null], f: [null] })).toBe('/?t=1&u=2')
    const required = await tool('t={{json:t | comma}}')
    expect(await required.call({ t: [] })).toBe('"t" is empty: it must be an array or an object.')
  })

  it('is checked against the schema of its parameter, but not if it counts as missing', async () => {
    const schema = { type: 'array', items: { type: 'integer' }, minItems: 1 }
    const { call } = await tool('t={{json:t? | repeat}}', { t: { schema } })
    expect(await call({ t: '[1, 2]' })).toBe('/?t=1&t=2')
    expect(await call({ t: ['a'] })).toMatch(/^Wrong arguments: \/t\/0 must be integer/)
    expect(await call({ t: [] })).toBe('/')
  })

  it('cannot replace a key that the builder has fixed, in the template or by a binding', async () => {
    const fixed = { source: 'instance', value: { role: 'viewer' } }
    const { call } = await tool('tenant=1&{{json:own | spread}}&{{json:more? | spread}}', {}, { own: fixed })
    expect(await call({ more: { page: 2 } })).toBe('/?tenant=1&role=viewer&page=2')
    for (const more of [{ tenant: 2 }, { role: 'admin' }, { ROLE: 'admin' }, { 'role[]': 'admin' }]) {
      expect(await call({ more })).toMatch(/^"more": must .*key that the request already has$/)
    }
  })

  it('is checked when it is bound', async () => {
    const { serverId } = await tool('t={{json:t? | repeat}}')
    const toolkit = await builder.create('/toolkits', { title: 'Bound' })
    const url = `${fake.origin}/?t={{json:t? | repeat}}`
    const { id: toolId } = await builder.create(`/toolkits/${toolkit.id}/tools`, { name: 'bound', method: 'GET', url })
    const bind = (value: unknown) =>
      builder.send('POST', `/servers/${serverId}/instances`, {
        toolId,
        name: 'bound',
        bindings: { t: { source: 'instance', value } },
      })
    expect(await bind('{"a": 1}')).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'bindings.t', message: 'value must be an array, not an object' }] },
    })
    expect(await bind('["a", "b"]')).toMatchObject({ status: 201 })
  })

  it('shows its serialization at its position in the API', async () => {
    const toolkit = await builder.create('/toolkits', { title: 'Shown' })
    const url = `${fake.origin}/{{p | segments}}?t={{t}}`
    const created = await builder.send('POST', `/toolkits/${toolkit.id}/tools`, { name: 'shown', method: 'GET', url })
    expect(created.body).toMatchObject({ parameters: { p: { places: [{ kind: 'path', serialization: 'segments' }] } } })
    expect(JSON.stringify(created.body).match(/serialization/g)).toHaveLength(1)
  })
})
