import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/lib/kernel/json.ts'
import { measureSchema } from '../../src/tools/schemas/measure-schema.ts'
import { connect } from '../servers/mcp.ts'
import { makeServer, signUp } from '../support/api-client.ts'
import { answerJson } from '../support/fake-api.ts'
import { branching, steps, TREE } from '../support/hostile-schema.ts'
import { openSchemaChecks } from '../support/jobs.ts'
import { runFakeApi, runPatchbay } from '../support/world.ts'

const SLOW = {
  kind: 'unchecked',
  message: "the check against inputSchema took longer than 250 ms. The tool's builder must simplify the schema",
}
const MATCH = { kind: 'match' }
const mismatch = (message: unknown) => ({ kind: 'mismatch', message })

let checks: ReturnType<typeof openSchemaChecks>
beforeAll(() => {
  checks = openSchemaChecks()
})
afterAll(() => checks.close())

const createCheck = (schema: JsonObject) => {
  const check = checks.createCheck(
    schema,
    { rootName: 'the arguments', schemaName: 'inputSchema' },
    { owner: 'one', group: 'one' },
  )
  return (value: JsonValue) => check(value, undefined)
}

describe('a check against a schema', () => {
  it('that branches without end fails each time, and others still work', async () => {
    const check = createCheck(branching(40))
    expect([await check({}), await check({})]).toEqual([SLOW, SLOW])
    const other = createCheck({ type: 'object', required: ['city'] })
    expect(await other({ city: 'Oslo' })).toEqual(MATCH)
    expect(await other({})).toEqual(mismatch("the arguments must have required property 'city'"))
  })

  it('that compares every pair of items in a long list fails', async () => {
    const check = createCheck({ type: 'array', uniqueItems: true })
    expect(await check(Array.from({ length: 40_000 }, (_, id) => ({ id })))).toEqual(SLOW)
    expect(await check([{ id: 1 }, { id: 1 }])).toEqual(
      mismatch(expect.stringContaining('must NOT have duplicate items')),
    )
  })

  it('reads a schema only to recognize it if an earlier check has compiled the same one', async () => {
    let reads = 0
    const schemaOf = (city: string): JsonObject => ({
      get type() {
        reads += 1
        return 'object'
      },
      required: [city],
    })
    const readsOf = async (city: string) => {
      const before = reads
      expect(await createCheck(schemaOf(city))({ oslo: 1, rome: 1 })).toEqual(MATCH)
      return reads - before
    }
    expect(await readsOf('oslo')).toBeGreaterThan(1)
    expect(await readsOf('oslo')).toBe(1)
    expect(await readsOf('rome')).toBeGreaterThan(1)
  })

  it('that matches a long pattern fails, outside the main thread', async () => {
    checks.sandboxed.length = 0
    // Random text has so many different sections that no state of the automaton is used twice.
    const anyOf = Array.from({ length: 5 }, (_, index) => ({ pattern: `[0-7][0-9a-f]{${900 - index}}[^0-9a-f]` }))
    expect(await createCheck({ anyOf })(randomBytes(50_000).toString('hex'))).toEqual(SLOW)
    expect(checks.sandboxed).toEqual(['check'])
  })

  it('accepts and rejects values by recursive and large schemas', async () => {
    const tree = createCheck(TREE)
    expect(await tree({ name: 'root', children: [{ name: 'leaf' }] })).toEqual(MATCH)
    expect(await tree({ name: 'root', children: [{ children: [] }] })).toEqual(
      mismatch("/children/0 must have required property 'name'"),
    )
    const colours = Array.from({ length: 1_000 }, (_, index) => `colour ${index}`)
    const large = createCheck({ anyOf: colours.map(name => ({ const: name })) })
    expect(await large('colour 999')).toEqual(MATCH)
    expect(await large('no colour')).toEqual(mismatch('the arguments must be equal to constant'))
  })

  it('never sees the schemas of others, whatever it refers to', async () => {
    const address: JsonObject = { type: 'object', $defs: { address: { type: 'string', const: 'evil' } } }
    expect(await createCheck(address)({})).toEqual(MATCH)
    for (const $schema of ['#', '#/$defs/address']) {
      expect(await createCheck({ $schema, type: 'object' })({ a: 1 })).toEqual(MATCH)
    }
    const own = {
      properties: { a: { $ref: '#/$defs/address' } },
      $defs: { address: { type: 'object', required: ['city'] } },
    }
    expect(await createCheck(own)({ a: { city: 'Oslo' } })).toEqual(MATCH)
    expect(await createCheck(own)({ a: 'evil' })).toEqual(mismatch('/a must be object'))
    const $id = 'https://a.example/one'
    const named = { $id, $ref: `${$id}#/$defs/a`, $defs: { a: { type: 'null' } } }
    expect([await createCheck(named)(null), await createCheck(named)(1)]).toEqual([
      MATCH,
      mismatch('the arguments must be null'),
    ])
  })

  it('that claims to be asynchronous is checked like any other', async () => {
    const check = createCheck({ $async: true, type: 'object', required: ['x'] })
    expect(await check({ x: 1 })).toEqual(MATCH)
    expect(await check({})).toEqual(mismatch("the arguments must have required property 'x'"))
  })

  it.each<[string, JsonObject, JsonValue]>([
    [
      'an anchor in data',
      {
        $ref: '#here',
        $defs: { ...steps(30), x: { $anchor: 'here', $ref: '#/$defs/a0' }, z: { const: { $anchor: 'here' } } },
      },
      {},
    ],
    ['a pointer with a trailing #', { $ref: '#/$defs/a0#', $defs: { ...steps(30), 'a0#': true } }, {}],
    ['a pointer to the member without a name', { '': true, ...branching(30), $ref: '#/$defs/a0' }, {}],
  ])('that hides its size with %s fails', async (_what, schema, value) => {
    expect(await createCheck(schema)(value)).toEqual(SLOW)
  })

  it.each<[string, JsonObject]>([
    ['a small schema', { $ref: '#/$defs/none' }],
    ['a large schema', { $ref: '#/$defs/none', $defs: { large: { enum: Array.from({ length: 600 }, (_, n) => n) } } }],
  ])('against %s that cannot be compiled says what is wrong and who can correct it', async (_what, schema) => {
    expect(await createCheck(schema)({})).toEqual({
      kind: 'unchecked',
      message:
        'inputSchema refers to "#/$defs/none", which is not in the schema. Define it there, or remove the reference. Only the tool\'s builder can do this',
    })
  })

  it('leaves the main thread only if its schema or value is large', async () => {
    const tasksOf = async (schema: JsonObject, value: JsonValue) => {
      checks.sandboxed.length = 0
      expect(await createCheck(schema)(value)).toEqual(MATCH)
      return checks.sandboxed.length
    }
    const uuid = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
    const ordinary = { properties: { id: { pattern: uuid }, day: { pattern: '^\\d{4}-\\d{2}-\\d{2}$' } } }
    const described = { ...ordinary, description: 'Each character of a description costs nothing. '.repeat(1_000) }
    expect(await tasksOf(described, { id: 'c0ffee00-0000-4000-8000-000000000000', day: '2026-11-27' })).toBe(0)
    const unique = { type: 'array', uniqueItems: true }
    const numbers = (length: number) => Array.from({ length }, (_, index) => index)
    expect(await tasksOf(unique, numbers(100))).toBe(0)
    expect(await tasksOf(unique, numbers(101))).toBe(1)
    expect(await tasksOf({ type: 'string' }, 'x'.repeat(16 * 50_000))).toBe(0)
    expect(await tasksOf({ type: 'string' }, 'x'.repeat(16 * 50_000 + 1))).toBe(1)
    expect(await tasksOf({ pattern: '^[a-z]{1,240}$' }, 'x')).toBe(0)
    expect(await tasksOf({ pattern: '^[a-z]{1,260}$' }, 'x')).toBe(1)
    expect(await tasksOf(TREE, { name: 'leaf' })).toBe(1)
  })
})

