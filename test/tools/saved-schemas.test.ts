import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { connect } from '../servers/mcp.ts'
import { makeServer, signUp } from '../support/api-client.ts'
import { branching, steps, TREE } from '../support/hostile-schema.ts'
import { openSchemaChecks } from '../support/jobs.ts'
import { runFakeApi, runPatchbay } from '../support/world.ts'

let checks: ReturnType<typeof openSchemaChecks>
beforeAll(() => {
  checks = openSchemaChecks()
})
afterAll(() => checks.close())

describe('a schema that is to be saved', () => {
  const large = (schema: JsonObject): JsonObject => ({
    $defs: { large: { anyOf: Array.from({ length: 600 }, (_, value) => ({ const: value })) } },
    allOf: [{ $ref: '#/$defs/large' }],
    properties: { a: schema },
  })
  const tenant = { owner: 'one', group: 'one' }

  it.each<[string, JsonObject, string]>([
    [
      'an unknown type',
      { type: 'thing' },
      'is not a valid JSON Schema 2020-12: PLACE/type must be one of array, boolean, integer, null, number, object, string',
    ],
    [
      'a reference without a target',
      { $ref: '#/$defs/none' },
      'refers to "#/$defs/none" at PLACE, which is not in the schema. Define it there, or remove the reference',
    ],
    [
      'a reference to another document',
      { $ref: 'https://a.example/b' },
      'refers to "https://a.example/b" at PLACE, which is not in the schema. Define it there, or remove the reference',
    ],
    [
      'a pattern that looks ahead',
      { pattern: '(?=a)' },
      'has a pattern at PLACE that cannot be used: error parsing regexp: invalid or unsupported Perl syntax: `(?=`. Rewrite it, without look-around and back-references',
    ],
    [
      'names by a pattern that looks back',
      { patternProperties: { '(?<=a)b': {} } },
      'has a pattern at PLACE that cannot be used: error parsing regexp: invalid named capture: `(?<=a)b`. Rewrite it, without look-around and back-references',
    ],
    [
      'an anchor that is defined twice',
      { allOf: [{ $anchor: 'x' }, { $anchor: 'x' }] },
      'cannot be compiled: reference "#x" resolves to more than one schema. Correct or remove this part',
    ],
  ])('with %s is refused with the place and the remedy, whatever its size', async (_what, wrong, words) => {
    const message = words.replace('PLACE', '/properties/a')
    expect(await checks.findProblem({ properties: { a: wrong } }, tenant)).toEqual({ kind: 'invalid', message })
    checks.sandboxed.length = 0
    expect(await checks.findProblem(large(wrong), tenant)).toEqual({ kind: 'invalid', message })
    expect(checks.sandboxed).toEqual(['save'])
  })

  it('is accepted on the main thread if it is small, and otherwise compiled in the sandbox', async () => {
    checks.sandboxed.length = 0
    expect(await checks.findProblem({ type: 'object', $defs: {} }, tenant)).toBeUndefined()
    expect(checks.sandboxed).toEqual([])
    for (const schema of [
      large({}),
      TREE,
      { $async: true, type: 'object' },
      branching(15),
      { pattern: '^[a-z]{1,1000}$' },
    ]) {
      expect(await checks.findProblem(schema, tenant)).toBeUndefined()
    }
    expect(checks.sandboxed).toEqual(Array.from({ length: 5 }, () => 'save'))
  })

  it('is measured exactly: patterns count one per instruction', async () => {
    // 26 uses of a pattern with 2,003 instructions. The estimate for the main thread is a hundred times that.
    const name = { pattern: '(?i)^[\\p{L}]{1,1000}$' }
    const properties = Object.fromEntries(Array.from({ length: 26 }, (_, n) => [`p${n}`, { $ref: '#/$defs/name' }]))
    expect(await checks.findProblem({ properties, $defs: { name } }, tenant)).toBeUndefined()
  })

  it('that takes too long to compile is refused, and one that could not be checked is not called invalid', async () => {
    const hasty = openSchemaChecks({ timeLimitMs: 1 })
    expect(await hasty.findProblem(large({}), tenant)).toEqual({
      kind: 'invalid',
      message: 'takes longer than 1 ms to compile. Simplify it',
    })
    await hasty.close()
    expect(await hasty.findProblem(large({}), tenant)).toEqual({
      kind: 'busy',
      message: 'could not start: Patchbay is shutting down. Try again later',
    })
  })
})

const patchbay = runPatchbay()
const fake = runFakeApi()
const Definition = z.record(z.string(), z.unknown())
const LIST = { list: [{}] }

it('a schema of over ten million subschemas cannot be saved, but tools that have one keep working', async () => {
  const builder = await signUp(patchbay.origin)
  const tool = { name: 'tool', method: 'POST', url: `${fake.origin}/`, body: '{{json:list}}' }
  const { toolkitId, serverId, url } = await makeServer(builder, [])
  const vast = branching(24)
  const refusal = {
    status: 400,
    body: { errors: [{ path: 'inputSchema', message: expect.stringContaining('10,000,000') }] },
  }
  expect(await builder.send('POST', `/toolkits/${toolkitId}/tools`, { ...tool, inputSchema: vast })).toMatchObject(
    refusal,
  )
  // Stored as by a version without this limit. The first branch accepts every value.
  const accepting: JsonObject = { ...vast, $defs: { ...steps(24), a24: true } }
  const { id } = await builder.create(`/toolkits/${toolkitId}/tools`, { ...tool, inputSchema: { type: 'object' } })
  const row = await patchbay.db.tool.findUniqueOrThrow({ where: { id } })
  const definition = { ...Definition.parse(row.definition), inputSchema: accepting }
  await patchbay.db.tool.update({ where: { id }, data: { definition: JSON.parse(JSON.stringify(definition)) } })
  const { id: instanceId } = await builder.create(`/servers/${serverId}/instances`, { toolId: id, name: 'tool' })

  const client = await connect(url)
  expect(JSON.stringify(await client.callTool({ name: 'tool', arguments: LIST }))).not.toContain('isError":true')
  const called = await builder.expectOk('POST', `/instances/${instanceId}/call`, { arguments: LIST })
  expect(JSON.stringify(called.body)).not.toContain('isError":true')
  await builder.expectOk('PATCH', `/tools/${id}`, { name: 'renamed', inputSchema: accepting })
  expect(await builder.send('PATCH', `/tools/${id}`, { inputSchema: vast })).toMatchObject(refusal)
})
