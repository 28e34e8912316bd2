import type { Client } from '@modelcontextprotocol/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'
import { callText, connect } from './mcp.ts'

const TYPES = ['string', 'integer', 'number', 'boolean', 'json', 'url'] as const
type ParameterType = (typeof TYPES)[number]
type Binding = { source: string; value?: unknown }

/** Values by type and source, each with its expected result. `wrong` is part of the expected error. */
const CASTS: readonly {
  type: ParameterType
  source: 'exposed' | 'instance' | 'server'
  given: unknown
  becomes?: unknown
  wrong?: RegExp
}[] = [
  { type: 'string', source: 'exposed', given: 'Zürich "1"', becomes: 'Zürich "1"' },
  { type: 'string', source: 'exposed', given: 7, becomes: '7' },
  { type: 'string', source: 'exposed', given: true, becomes: 'true' },
  { type: 'string', source: 'exposed', given: '', becomes: '' },
  { type: 'string', source: 'exposed', given: ['a'], wrong: /"v" must be a string, and is an array/ },
  { type: 'string', source: 'exposed', given: { a: 1 }, wrong: /"v" must be a string, and is an object/ },
  { type: 'string', source: 'instance', given: 7.5, becomes: '7.5' },
  { type: 'string', source: 'server', given: '007', becomes: '007' },
  { type: 'integer', source: 'exposed', given: 42, becomes: 42 },
  { type: 'integer', source: 'exposed', given: '-42', becomes: -42 },
  { type: 'integer', source: 'exposed', given: 1.5, wrong: /"v" must be an integer, and is a number with a fraction/ },
  { type: 'integer', source: 'exposed', given: '007', wrong: /"v" must be an integer, and is a string/ },
  { type: 'integer', source: 'exposed', given: 2 ** 53, wrong: /"v" must be an integer, and is an integer beyond/ },
  { type: 'integer', source: 'exposed', given: true, wrong: /"v" must be an integer, and is a boolean/ },
  { type: 'integer', source: 'instance', given: '12', becomes: 12 },
  { type: 'integer', source: 'server', given: ' 12 ', becomes: 12 },
  { type: 'integer', source: 'server', given: 'twelve', wrong: /bound to "v" must be an integer/ },
  { type: 'number', source: 'exposed', given: 0.5, becomes: 0.5 },
  { type: 'number', source: 'exposed', given: '1e3', becomes: 1_000 },
  { type: 'number', source: 'exposed', given: 'NaN', wrong: /"v" must be a number, and is a string/ },
  { type: 'number', source: 'exposed', given: [1], wrong: /"v" must be a number, and is an array/ },
  { type: 'number', source: 'instance', given: 3, becomes: 3 },
  { type: 'number', source: 'server', given: '-0.25', becomes: -0.25 },
  { type: 'boolean', source: 'exposed', given: false, becomes: false },
  { type: 'boolean', source: 'exposed', given: 'true', becomes: true },
  { type: 'boolean', source: 'exposed', given: 1, wrong: /"v" must be true or false, and is a number/ },
  { type: 'boolean', source: 'exposed', given: 'yes', wrong: /"v" must be true or false, and is a string/ },
  { type: 'boolean', source: 'instance', given: 'false', becomes: false },
  { type: 'boolean', source: 'server', given: 'true', becomes: true },
  { type: 'json', source: 'exposed', given: { a: [1, null, 'x'] }, becomes: { a: [1, null, 'x'] } },
  { type: 'json', source: 'exposed', given: '[1]', becomes: '[1]' },
  { type: 'json', source: 'exposed', given: null, becomes: null },
  { type: 'json', source: 'instance', given: { a: 1 }, becomes: { a: 1 } },
  { type: 'json', source: 'instance', given: '[1, {"a": 2}]', becomes: [1, { a: 2 }] },
  { type: 'json', source: 'instance', given: null, becomes: null },
  { type: 'json', source: 'server', given: '{"a": [true]}', becomes: { a: [true] } },
  { type: 'json', source: 'server', given: '{"a": ', wrong: /bound to "v" must be JSON/ },
  { type: 'url', source: 'exposed', given: 'https://a.example/x?y', becomes: 'https://a.example/x?y' },
  { type: 'url', source: 'exposed', given: 'ftp://a.example', wrong: /"v" must be an absolute http or https URL/ },
  { type: 'url', source: 'exposed', given: 'https://u:p@a.example', wrong: /without credentials/ },
  { type: 'url', source: 'exposed', given: 5, wrong: /"v" must be an absolute .* and is a number/ },
  { type: 'url', source: 'instance', given: 'http://a.example', becomes: 'http://a.example' },
  { type: 'url', source: 'server', given: 'https://a.example/', becomes: 'https://a.example/' },
]

const Echo = z.object({ url: z.string(), body: z.string() })

