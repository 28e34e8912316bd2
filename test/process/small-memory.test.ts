import { expect, it, onTestFinished, vi } from 'vitest'
import { makeServer, signUp } from '../support/api-client.ts'
import { startFakeApi } from '../support/fake-api.ts'
import { createMemoryGroup } from '../support/memory-group.ts'
import { startPatchbay } from '../support/process.ts'
import { callTool } from './calls.ts'

vi.setConfig({ testTimeout: 180_000 })

const MEMORY_MB = 256
const CALLS = 16
const records = Array.from({ length: 70_000 }, (_, id) => ({
  id,
  name: `Item number ${id}`,
  tags: ['a', 'b'],
  note: 'Some words that make a record as long as most of them are, with a little more.',
}))
const large = Buffer.from(JSON.stringify({ items: records }))
const medium = Buffer.from(JSON.stringify({ items: records.slice(0, 5_000) }))
const bodies: Partial<Record<string, Buffer>> = { '/large': large, '/medium': medium }
const group = createMemoryGroup(MEMORY_MB)

/** As the launcher starts Patchbay with little memory. */
const LAUNCHED = { NODE_OPTIONS: '--max-semi-space-size=2', MALLOC_TRIM_THRESHOLD_: '1000000' }

it.skipIf(group === undefined)(
  'with 256 MB, many large results end as results or errors, and Patchbay goes on (skipped if no cgroup can be made)',
  async () => {
    const api = await startFakeApi(({ url }, response) => {
      const body = bodies[url] ?? Buffer.from('{"small":true}')
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
    })
    onTestFinished(api.close)
    const patchbay = await startPatchbay({ group, env: LAUNCHED })
    const builder = await signUp(patchbay.origin)
    const tools = ['large', 'medium', 'small'].map(name => ({ name, method: 'GET', url: `${api.origin}/${name}` }))
    const { url } = await makeServer(builder, tools, { server: { maxResponseTokens: 1_000 } })

    const found = await callTool(url, 'proxy_search', { tool: 'medium', arguments: {}, pattern: 'number 4999' })
    expect(found.text).toContain('Item number 4999')

    const results = await Promise.all(Array.from({ length: CALLS }, () => callTool(url, 'large')))
    expect(results.map(({ status }) => status)).toEqual(results.map(() => 200))
    const refused = results.filter(({ text }) => text.includes('"isError":true'))
    for (const { text } of refused) expect(text).toMatch(/waited 2 s for memory/)
    expect(refused.length).toBeLessThan(CALLS)
    const result = await callTool(url, 'large')
    expect(result.text).toMatch(/is too large to be searched, filtered or counted .*raise PATCHBAY_MEMORY_MB/)
    const cacheId = /cache_id \\"([\w-]+)\\"/.exec(result.text)?.[1] ?? ''
    const search = await callTool(url, 'proxy_search', { cache_id: cacheId, pattern: 'number' })
    expect(search.text).toMatch(/is too large to be searched, filtered or counted .*raise PATCHBAY_MEMORY_MB/)

    expect((await callTool(url, 'small')).text).toContain('small')
    expect((await fetch(`${patchbay.origin}/readyz`)).status).toBe(200)
    expect(await patchbay.stop()).toMatchObject({ code: 0 })
  },
)
