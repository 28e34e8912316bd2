import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { makeServer } from '../support/api-client.ts'
import { runPatchbay, runUser } from '../support/world.ts'
import { CLIENT_KINDS, connectClient, textOf } from './clients.ts'
import { commandOf } from './support.ts'

const Offer = z.object({
  tools: z.array(z.string()),
  flags: z.array(z.object({ kind: z.string(), item: z.string(), message: z.string() })),
})

const patchbay = runPatchbay({ env: { PATCHBAY_ALLOW_STDIO: 'true' } })
let serverId = ''
let url = ''
let flags: string[] = []
const operator = runUser(patchbay, 'operator@example.com')
beforeAll(async () => {
  // The server's own tool, which has the same name as one of the upstream's tools.
  const own = [{ name: 'odd_sound', method: 'GET', url: 'http://127.0.0.1:1/' }]
  ;({ serverId, url } = await makeServer(operator, own))
  const odd = await operator.create(`/servers/${serverId}/upstreams`, {
    name: 'odd',
    ...commandOf('odd-lists', 'misfits'),
  })
  const good = await operator.create(`/servers/${serverId}/upstreams`, { name: 'good', ...commandOf('sdk-old') })
  await operator.expectOk('POST', `/upstreams/${good.id}/refresh`)
  const { body } = await operator.expectOk('POST', `/upstreams/${odd.id}/refresh`)
  flags = Offer.parse(body).flags.map(({ kind, item, message }) => `${kind} ${item}: ${message}`)
})

describe.each(CLIENT_KINDS)('an upstream with invalid lists, to client %s', kind => {
  it('does not affect others, and its valid items are listed', async () => {
    const client = await connectClient(kind, url)
    const { tools } = z
      .object({ tools: z.array(z.object({ name: z.string() })) })
      .parse(await client.request('tools/list'))
    expect(tools.map(({ name }) => name)).toEqual([
      'good_echo',
      'good_grow',
      'odd_kind',
      'odd_lost',
      'odd_pattern',
      'odd_recursive',
      'odd_sound',
      'odd_wide',
    ])
    expect(await client.request('resources/list')).toMatchObject({ resources: [{ uri: 'odd://sound' }] })
    expect(await client.request('resources/templates/list')).toMatchObject({ resourceTemplates: [] })
    expect(await client.request('prompts/list')).toMatchObject({ prompts: [{ name: 'odd_sound' }] })
    expect(textOf(await client.callTool('odd_pattern'))).toBe('pattern')
    expect(textOf(await client.callTool('good_echo'))).toBe('from the older line')
  })
})

describe('an upstream with invalid lists', () => {
  it('is flagged for each, with the reason', () => {
    const misfit = (what: string): string => `its ${what} does not conform to MCP; left out`
    expect(flags).toEqual([
      'upstream tools: An item that is not an object was left out.',
      `tool required: ${misfit('inputSchema.required')}`,
      `tool hints: ${misfit('annotations.readOnlyHint')}`,
      `tool icons: ${misfit('icons')}`,
      `tool meta: ${misfit('_meta')}`,
      'tool kind: its outputSchema cannot be compiled: type must be JSONType or JSONType[]: banana; left out',
      "tool lost: its outputSchema cannot be compiled: can't resolve reference #/$defs/missing from id #; left out",
      'tool pattern: its outputSchema cannot be compiled: Invalid regular expression: /(/u: Unterminated group; left out',
      'tool wide: its outputSchema is too large, alone or with the others; left out',
      `resource odd://nameless: ${misfit('name')}`,
      `resource odd://size: ${misfit('size')}`,
      `template odd://{nameless}: ${misfit('name')}`,
      `prompt arguments: ${misfit('arguments')}`,
    ])
  })

  it('has its lists omitted, and flagged, if those of the others leave no room', async () => {
    const { id } = await operator.create('/servers', { name: 'Full', access: 'public' })
    const counts: number[] = []
    const said: string[] = []
    for (const name of ['one', 'two', 'three', 'four', 'five']) {
      const upstream = await operator.create(`/servers/${id}/upstreams`, { name, ...commandOf('odd-lists', 'large') })
      const { body } = await operator.expectOk('POST', `/upstreams/${upstream.id}/refresh`)
      const offer = Offer.parse(body)
      counts.push(offer.tools.length)
      said.push(...offer.flags.map(({ message }) => message))
    }
    expect(counts).toEqual([36, 36, 36, 36, 0])
    expect(said).toEqual([
      'The lists of all attached MCP servers are larger than 32 MiB in total, so the lists of this one are left out. Remove another MCP server or turn features off.',
    ])
  })

  it("does not take the name of one of the server's own tools", async () => {
    const client = await connectClient('sdk 1', url)
    expect(textOf(await client.callTool('odd_sound'))).toContain('127.0.0.1:1')
  })
})