describe('the nodes of a schema', () => {
  it.each<[string, number, JsonObject]>([
    ['a type', 1, { type: 'string' }],
    ['properties', 3, { properties: { a: {}, b: true } }],
    ['a property with the name of a keyword', 3, { properties: { $defs: { properties: { a: {} } } } }],
    ['definitions that are not used', 1, { $defs: { a: { type: 'null' } } }],
    ['a reference used twice', 7, { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }], $defs: { a: { not: {} } } }],
    [
      'a reference that is not a plain pointer',
      Number.POSITIVE_INFINITY,
      { $ref: '#here', $defs: { a: { $anchor: 'here' } } },
    ],
    ['names in dependencies', 5, { dependencies: { a: ['b', 'c', 'd'] } }],
    ['constants', 5, { enum: ['a', 'b', 'c'] }],
    ['a pattern', 6, { pattern: '^ab' }],
    ['names by pattern', 7, { patternProperties: { '^ab': {} } }],
    ['steps that double', 2 ** 13 - 2, branching(11)],
    ['recursion', Number.POSITIVE_INFINITY, TREE],
    ['a dynamic reference', Number.POSITIVE_INFINITY, { $dynamicRef: '#a', $dynamicAnchor: 'a' }],
  ])('are counted with every reference expanded: %s', (_what, nodes, schema) => {
    expect(measureSchema(schema).nodes).toBe(nodes)
  })
})

