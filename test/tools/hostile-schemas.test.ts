import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/lib/kernel/json.ts'
import { measureSchema } from '../../src/tools/schemas/measure-schema.ts'
import { schemaProblem } from '../../src/tools/schemas/schema-check.ts'
import { connect } from '../servers/mcp.ts'
import { makeServer, signUp } from '../support/api-client.ts'
import { answerJson } from '../support/fake-api.ts'
import { openSchemaChecks } from '../support/jobs.ts'
import { runFakeApi, runPatchbay } from '../support/world.ts'

/** Each step tries the next one twice, so there are 2^steps attempts, none of which matches. */
const steps = (count: number): JsonObject =>
  Object.fromEntries(
    Array.from({ length: count + 1 }, (_, step) => {
      const next = { $ref: `#/$defs/a${step + 1}` }
      return [`a${step}`, step === count ? false : { anyOf: [next, next] }]
    }),
  )
const branching = (count: number): JsonObject => ({ type: 'object', $ref: '#/$defs/a0', $defs: steps(count) })

const TREE: JsonObject = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
      required: ['name'],
    },
  },
}
const SLOW = "the check against inputSchema took longer than 250 ms. The tool's builder must simplify the schema"

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
    expect(await other({ city: 'Oslo' })).toBeUndefined()
    expect(await other({})).toBe("the arguments must have required property 'city'")
  })

  it('that compares every pair of items in a long list fails', async () => {
    const check = createCheck({ type: 'array', uniqueItems: true })
    expect(await check(Array.from({ length: 40_000 }, (_, id) => ({ id })))).toBe(SLOW)
    expect(await check([{ id: 1 }, { id: 1 }])).toContain('must NOT have duplicate items')
  })

  it('accepts and rejects values by recursive and large schemas', async () => {
    const tree = createCheck(TREE)
    expect(await tree({ name: 'root', children: [{ name: 'leaf' }] })).toBeUndefined()
    expect(await tree({ name: 'root', children: [{ children: [] }] })).toBe(
      "/children/0 must have required property 'name'",
    )
    const colours = Array.from({ length: 1_000 }, (_, index) => `colour ${index}`)
    const large = createCheck({ anyOf: colours.map(name => ({ const: name })) })
    expect(await large('colour 999')).toBeUndefined()
    expect(await large('no colour')).toMatch(/^the arguments must be equal to constant/)
  })

  it('never sees the schemas of others, whatever it refers to', async () => {
    const address: JsonObject = { type: 'object', $defs: { address: { type: 'string', const: 'evil' } } }
    expect(await createCheck(address)({})).toBeUndefined()
    for (const $schema of ['#', '#/$defs/address']) {
      expect(await createCheck({ $schema, type: 'object' })({ a: 1 })).not.toEqual(
        expect.stringMatching(/evil|city|constant/),
      )
    }
    const own = {
      properties: { a: { $ref: '#/$defs/address' } },
      $defs: { address: { type: 'object', required: ['city'] } },
    }
    expect(await createCheck(own)({ a: { city: 'Oslo' } })).toBeUndefined()
    expect(await createCheck(own)({ a: 'evil' })).toBe('/a must be object')
    const $id = 'https://a.example/one'
    const named = { $id, $ref: `${$id}#/$defs/a`, $defs: { a: { type: 'null' } } }
    expect([await createCheck(named)(null), await createCheck(named)(1)]).toEqual([
      undefined,
      'the arguments must be null',
    ])
  })

  it('that claims to be asynchronous is checked like any other', async () => {
    const check = createCheck({ $async: true, type: 'object', required: ['x'] })
    expect(await check({ x: 1 })).toBeUndefined()
    expect(await check({})).toBe("the arguments must have required property 'x'")
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
    expect(await createCheck(schema)(value)).toBe(SLOW)
  })

  it('that is refused when it is saved says why', () => {
    expect(schemaProblem({ type: 'thing' })).toMatch(/^is not a valid JSON Schema 2020-12: /)
    expect(schemaProblem({ $ref: '#/$defs/none' })).toMatch(/^cannot be compiled: .*#\/\$defs\/none/)
    expect(schemaProblem({ $async: true, type: 'object' })).toBeUndefined()
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
    ['a pattern', 13, { pattern: '^ab' }],
    ['names by pattern', 14, { patternProperties: { '^ab': {} } }],
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
  ['inputSchema', 'Wrong arguments'],
  ['outputSchema', "The response does not match the tool's output schema"],
])('a call with a hostile %s holds up no other, and its error names the schema', async (schemaName, error) => {
  const list = { type: 'array', items: { $ref: '#/$defs/a0' } }
  const { $defs = {} } = branching(20)
  const hostile = await serve({ [schemaName]: { type: 'object', properties: { list }, $defs } })
  const quick = await serve({})
  const ended: string[] = []
  const [{ content, isError }] = await Promise.all([
    hostile().finally(() => ended.push('hostile')),
    quick().finally(() => ended.push('quick')),
  ])
  expect(ended).toEqual(['quick', 'hostile'])
  expect(isError).toBe(true)
  expect(content).toMatchObject([{ text: expect.stringContaining(`${error}: the check against ${schemaName} took`) }])
})

it('a schema of over ten million subschemas cannot be saved', async () => {
  const builder = await signUp(patchbay.origin)
  const { id } = await builder.create('/toolkits', { title: 'Toolkit' })
  const tool = { name: 'tool', method: 'GET', url: `${fake.origin}/`, inputSchema: branching(24) }
  expect(await builder.send('POST', `/toolkits/${id}/tools`, tool)).toMatchObject({
    status: 400,
    body: { errors: [{ path: 'inputSchema', message: expect.stringContaining('10,000,000') }] },
  })
})
