import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { lintCatalogue } from '../../src/tools/lint/costs.ts'
import { type Finding, LINT_LEVELS, type ShownTool } from '../../src/tools/lint/finding.ts'
import { lintTool } from '../../src/tools/lint/lint-tool.ts'
import { lintSimilarTools } from '../../src/tools/lint/similar-tools.ts'

const SOUND: ShownTool = {
  name: 'list_shipments',
  description: 'Lists the shipments of a customer, newest first. Use it before asking for one of them.',
  inputSchema: {
    type: 'object',
    properties: { customer: { type: 'string', description: 'Number of the customer, such as C-1042.' } },
    required: ['customer'],
    additionalProperties: false,
  },
}
const withSchema = (inputSchema: JsonObject): ShownTool => ({ ...SOUND, inputSchema })
const withProperty = (schema: JsonObject): ShownTool =>
  withSchema({ type: 'object', properties: { customer: { description: 'Who it is.', ...schema } } })
const rulesOf = (findings: readonly Finding[]): string[] => findings.map(({ rule }) => rule)

describe('one tool', () => {
  it('without problems has no findings', () => {
    expect(lintTool(SOUND, { serverName: 'shipping', tokens: 120 })).toEqual([])
  })

  const one: readonly (readonly [string, ShownTool, Partial<Finding>])[] = [
    ['a period in the name', { ...SOUND, name: 'ship.list' }, { rule: 'name-characters', level: 'error' }],
    ['no name', { ...SOUND, name: '' }, { rule: 'name-characters', level: 'error' }],
    ['a name of 65 characters', { ...SOUND, name: 'a'.repeat(65) }, { rule: 'name-length', level: 'error' }],
    ['a name that starts with a digit', { ...SOUND, name: '2_shipments' }, { rule: 'name-start', clients: ['Gemini'] }],
    ['no description', { ...SOUND, description: ' ' }, { rule: 'no-description', level: 'warning' }],
    [
      'a description that repeats the name',
      { ...SOUND, description: 'List shipments.' },
      { rule: 'short-description' },
    ],
    ['a long description', { ...SOUND, description: 'Ships it far. '.repeat(80) }, { rule: 'long-description' }],
    [
      'an array as the root of the schema',
      withSchema({ type: 'array', items: {} }),
      { rule: 'root-type', level: 'error' },
    ],
    ['a schema without properties', withSchema({ type: 'object' }), { rule: 'no-properties', clients: ['OpenAI'] }],
    [
      'a combination of schemas at the top level',
      withSchema({ type: 'object', properties: {}, oneOf: [{ required: ['a'] }] }),
      { rule: 'root-combination', level: 'error', clients: ['Claude', 'OpenAI'] },
    ],
    [
      'brackets in the name of a parameter',
      withSchema({ type: 'object', properties: { 'filter[id]': { type: 'string', description: 'Which.' } } }),
      { rule: 'parameter-name', level: 'error', parameter: 'filter[id]' },
    ],
    [
      'an array without items',
      withProperty({ type: 'array' }),
      { rule: 'array-without-items', level: 'error', parameter: 'customer', at: '/properties/customer' },
    ],
    [
      'an array without items inside an array',
      withProperty({ type: 'array', items: { type: 'array' } }),
      { rule: 'array-without-items', at: '/properties/customer/items' },
    ],
    ['a list of types', withProperty({ type: ['string', 'null'] }), { rule: 'type-list', clients: ['Gemini'] }],
    ['an enum of numbers', withProperty({ type: 'integer', enum: [1, 2] }), { rule: 'enum-of-other-than-texts' }],
    ['a constant', withProperty({ type: 'string', const: 'a' }), { rule: 'const' }],
    ['a format', withProperty({ type: 'string', format: 'uri' }), { rule: 'format', level: 'hint' }],
    ['no type', withProperty({}), { rule: 'no-type', level: 'hint' }],
    [
      'an internal reference',
      withSchema({ type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'string' } } }),
      { rule: 'reference', parameter: 'a', at: '/properties/a' },
    ],
    [
      'a reference to another document',
      withSchema({ type: 'object', properties: { a: { $ref: 'https://example.com/a.json' } } }),
      { rule: 'reference-elsewhere' },
    ],
    [
      'a keyword of draft 4',
      withProperty({ type: 'integer', minimum: 1, exclusiveMinimum: true }),
      { rule: 'invalid-schema', level: 'error', clients: ['Claude'] },
    ],
    [
      'a parameter without a description',
      withSchema({ type: 'object', properties: { customer: { type: 'string' } } }),
      { rule: 'no-parameter-description', parameter: 'customer' },
    ],
    [
      'an output schema in an older dialect',
      { ...SOUND, outputSchema: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' } },
      { rule: 'old-dialect', level: 'error', field: 'outputSchema' },
    ],
  ]
  it.each(one)('with %s gets this finding only', (_what, tool, expected) => {
    const findings = lintTool(tool)
    expect(findings).toHaveLength(1)
    expect(findings[0]).toMatchObject(expected)
    expect(findings[0]?.remedy).toMatch(/\.$/)
  })

  it('gets a finding with its token count if it is costly', () => {
    expect(lintTool(SOUND, { tokens: 499 })).toEqual([])
    expect(lintTool(SOUND, { tokens: 500 })).toMatchObject([{ rule: 'costly', level: 'hint' }])
    expect(lintTool(SOUND, { tokens: 2_000 })).toMatchObject([{ rule: 'costly', level: 'warning', field: 'cost' }])
  })

  it("gets a finding with the affected clients if its name and the server's are too long together", () => {
    const name = 'n'.repeat(40)
    expect(lintTool({ ...SOUND, name }, { serverName: 's'.repeat(17) })).toEqual([])
    expect(lintTool({ ...SOUND, name }, { serverName: 's'.repeat(18) })).toMatchObject([{ clients: ['Claude Code'] }])
    expect(lintTool({ ...SOUND, name }, { serverName: 's'.repeat(20) })).toMatchObject([
      { rule: 'long-name', clients: ['Claude Code', 'Cursor'] },
    ])
  })

  it('gets one finding for a problem that one parameter has in several places', () => {
    const list = { type: 'array' }
    const tool = withProperty({ type: 'object', properties: { a: list, b: list } })
    expect(rulesOf(lintTool(tool))).toEqual(['array-without-items'])
  })

  it('gets no findings for values that only look like schemas', () => {
    const value = { type: 'array', $ref: 'x', const: 1 }
    const tool = withProperty({ type: 'object', properties: {}, default: value, examples: [value] })
    expect(lintTool(tool)).toEqual([])
  })

  it('gets a finding if its schema is nested without end', () => {
    let schema: JsonObject = { type: 'string' }
    for (let depth = 0; depth < 5_000; depth++) schema = { type: 'array', items: schema }
    expect(rulesOf(lintTool(withProperty(schema)))).toContain('vast-schema')
  })

  it('gets its findings most severe first, each with a rule and a remedy, for any input', () => {
    const schema = fc.dictionary(
      fc.constantFrom('type', 'properties', 'items', 'anyOf', '$ref', 'enum', '$schema', 'format', '$defs'),
      fc.jsonValue(),
    )
    const tool = fc.record({ name: fc.string(), description: fc.string(), inputSchema: schema, outputSchema: schema })
    fc.assert(
      fc.property(tool, generated => {
        const shown: ShownTool = JSON.parse(JSON.stringify(generated))
        const findings = lintTool(shown)
        const levels = findings.map(({ level }) => LINT_LEVELS.indexOf(level))
        expect(levels).toEqual(levels.toSorted())
        for (const { rule, message, remedy } of findings) {
          expect(rule).toMatch(/^[a-z-]+$/)
          expect(message).toMatch(/\.$/)
          expect(remedy).toMatch(/\.$/)
        }
      }),
    )
  })
})

