import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/lib/kernel/json.ts'
import { isRest, runsOf } from '../support/cases-of-run.ts'
import { bodyTool, descriptionOf, document, isTool, readAll, readParts, toolOf } from './reading.ts'

const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** Types that all contain each other. */
const WIDE = Object.fromEntries(
  Array.from({ length: 40 }, (_, one) => {
    const properties = Object.fromEntries(
      Array.from({ length: 40 }, (_, other) => [`p${other}`, schemaRef(`S${(one + other) % 40}`)]),
    )
    return [`S${one}`, { type: 'object', properties }]
  }),
)

const range = <Item>(length: number, itemOf: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, index) => itemOf(index))

const bodyPaths = (schema: JsonObject): JsonObject => ({
  '/a': { post: { requestBody: { required: true, content: { 'application/json': { schema } } } } },
})

describe('a hostile description', () => {
  it.each<readonly [string, JsonObject]>([
    ['refers to itself', { A: schemaRef('A') }],
    ['refers to itself in a circle', { A: schemaRef('B'), B: schemaRef('A') }],
    ['is a part of itself', { A: { allOf: [schemaRef('A'), { type: 'object' }] } }],
    [
      'has parts that double at each level',
      Object.fromEntries(
        Array.from({ length: 40 }, (_, i) => [
          i === 0 ? 'A' : `L${i}`,
          { allOf: [schemaRef(`L${i + 1}`), schemaRef(`L${i + 1}`)] },
        ]),
      ),
    ],
    [
      'has alternatives that double at each level',
      Object.fromEntries(
        Array.from({ length: 40 }, (_, i) => [
          i === 0 ? 'A' : `L${i}`,
          { oneOf: [schemaRef(`L${i + 1}`), schemaRef(`L${i + 1}`)] },
        ]),
      ),
    ],
    ['consists of forty types that contain each other', { ...WIDE, A: schemaRef('S0') }],
    ['has an escape that is broken', { A: { $ref: '#/components/%E0%A4%A' } }],
    ['refers to an address within the network', { A: { $ref: 'http://169.254.169.254/latest' } }],
  ])('with a schema that %s is read', async (_, schemas) => {
    const tool = await bodyTool(schemaRef('A'), { components: { schemas } })
    expect(JSON.stringify(tool.tool).length).toBeLessThan(64_000)
  })

  it('may have very large schemas that all operations share', async () => {
    const many = range(50_000, at => `value ${at}`)
    const schemas: JsonObject = {
      A: { type: 'object', properties: Object.fromEntries(many.map(name => [name, { type: 'string' }])) },
      B: { enum: many, default: many },
    }
    const content = { 'application/json': { schema: schemaRef('A') } }
    const operation = {
      parameters: [{ name: 'b', in: 'query', schema: schemaRef('B') }],
      requestBody: { content },
      responses: { 200: { content } },
    }
    const paths = Object.fromEntries(range(150, at => [`/p${at}`, { post: operation }]))
    const operations = await readParts({ paths, components: { schemas } })
    expect(operations.filter(isTool)).toHaveLength(150)
  })

  it('may have members with the names of built-ins', async () => {
    const properties: JsonObject = JSON.parse(
      '{"__proto__": {"type": "string"}, "constructor": {"type": "string"}, "toString": {"type": "string"}}',
    )
    const tool = await bodyTool({ type: 'object', properties })
    expect(Object.keys(tool.tool.parameters)).toEqual(['base_url', 'constructor', 'toString'])
  })

  it('with parameters and path items of any kind loses only these', async () => {
    const parameters = [
      null,
      7,
      'x',
      [],
      { in: 'query' },
      { name: 'q', in: 'elsewhere' },
      { name: '', in: 'query' },
      { name: 'ok', in: 'query' },
    ]
    const operations = await readParts({
      paths: { '/a/{x}': { get: { parameters } }, '/b': 7, '/c': null, '/d': { get: 'x' } },
    })
    expect(operations.filter(isTool).map(({ tool }) => tool.url)).toEqual(['{{url:base_url}}/a/{{x}}?ok={{ok?}}'])
    expect(operations.flatMap(one => ('reason' in one ? [`${one.key}: ${one.reason}`] : []))).toEqual([
      '* /b: It has no operations.',
      '* /c: It has no operations.',
      'GET /d: It is not described.',
    ])
  })

  it('with a path item that refers to itself says so', async () => {
    const [operation] = await readParts({ paths: { '/a': { $ref: '#/paths/~1a' } } })
    expect(operation).toMatchObject({ reason: 'Its reference leads nowhere: #/paths/~1a' })
  })

  it('with hundreds of operations of one id gives each a name of its own', async () => {
    const paths = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`/p${index}`, { get: { operationId: 'get' } }]),
    )
    const names = (await readParts({ paths })).filter(isTool).map(({ tool }) => tool.name)
    expect(new Set(names).size).toBe(200)
  })

  it('with braces everywhere makes no placeholders of them', async () => {
    const parameters = [
      { name: 'k{{z}}', in: 'query', schema: { type: 'string' } },
      { name: 'X-{{y}}', in: 'header', schema: {} },
    ]
    const { tool } = await toolOf({ operationId: 'b', summary: '{{secret}}', parameters }, { path: '/a/{{x}}/{y' })
    expect(tool.url).toBe('{{url:base_url}}/a/%7B{{x}}%7D/%7By?k%7B%7Bz%7D%7D={{k_z?}}')
    expect(tool.headers).toEqual([])
  })

  it('with more than 256 parameters lists the operation with the reason', async () => {
    const parameters = Array.from({ length: 300 }, (_, index) => ({
      name: `p${index}`,
      in: 'query',
      schema: { type: 'string' },
    }))
    const [operation] = await readParts({ paths: { '/a': { get: { parameters } } } })
    expect(operation).toMatchObject({ reason: expect.stringContaining('256') })
  })

  it('reads a description that looks like many others in no time that grows with its size squared', async () => {
    const paths = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [
        `/p${index}`,
        { get: { description: '*'.repeat(2_000) + '<'.repeat(2_000) } },
      ]),
    )
    expect((await readParts({ paths })).filter(isTool)).toHaveLength(300)
  })

  it('repeats no long text in each operation', async () => {
    const long = 'x'.repeat(100_000)
    const operation = { operationId: long, tags: [long], parameters: [{ $ref: '#/components/parameters/P' }] }
    const security = [{ [long]: [] }]
    const operations = await readParts({
      security,
      components: { parameters: { P: { $ref: long } } },
      paths: {
        '/a': { get: operation, additionalOperations: { [long]: operation } },
        '/b': { $ref: long },
        [`/${long}`]: { get: {}, put: {} },
      },
    })
    expect(operations).toHaveLength(4)
    expect(JSON.stringify(operations).length).toBeLessThan(10_000)
    expect(operations.at(-1)).toMatchObject({ reason: 'Its path is longer than 2,000 characters.' })
  })

  it('with references that have a malformed escape loses only what they stand for', async () => {
    const paths = { '/a': { $ref: 'a%ZZ.json' }, '/b': { get: { parameters: [{ $ref: 'b%E0%A4%A.json' }] } } }
    const { operations, outcome } = await readAll([document(descriptionOf({ paths }))])
    expect(operations.map(one => ('reason' in one ? one.reason : one.tool.url))).toEqual([
      'Its reference leads nowhere: a%ZZ.json',
      '{{url:base_url}}/b',
    ])
    expect(outcome.missing).toEqual(['a%ZZ.json', 'b%E0%A4%A.json'])
  })

  it('shows no secrets, wherever they are', async () => {
    const secret = 'sk-live-4f9XbQ27TzLmWc81RyVn05Ke'
    const variables = { key: { default: secret, enum: [secret, 'none'] } }
    const parameters = [{ name: 'key', in: 'query', schema: { type: 'string', enum: [secret, 'a'] } }]
    const servers = [{ url: `https://api.example.com/${secret}/{key}`, variables, description: secret }]
    const paths = {
      [`/${secret}`]: { get: {} },
      [`/${secret.replace('4f9', '5f9')}`]: { get: {} },
      '/a': { get: { summary: secret, description: `Use ${secret}.`, tags: [secret], parameters } },
      '/b': { $ref: `#/${secret}` },
    }
    const read = await readAll([document(descriptionOf({ servers, paths }))])
    expect(JSON.stringify(read)).not.toMatch(/4f9XbQ27|5f9XbQ27/)
    expect(read.operations.map(({ key }) => key)).toEqual([
      'GET /[secret removed]',
      'GET /[secret removed] (2)',
      'GET /a',
      '* /b',
    ])
    expect(read.summary.baseUrl.value).toBeUndefined()
  })

  it('has a limited number of notes on each tool', async () => {
    const parameters = Array.from({ length: 1_000 }, (_, index) => ({ $ref: `#/nowhere/${index}` }))
    const { notes } = await toolOf({ parameters })
    expect(notes).toHaveLength(51)
    expect(notes.at(-1)).toBe('More was left out or changed, which is not listed.')
  })

  it.runIf(isRest)('of 20 MB with 10,000 operations is read', { timeout: 120_000 }, async () => {
    const description = 'A long text. '.repeat(150)
    const paths = Object.fromEntries(range(10_000, index => [`/p${index}`, { get: { description } }]))
    const spec = document(descriptionOf({ paths }))
    expect(JSON.stringify(paths).length).toBeGreaterThan(19_000_000)
    expect((await readAll([spec])).operations.filter(isTool)).toHaveLength(10_000)
  })

  it.each<readonly [string, JsonObject]>([
    [
      'operations with one id',
      { paths: Object.fromEntries(range(5_000, i => [`/p${i}`, { get: { operationId: 'a' } }])) },
    ],
    ['parameters', { paths: { '/a': { get: { parameters: range(30_000, i => ({ name: `[${i}`, in: 'query' })) } } } }],
    [
      'members in parts of allOf',
      {
        paths: bodyPaths({
          allOf: range(400, i => ({ properties: Object.fromEntries(range(100, j => [`${i} ${j}`, {}])) })),
        }),
      },
    ],
    [
      'values in enums',
      { paths: bodyPaths({ allOf: range(2, one => ({ enum: range(20_000, i => `${one} ${i}`) })) }) },
    ],
  ])('with thousands of %s is read in linear time', async (_, parts) => {
    expect((await readParts(parts)).length).toBeGreaterThan(0)
  })

  it('in Swagger 2.0 changes no prototypes', async () => {
    const responses = { 200: { description: 'x', examples: { polluted: 1 } } }
    const produces = ['__proto__']
    const paths = { '/a': { get: { produces, consumes: produces, responses } } }
    for (const shared of [{}, { produces, responses }]) {
      await readAll([document({ swagger: '2.0', info: {}, host: 'a.example', paths, ...shared })])
      expect(Reflect.get({}, 'examples')).toBeUndefined()
    }
  })
})

