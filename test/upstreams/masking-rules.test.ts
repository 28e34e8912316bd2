import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callTexts, connect } from '../servers/mcp.ts'
import { runPatchbay, runUser } from '../support/world.ts'
import { type Asked, runScriptedUpstreams } from './scripted-upstream.ts'

const SAID = 'Ask ada@example.com'
const MASKED = 'Ask •••'
const PERSON = { name: 'Ada', card: 4111111111111111 }
const SCHEMA = {
  type: 'object',
  properties: { name: { type: 'string' }, card: { type: 'integer' } },
  required: ['name', 'card'],
}
const text = (said: string) => ({ type: 'text', text: said })

const RESULTS: Readonly<Record<string, object>> = {
  'tools/call': { content: [text(SAID), text(JSON.stringify(PERSON))], structuredContent: PERSON },
  'resources/read': { contents: [{ uri: 'x://one', text: SAID }] },
  'prompts/list': { prompts: [{ name: 'greet' }] },
  'prompts/get': { messages: [{ role: 'user', content: text(SAID) }] },
}
const TOOLS = [
  { name: 'plain', inputSchema: { type: 'object' } },
  { name: 'declared', inputSchema: { type: 'object' }, outputSchema: SCHEMA },
]
const Meta = z.object({ progressToken: z.union([z.string(), z.number()]).optional() })
const noticesOf = ({ method, params }: Asked): string[] => {
  if (method !== 'tools/call') return []
  const { progressToken: token } = Meta.parse(params?._meta ?? {})
  const told = { progressToken: token, progress: 1, total: 2, message: SAID }
  return token === undefined ? [] : [JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: told })]
}

describe('masking rules of a server with MCP servers', () => {
  const patchbay = runPatchbay()
  const upstreams = runScriptedUpstreams({
    told: {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      tools: () => TOOLS,
      resources: [{ uri: 'x://one', name: 'one' }],
      result: ({ method }) => JSON.stringify(RESULTS[method] ?? {}),
      notices: noticesOf,
      instructions: SAID,
    },
    refusing: { refusal: SAID },
  })
  const ada = runUser(patchbay)

  const attach = async (name: string, more: object = {}) => {
    const masking = [{ kind: 'email' }, { kind: 'card' }]
    const wish = { name: 'Masked', access: 'public', maxResponseTokens: 0, masking, ...more }
    const { id: serverId } = await ada.create('/servers', wish)
    const { id } = await ada.create(`/servers/${serverId}/upstreams`, {
      name: 'up',
      transport: 'http',
      url: upstreams.urlOf(name),
    })
    await ada.expectOk('POST', `/upstreams/${id}/refresh`)
    return { serverId, client: await connect(`${patchbay.origin}/s/${serverId}`) }
  }

  it('mask results, and leave out what the output schema would refuse', async () => {
    const { client } = await attach('told')
    await client.listTools()
    const texts = [MASKED, '{"name":"Ada","card":"•••"}']
    expect(await callTexts(client, 'up_plain')).toMatchObject({ texts, structured: { name: 'Ada', card: '•••' } })
    const declared = await callTexts(client, 'up_declared')
    expect(declared).toMatchObject({ texts, structured: { name: 'Ada' } })
    expect(declared.structured).not.toHaveProperty('card')
  })

  it('mask resources, prompts, instructions and progress', async () => {
    const { client } = await attach('told')
    expect(client.getInstructions()).toContain(MASKED)
    const [resource] = (await client.listResources()).resources
    expect(await client.readResource({ uri: resource?.uri ?? '' })).toMatchObject({ contents: [{ text: MASKED }] })
    const [prompt] = (await client.listPrompts()).prompts
    expect(await client.getPrompt({ name: prompt?.name ?? '' })).toMatchObject({
      messages: [{ content: text(MASKED) }],
    })
    const told: unknown[] = []
    await callTexts(client, 'up_plain', {}, { onprogress: ({ message }) => told.push(message) })
    expect(told).toEqual([MASKED])
  })

  it('mask errors, for the client and in the history', async () => {
    const { client, serverId } = await attach('refusing')
    const { text: said } = await callTexts(client, 'up_work').catch(error => ({ text: String(error) }))
    expect(said).toContain(MASKED)
    expect(said).not.toContain('ada@')
    const { body } = await ada.expectOk('GET', `/servers/${serverId}/executions`)
    expect(JSON.stringify(body)).toContain(MASKED)
    expect(JSON.stringify(body)).not.toContain('ada@')
  })

  it('change no result of a server without rules', async () => {
    const { client } = await attach('told', { masking: [] })
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === 'up_declared')?.outputSchema).toEqual(SCHEMA)
    expect(await callTexts(client, 'up_declared')).toMatchObject({
      structured: PERSON,
      texts: [SAID, JSON.stringify(PERSON)],
    })
  })
})
