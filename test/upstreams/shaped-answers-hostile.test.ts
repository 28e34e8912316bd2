import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callText, connect } from '../servers/mcp.ts'
import { steps } from '../support/hostile-schema.ts'
import { runPatchbay, runUser } from '../support/world.ts'
import { type Asked, runScriptedUpstreams } from './scripted-upstream.ts'

const ROWS = Array.from({ length: 40_000 }, (_, id) => ({ id, note: 'x'.repeat(100), link: `/rows/${id}` }))
const text = (said: string) => ({ type: 'text', text: said })
const nested = (depth: number): string => `${'['.repeat(depth)}1${']'.repeat(depth)}`

/** The result of each tool, as JSON. */
const RESULTS: Readonly<Record<string, () => string>> = {
  large: () => JSON.stringify({ content: [text(JSON.stringify(ROWS))] }),
  many: () => JSON.stringify({ content: Array.from({ length: 3_000 }, (_, id) => text(`{"id":${id},"link":1}`)) }),
  deep: () => JSON.stringify({ content: [text(nested(100_000))] }),
  numbers: () => '{"content":[{"type":"text","text":"{\\"id\\":12345678901234567890,\\"link\\":1e400}"}]}',
  twice: () => JSON.stringify({ content: [text('{"a":1,"a":2,"link":3}')] }),
  odd: () =>
    '{"content":[null,7,"text",{"type":"text"},{"type":"text","text":5},{"type":"text","text":"{\\"link\\":1}"}]}',
  nothing: () => '{"content":[]}',
  lone: () => '{"content":[{"type":"text","text":"{\\"link\\":1,\\"a\\":\\"\\\\ud800\\"}"}]}',
  scalar: () => '{"content":[{"type":"text","text":"none"}],"structuredContent":"not an object"}',
  looks_back: () => '{"content":[],"structuredContent":{"a":"b","link":1}}',
  branches: () => '{"content":[],"structuredContent":{"a":"b","link":1}}',
}
const resultOf = ({ params }: Asked): string => RESULTS[z.string().parse(params?.name)]?.() ?? '{"content":[]}'
const NAMES = [...Object.keys(RESULTS)]
const LOOKS_BACK = { type: 'object', properties: { a: { type: 'string', pattern: '^(?<=x)b$' } } }
const BRANCHES = { type: 'object', properties: { a: { $ref: '#/$defs/a0' } }, $defs: steps(30) }
const SCHEMAS: Readonly<Record<string, object>> = { looks_back: LOOKS_BACK, branches: BRANCHES }
const toolOf = (name: string) => ({
  name,
  inputSchema: { type: 'object' },
  ...(name in SCHEMAS ? { outputSchema: SCHEMAS[name] } : {}),
})
const DROP = { response: { dropFields: ['**.link'] } }

describe('unusual results of upstreams', () => {
  const patchbay = runPatchbay()
  const upstreams = runScriptedUpstreams({ odd: { tools: () => NAMES.map(toolOf), result: resultOf } })
  const operator = runUser(patchbay)
  const attach = async (toolAnswers: object) => {
    const { id: serverId } = await operator.create('/servers', { name: 'Odd', access: 'public', maxResponseTokens: 0 })
    const wish = { name: 'up', transport: 'http', url: upstreams.urlOf('odd'), toolAnswers }
    const { id } = await operator.create(`/servers/${serverId}/upstreams`, wish)
    await operator.expectOk('POST', `/upstreams/${id}/refresh`)
    return { id, serverId, url: `${patchbay.origin}/s/${serverId}` }
  }
  const shape = async (tool: string, answers: object = DROP) =>
    callText(await connect((await attach({ [tool]: answers })).url), `up_${tool}`)

  it('of 5 MB of JSON or thousands of texts are shaped', async () => {
    const large = await shape('large')
    expect(JSON.parse(large.text)).toEqual(ROWS.map(({ link: _link, ...row }) => row))
    const client = await connect((await attach({ many: DROP })).url)
    const { content } = await client.callTool({ name: 'up_many', arguments: {} })
    expect(content.map(block => block.type === 'text' && block.text)).toEqual(
      Array.from({ length: 3_000 }, (_, id) => `{"id":${id}}`),
    )
  })

  it.each([
    ['numbers that no double holds', 'numbers', '{"id":12345678901234567890}'],
    ['a member that is there twice', 'twice', '{"a":2}'],
    ['half of a character', 'lone', '{"a":"\\ud800"}'],
    ['nothing', 'nothing', ''],
  ])('%s', async (_what, tool, said) => {
    expect(await shape(tool)).toEqual({ text: said, isError: false })
  })

  it('that are nested too deeply, or have invalid blocks, fail only their own call', async () => {
    const { text: said } = await shape('deep')
    expect(said.slice(0, 200)).toMatch(/cannot be shaped|^\[\[\[/)
    const client = await connect((await attach({ odd: DROP, scalar: DROP, twice: DROP })).url)
    for (const name of ['up_odd', 'up_scalar']) await client.callTool({ name, arguments: {} }).catch(() => undefined)
    expect((await callText(client, 'up_twice')).text).toBe('{"a":2}')
  })

  it('that were shaped have no structured content if the schema cannot be compiled; others pass', async () => {
    const reason = 'outputSchema has a pattern at /properties/a that cannot be used'
    const { url, serverId } = await attach({ looks_back: DROP })
    const shaped = await (await connect(url)).callTool({ name: 'up_looks_back', arguments: {} })
    expect(shaped).toMatchObject({ content: [{ text: '{"a":"b"}' }], structuredContent: {} })
    const { body } = await operator.expectOk('GET', `/servers/${serverId}/executions`)
    expect(body).toMatchObject({ items: [{ schemaMismatch: expect.stringContaining(reason) }] })
    const whole = await connect((await attach({ looks_back: { response: { dropFields: ['nowhere'] } } })).url)
    const passed = await whole.callTool({ name: 'up_looks_back', arguments: {} })
    expect(passed.structuredContent).toEqual({ a: 'b', link: 1 })
  })

  it('whose schema takes too long to check have no structured content, and hold up no other call', async () => {
    const { url } = await attach({ branches: DROP, twice: DROP })
    const [hostile, quick] = [await connect(url), await connect(url)]
    const ended: string[] = []
    const slow = Array.from({ length: 8 }, () => callText(hostile, 'up_branches').finally(() => ended.push('hostile')))
    await callText(quick, 'up_twice').finally(() => ended.push('quick'))
    const [unchecked] = await Promise.all(slow)
    expect(ended.at(-1)).toBe('hostile')
    expect(unchecked).toEqual({ isError: false, text: '{"a":"b"}' })
  })

  it('with a transform that takes seconds to parse are refused without blocking others', async () => {
    const { id } = await attach({})
    const expression = `${'%.(a).%.'.repeat(1_240)}a`
    const slow = { response: { transform: { language: 'jsonata', expression } } }
    const toolAnswers = Object.fromEntries(Array.from({ length: 24 }, (_, index) => [`slow${index}`, slow]))
    const { status, body } = await operator.send('PATCH', `/upstreams/${id}`, { toolAnswers })
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toMatch(
      /toolAnswers\.slow\d+","message":"takes too long to parse together with the others"/,
    )
  })

  it("of a tool named like an object's built-in member are not shaped", async () => {
    const { id } = await attach({})
    const toolAnswers: unknown = JSON.parse('{"__proto__": {"readOnly": true}}')
    expect((await operator.send('PATCH', `/upstreams/${id}`, { toolAnswers })).status).toBe(400)
  })
})
