import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callText, connect } from '../servers/mcp.ts'
import { makeServer } from '../support/api-client.ts'
import { branching, steps } from '../support/hostile-schema.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

const IDS = {
  type: 'array',
  items: { $ref: '#/$defs/id' },
  minItems: 1,
  $defs: { id: { type: 'integer', minimum: 1 } },
}
const Tool = z.looseObject({ parameters: z.record(z.string(), z.looseObject({})) })

describe('a parameter with a JSON Schema', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi()
  const ada = runUser(patchbay)

  const tool = (parameters: object, rest: object = {}) => ({
    name: 'pick',
    method: 'POST',
    url: `${fake.origin}/pick?n={{integer:n?}}`,
    body: '{"ids": {{json:ids}}}',
    parameters,
    ...rest,
  })
  const make = (parameters: object, rest: object = {}) => makeServer(ada, [tool(parameters, rest)])
  const save = async (parameters: object, rest: object = {}) => {
    const { id } = await ada.create('/toolkits', { title: 'Toolkit' })
    return ada.send('POST', `/toolkits/${id}/tools`, tool(parameters, rest))
  }
  const refusal = (path: string, message: string) => ({
    status: 400,
    body: { errors: [{ path, message: expect.stringContaining(message) }] },
  })

  it('is listed with the schema, and called only with arguments that match it', async () => {
    const { url, toolIds } = await make({
      ids: { description: 'Which', schema: IDS },
      n: { schema: { multipleOf: 5 } },
    })
    const client = await connect(url)
    const { tools } = await client.listTools()
    expect(tools[0]?.inputSchema).toEqual({
      type: 'object',
      properties: {
        n: { type: 'integer', multipleOf: 5 },
        ids: { ...IDS, description: 'Which', items: { $ref: '#/properties/ids/$defs/id' } },
      },
      required: ['ids'],
      additionalProperties: false,
    })
    const sent = fake.seen.length
    const refused = async (args: Record<string, unknown>, text: string) =>
      expect(await callText(client, 'pick', args)).toEqual({ text, isError: true })
    await refused({ ids: '1,2' }, 'Wrong arguments: /ids must be array.')
    await refused({ ids: [1, 0] }, 'Wrong arguments: /ids/1 must be >= 1.')
    await refused({ ids: [1], n: '7' }, 'Wrong arguments: /n must be multiple of 5.')
    await refused({ n: 5 }, '"ids" is missing: it must be JSON.')
    await refused({ ids: [1], n: 'five' }, '"n" must be an integer, and is a string that is not one.')
    expect(fake.seen).toHaveLength(sent)
    // Cast to the parameter's type before the check, like every argument.
    expect(await callText(client, 'pick', { ids: [1, 2], n: '10' })).toMatchObject({ isError: false })
    expect(fake.seen.at(-1)).toMatchObject({ url: '/pick?n=10', body: '{"ids": [1,2]}' })
    // Models send null for arguments that they omit.
    expect(await callText(client, 'pick', { ids: [3], n: null })).toMatchObject({ isError: false })
    const { body } = await ada.expectOk('GET', `/tools/${toolIds.pick}`)
    expect(Tool.parse(body).parameters.ids).toMatchObject({ schema: IDS })
  })

  it('is checked before any pattern is matched, because all patterns of a call have one time limit', async () => {
    const { url } = await make(
      { code: { pattern: '^a', schema: { maxLength: 3 } } },
      { url: `${fake.origin}/{{code}}` },
    )
    const client = await connect(url)
    const call = (code: string) => callText(client, 'pick', { code, ids: [] })
    expect((await call('bbbb')).text).toBe('Wrong arguments: /code must NOT have more than 3 characters.')
    expect((await call('bbb')).text).toContain('"code" must be a string that matches ^a')
    expect(await call('abb')).toMatchObject({ isError: false })
  })

  it('does not apply to a value from the server: only arguments are checked', async () => {
    const { url, serverId, instanceIds } = await make({ ids: { schema: IDS } })
    await ada.expectOk('PUT', `/servers/${serverId}/globals/ids`, { value: '["none"]' })
    await ada.expectOk('PATCH', `/instances/${instanceIds.pick}`, { bindings: { ids: { source: 'server' } } })
    expect(await callText(await connect(url), 'pick')).toMatchObject({ isError: false })
    expect(fake.seen.at(-1)).toMatchObject({ body: '{"ids": ["none"]}' })
  })

  it('keeps its schema when the tool is sent back as received, and loses it when it is left out', async () => {
    const { toolIds } = await make({ ids: { schema: IDS } })
    const path = `/tools/${toolIds.pick}`
    const { body } = await ada.expectOk('GET', path)
    const { body: same } = await ada.expectOk('PATCH', path, body)
    expect(Tool.parse(same).parameters.ids).toMatchObject({ schema: IDS })
    const { body: other } = await ada.expectOk('PATCH', path, { parameters: { ids: { description: 'Which' } } })
    expect(Tool.parse(other).parameters.ids).not.toHaveProperty('schema')
  })

  it('is linted as part of the input schema', async () => {
    const { toolIds } = await make({ ids: { description: 'Which', schema: { type: 'array' } } })
    const { body } = await ada.expectOk('GET', `/tools/${toolIds.pick}/lint`)
    expect(body).toMatchObject({
      findings: expect.arrayContaining([
        expect.objectContaining({ rule: 'array-without-items', parameter: 'ids', at: '/properties/ids' }),
      ]),
    })
  })

  it('is refused if the schema contradicts its type', async () => {
    expect(await save({ n: { schema: { type: 'string' } } })).toMatchObject(
      refusal('parameters.n.schema', 'integer in the template, but string in the schema'),
    )
  })

  it.each<[string, object, string, string]>([
    ['is no schema', { ids: { schema: { type: 'thing' } } }, 'parameters.ids.schema', 'must be one of array'],
    [
      'is one of several, and no schema',
      { n: { schema: { minimum: 1 } }, ids: { schema: { items: { pattern: '(?=a)' } } } },
      'parameters.ids.schema',
      'has a pattern at /properties/ids/items that cannot be used',
    ],
    ['refers to nothing', { ids: { schema: { $ref: '#/$defs/no' } } }, 'parameters.ids.schema', 'is not in the schema'],
    [
      'has another dialect',
      { ids: { schema: { $schema: 'http://json-schema.org/draft-07/schema#' } } },
      'parameters.ids.schema',
      'of another dialect',
    ],
    [
      'does not match the default',
      { n: { default: 3, schema: { multipleOf: 5 } } },
      'parameters.n.default',
      'multiple of 5',
    ],
    [
      'does not match the example',
      { ids: { example: ['a'], schema: IDS } },
      'parameters.ids.example',
      '/0 must be integer',
    ],
    ['is too large', { ids: { schema: { description: 'x'.repeat(65_536) } } }, 'parameters', 'longer than 65536 bytes'],
    ['has too many subschemas', { ids: { schema: branching(24) } }, 'parameters.ids.schema', '10,000,000'],
  ])('is refused if the schema %s', async (_why, parameters, path, message) => {
    expect(await save(parameters)).toMatchObject(refusal(path, message))
  })

  it('is refused beside an input schema of the whole tool, which would replace it', async () => {
    const inputSchema = { type: 'object', properties: { ids: {} } }
    expect(await save({ ids: { schema: IDS } }, { inputSchema })).toMatchObject(
      refusal('inputSchema', 'replaces the schemas of all parameters, and "ids" has one'),
    )
    const { toolIds } = await make({ ids: { schema: IDS } })
    expect(await ada.send('PATCH', `/tools/${toolIds.pick}`, { inputSchema })).toMatchObject({ status: 400 })
  })

  it('with a slow schema is checked off the main thread, and an unfinished check is not a wrong argument', async () => {
    // Each item matches, after 2^15 attempts.
    const schema = { type: 'array', items: { anyOf: [{ $ref: '#/$defs/a0' }, true] }, $defs: steps(15) }
    const { url } = await make({ ids: { schema } })
    const { text, isError } = await callText(await connect(url), 'pick', {
      ids: Array.from({ length: 10_000 }, () => 1),
    })
    expect({ text, isError }).toEqual({
      text: expect.stringMatching(
        /^The arguments could not be checked: the check against the schema of its parameters/,
      ),
      isError: true,
    })
  })
})