describe('the parameters of a call', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi()
  let serverId: string
  let toolkitId: string
  let client: Client
  let made = 0
  const ada = runUser(patchbay)
  beforeAll(async () => {
    serverId = (await ada.create('/servers', { name: 'Server', access: 'public' })).id
    toolkitId = (await ada.create('/toolkits', { title: 'Toolkit' })).id
  })

  /** Adds a tool and returns functions that call it with the official client. */
  const work = async (definition: object, bindings: Record<string, Binding> = {}) => {
    const name = `tool_${++made}`
    const tool = { name, method: 'POST', url: `${fake.origin}/`, ...definition }
    const { id } = await ada.create(`/toolkits/${toolkitId}/tools`, tool)
    await ada.expectOk('POST', `/servers/${serverId}/instances`, { toolId: id, name, bindings })
    client = await connect(`${patchbay.origin}/s/${serverId}`)
    const call = async (args: Record<string, unknown> = {}) => callText(client, name, args)
    /** Calls the tool and returns the JSON that the API received. */
    const send = async (args: Record<string, unknown> = {}): Promise<unknown> => {
      const { text, isError } = await call(args)
      if (isError) throw new Error(text)
      return JSON.parse(Echo.parse(JSON.parse(text)).body)
    }
    return { name, call, send }
  }
  const putGlobal = (key: string, value: string, secret = false) =>
    ada.expectOk('PUT', `/servers/${serverId}/globals/${key}`, { value, secret })

  it('are tested with every type and source', () => {
    const tried = new Set(CASTS.map(({ type, source }) => `${type} ${source}`))
    expect(tried.size).toBe(TYPES.length * 3)
  })

  it.each(CASTS)('of type $type from $source: $given', async ({ type, source, given, becomes, wrong }) => {
    const key = `g_${made}`
    if (source === 'server') await putGlobal(key, z.string().parse(given))
    const binding = source === 'instance' ? { value: given } : source === 'server' ? { value: key } : {}
    const { call, send } = await work({ body: `{"value": {{${type}:v}}}` }, { v: { source, ...binding } })
    const args = source === 'exposed' ? { v: given } : {}
    if (wrong === undefined) expect(await send(args)).toEqual({ value: becomes })
    else expect(await call(args)).toEqual({ isError: true, text: expect.stringMatching(wrong) })
  })

  it('that are bound cannot be set or overridden by the caller', async () => {
    await putGlobal('bound', 'global')
    const { name, call, send } = await work(
      { body: '{"a": {{a}}, "b": {{b}}, "c": {{c}}}' },
      { a: { source: 'instance', value: 'fixed' }, b: { source: 'server', value: 'bound' } },
    )
    expect(await send({ c: 'mine' })).toEqual({ a: 'fixed', b: 'global', c: 'mine' })
    for (const bound of ['a', 'b']) {
      expect(await call({ c: 'mine', [bound]: 'mine' })).toEqual({
        isError: true,
        text: expect.stringMatching(new RegExp(`no parameter "${bound}".*takes "c"`)),
      })
    }
    const { tools } = await client.listTools()
    const schema = tools.find(tool => tool.name === name)?.inputSchema
    expect(schema).toMatchObject({ required: ['c'], properties: { c: { type: 'string' } } })
    expect(Object.keys(schema?.properties ?? {})).toEqual(['c'])
  })

  it('bound to a global without a key use the global of their own name', async () => {
    await putGlobal('region', 'eu')
    const { send } = await work({ body: '{"value": {{region}}}' }, { region: { source: 'server' } })
    expect(await send()).toEqual({ value: 'eu' })
  })

  it('that are missing or null get their default or no value', async () => {
    const { send, call } = await work({
      url: `${fake.origin}/?q={{q?}}`,
      headers: [{ name: 'X-Tag', value: '{{tag?}}' }],
      body: '{"n": {{integer:n=5}}, "m": {{integer:m}}, "o": {{o?}}, "j": {{json:j?}}}',
      parameters: { m: { default: 6 } },
    })
    expect(await send()).toEqual({ n: 5, m: 6 })
    expect(await send({ n: null, m: null, o: null, q: null, tag: null })).toEqual({ n: 5, m: 6 })
    expect(await send({ n: 1, m: 2, o: 'x', j: null })).toEqual({ n: 1, m: 2, o: 'x', j: null })
    const seen = fake.seen.at(-2)
    expect(seen?.url).toBe('/')
    expect(seen?.headers).not.toHaveProperty('x-tag')
    expect((await call({ q: 'a&b=c', tag: 't' })).text).toContain('?q=a%26b%3Dc')
    expect(fake.seen.at(-1)?.headers).toHaveProperty('x-tag', 't')
  })

  it('that are invalid, missing or unknown are all named in one error, and nothing is sent', async () => {
    const { call } = await work({
      body: '{"a": {{integer:a}}, "b": {{b}}, "c": {{boolean:c}}}',
    })
    const before = fake.seen.length
    const { isError, text } = await call({ a: 'x', d: 1, constructor: 2 })
    expect(isError).toBe(true)
    for (const line of [
      '"a" must be an integer, and is a string',
      '"b" is missing: it must be a string',
      '"c" is missing: it must be true or false',
      'no parameter "d": this tool takes "a", "b", "c"',
      'no parameter "constructor"',
    ]) {
      expect(text).toContain(line)
    }
    expect(text).not.toContain(' at ')
    expect(fake.seen.length).toBe(before)
  })

  it.each([
    ['an enum', { v: { enum: ['a', 'b'] } }, 'string', 'c', /"v" must be one of "a", "b", and is another value/],
    ['a minimum', { v: { minimum: 3 } }, 'integer', 2, /"v" must be an integer of at least 3, and is a smaller value/],
    ['a maximum', { v: { maximum: 3 } }, 'number', 3.5, /"v" must be a number of at most 3, and is a greater value/],
    ['a pattern', { v: { pattern: '^[a-z]+$' } }, 'string', 'A1', /"v" must be a string that matches \^\[a-z\]\+\$/],
  ])('held to %s are refused where they break it', async (_what, parameters, type, given, wrong) => {
    const { call } = await work({ body: `{"value": {{${type}:v}}}`, parameters })
    expect(await call({ v: given })).toEqual({ isError: true, text: expect.stringMatching(wrong) })
  })

  it('replace globals in fixed values, in text and inside JSON', async () => {
    await putGlobal('host', 'eu-1')
    await putGlobal('token', 'sk-"quoted"\\', true)
    const { call } = await work(
      { body: '{"text": {{text}}, "json": {{json:json}}, "count": {{integer:count}}}' },
      {
        text: { source: 'instance', value: 'at {{host}} by {{ host }}, \\{{host}} {{string:host}}' },
        json: { source: 'instance', value: { deep: [{ key: 'Bearer {{token}}', '{{host}}': 1 }], n: 5 } },
        count: { source: 'instance', value: '4{{two}}' },
      },
    )
    await putGlobal('two', '2')
    const { text, isError } = await call()
    expect(isError).toBe(false)
    expect(JSON.parse(fake.seen.at(-1)?.body ?? '')).toEqual({
      text: 'at eu-1 by eu-1, {{host}} {{string:host}}',
      json: { deep: [{ key: 'Bearer sk-"quoted"\\', '{{host}}': 1 }], n: 5 },
      count: 42,
    })
    expect(text).not.toContain('quoted')
  })

  it('replace globals in fixed text that is JSON', async () => {
    const odd = 'a"b\\c", "admin": "yes'
    await putGlobal('odd', odd)
    await putGlobal('whole', '[1, 2]')
    const { send } = await work(
      { body: '{"strings": {{json:strings}}, "string": {{json:string}}, "values": {{json:values}}}' },
      {
        strings: { source: 'instance', value: '{"key": "{{odd}}"}' },
        string: { source: 'instance', value: '"{{odd}}"' },
        values: { source: 'instance', value: '{"list": {{whole}}}' },
      },
    )
    expect(await send()).toEqual({ strings: { key: odd }, string: odd, values: { list: [1, 2] } })
  })

  it('nested deeply arrive unchanged, and nested too deeply are rejected', async () => {
    const { send } = await work({ body: '{"value": {{json:v}}}' })
    const nest = (depth: number): unknown => {
      let value: unknown = 'deep'
      for (let level = 0; level < depth; level++) value = [value]
      return value
    }
    expect(await send({ v: nest(55) })).toEqual({ value: nest(55) })
    await expect(send({ v: nest(1_000) })).rejects.toThrow(/64|deep/)
    expect(await send({ v: 1 })).toEqual({ value: 1 })
  })

  it('with a lone surrogate change nothing around it', async () => {
    const { call } = await work({ url: `${fake.origin}/{{p}}/end?q={{q}}`, body: '{"a": {{a}}, "b": "x{{a}}y"}' })
    const whole = await call({ p: '😀', q: '😀', a: '😀' })
    expect(whole.isError).toBe(false)
    expect(fake.seen.at(-1)?.url).toBe('/%F0%9F%98%80/end?q=%F0%9F%98%80')
    const half = await call({ p: '\ud83d', q: '\ude00', a: '\ud83d' })
    expect(half.isError).toBe(false)
    expect(fake.seen.at(-1)).toMatchObject({
      url: '/%EF%BF%BD/end?q=%EF%BF%BD',
      body: '{"a": "\\ud83d", "b": "x\\ud83dy"}',
    })
    expect(half.text.isWellFormed()).toBe(true)
  })

  it('named like an object member are like any other', async () => {
    const { send, call } = await work({ body: '{"value": {{constructor}}, "other": {{toString?}}}' })
    expect(await send({ constructor: 'c' })).toEqual({ value: 'c' })
    expect(await call({})).toEqual({ isError: true, text: expect.stringContaining('"constructor" is missing') })
  })
})