/** Objects with the keys of descriptions, and any values. */
const anything: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue; object: JsonObject }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<JsonValue>(
      null,
      true,
      0,
      -1,
      1.5,
      '',
      'string',
      'object',
      'array',
      'query',
      'path',
      'form',
      'deepObject',
      '#/components/schemas/A',
      '#/paths',
      '{{x}}',
    ),
    tie('object'),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
  object: fc.dictionary(
    fc.constantFrom(
      ...'$ref type properties items allOf oneOf anyOf required enum default format pattern additionalProperties discriminator name in schema content style explode parameters requestBody responses security description summary operationId tags servers url variables application/json multipart/form-data application/x-www-form-urlencoded 200 encoding headers nullable const x'.split(
        ' ',
      ),
    ),
    tie('value'),
    { maxKeys: 5 },
  ),
})).object

describe('any description', () => {
  it.each(['2.0', '3.0.3', '3.1.0', '3.2.0'])('in version %s becomes tools, or says why not', async version => {
    await fc.assert(
      fc.asyncProperty(anything, anything, anything, async (item, operation, A) => {
        const paths = {
          '/a/{x}': { parameters: [item], get: operation, post: operation, patch: { requestBody: item } },
          '/b': item,
        }
        const parts = { paths, components: { schemas: { A } }, definitions: { A } }
        const { openapi: _openapi, ...rest } = descriptionOf(parts)
        const spec = version === '2.0' ? { swagger: '2.0', ...rest } : descriptionOf(parts, version)
        const read = await readAll([document(spec)]).catch((error: Error) => error.message)
        if (typeof read === 'string') expect(read).toMatch(/^It cannot be upgraded from Swagger 2\.0/)
        else for (const one of read.operations) expect('reason' in one ? one.reason : one.tool.name).toMatch(/\w/)
      }),
      { numRuns: runsOf(100) },
    )
  })
})