describe('the tools of a server', () => {
  const tool = (name: string, description: string): ShownTool => ({ ...SOUND, name, description })

  it('with the same description get a finding each', async () => {
    const found = await lintSimilarTools([
      tool('berlin_weather', 'Tells the weather.'),
      SOUND,
      tool('paris_weather', 'tells the weather. '),
    ])
    expect([...found.keys()].sort()).toEqual([0, 2])
    expect(found.get(0)?.message).toContain('"paris_weather"')
    expect(found.get(2)).toMatchObject({ rule: 'same-description', level: 'warning', field: 'description' })
  })

  it('that differ in one of many words get a finding each; those that do different things do not', async () => {
    const text = (kind: string) => `Lists the ${kind} invoices of a customer with their numbers, amounts and due dates.`
    const alike = await lintSimilarTools([tool('list_open', text('open')), tool('list_paid', text('paid'))])
    expect(alike.get(1)).toMatchObject({ rule: 'reads-alike', level: 'hint' })
    const apart = [tool('get_user', 'Gets a user.'), tool('delete_user', 'Deletes a user.'), tool('list_users', '')]
    expect((await lintSimilarTools(apart)).size).toBe(0)
  })

  it('without descriptions and with the same words in their names get a finding each', async () => {
    expect((await lintSimilarTools([tool('getUserById', ''), tool('get_user_by_id', '')])).size).toBe(2)
  })

  it('find similar tools just as a comparison of all pairs does', async () => {
    const words = fc.array(fc.constantFrom('alpha', 'beta', 'gamma', 'delta', 'eta'), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(fc.array(words, { maxLength: 8 }), async lists => {
        const tools = lists.map((list, index) => tool(`t${index}`, list.join(' ')))
        const sets = lists.map((list, index) => new Set([`t${index}`, ...list]))
        const isAlike = (a: number, b: number): boolean => {
          const [one, other] = [[...(sets[a] ?? [])], sets[b] ?? new Set()]
          const shared = one.filter(word => other.has(word)).length
          const same = lists[a]?.join(' ') === lists[b]?.join(' ')
          return same || shared >= 0.8 * (one.length + other.size - shared)
        }
        const expected = tools.map((_, index) => index).filter(a => tools.some((_, b) => a !== b && isAlike(a, b)))
        // The first of several similar tools represents the others.
        const found = await lintSimilarTools(tools)
        expect(expected).toEqual(expect.arrayContaining([...found.keys()]))
        expect(found.size === 0).toBe(expected.length === 0)
      }),
    )
  })

  it('that are too many for a client get a finding that names the client', () => {
    expect(lintCatalogue({ tools: 80, tokens: 10_000 })).toEqual([])
    expect(lintCatalogue({ tools: 81, tokens: 10_000 })).toMatchObject([{ level: 'warning', clients: ['Cursor'] }])
    expect(lintCatalogue({ tools: 129, tokens: 10_001 })).toMatchObject([
      { rule: 'too-many-tools', level: 'error', clients: ['OpenAI', 'VS Code'] },
      { rule: 'costly-catalogue' },
    ])
  })
})