const patchbay = runPatchbay()
const LIST = { list: Array.from({ length: 500 }, () => ({})) }
const fake = runFakeApi((_request, response) => answerJson(response, LIST))

const serve = async (tool: JsonObject) => {
  const builder = await signUp(patchbay.origin)
  const template = { name: 'tool', method: 'POST', url: `${fake.origin}/`, body: '{{json:list}}' }
  const { url } = await makeServer(builder, [{ ...template, ...tool }])
  const client = await connect(url)
  return () => client.callTool({ name: 'tool', arguments: LIST })
}

it.each([
  ['inputSchema', { isError: true, content: [{ text: expect.stringContaining('inputSchema took') }] }],
  ['outputSchema', { structuredContent: {}, content: [{ text: JSON.stringify(LIST) }] }],
])(
  'a call with a hostile %s holds up no other, and fails only if its arguments are not checked',
  async (schemaName, said) => {
    const list = { type: 'array', items: { $ref: '#/$defs/a0' } }
    const { $defs = {} } = branching(20)
    const hostile = await serve({ [schemaName]: { type: 'object', properties: { list }, $defs } })
    const quick = await serve({})
    const ended: string[] = []
    const [result] = await Promise.all([
      hostile().finally(() => ended.push('hostile')),
      quick().finally(() => ended.push('quick')),
    ])
    expect(ended).toEqual(['quick', 'hostile'])
    expect(result).toMatchObject(said)
  },
)

it('a stored schema that cannot be compiled fails the call, and the error says what the builder must do', async () => {
  const builder = await signUp(patchbay.origin)
  const tool = { name: 'tool', method: 'GET', url: `${fake.origin}/{{a}}/{{b}}` }
  // Binding a parameter removes it from the schema that callers see, and so what others refer to.
  const inputSchema = { type: 'object', properties: { a: {}, b: { $ref: '#/properties/a' } } }
  const { url } = await makeServer(builder, [{ ...tool, inputSchema }], {
    bindings: { tool: { a: { source: 'instance', value: '1' } } },
  })
  const { content, isError } = await (await connect(url)).callTool({ name: 'tool', arguments: { b: '2' } })
  expect(isError).toBe(true)
  expect(content).toMatchObject([
    {
      text: 'The arguments could not be checked: inputSchema refers to "#/properties/a" at /properties/b, which is not in the schema. Define it there, or remove the reference. Only the tool\'s builder can do this.',
    },
  ])
})
