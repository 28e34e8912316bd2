import { describe, expect, it, vi } from 'vitest'
import { createPageBrowser, inputsOf } from '../support/page-browser.ts'
import { runAttached } from './attached.ts'
import { runScriptedUpstreams } from './scripted-upstream.ts'

const tools = () => [{ name: 'dig', inputSchema: { type: 'object' } }]

describe('changed settings of an MCP server', () => {
  const { patchbay, operator, makeServer, connect } = runAttached()
  const { urlOf, timesAsked } = runScriptedUpstreams({ moved: { tools } })
  const remote = (path: string) => ({ transport: 'http', url: urlOf(path) })

  it('connect again at once, without a call, and leave the sessions of clients alone', async () => {
    const { serverId, ids } = await makeServer({ far: remote('far') })
    const client = await connect('sdk 1', serverId)
    await client.callTool('far_work')
    expect(timesAsked('far', 'initialize')).toBe(1)
    await operator.expectOk('PATCH', `/upstreams/${ids.far}`, { timeoutMs: 2_000 })
    await vi.waitFor(() => expect(timesAsked('far', 'initialize')).toBe(2))
    await operator.expectOk('PATCH', `/upstreams/${ids.far}`, { headers: { 'X-Team': 'blue' } })
    await vi.waitFor(() => expect(timesAsked('far', 'initialize')).toBe(3))
    await operator.expectOk('PATCH', `/upstreams/${ids.far}`, { url: urlOf('moved') })
    await vi.waitFor(() => expect(timesAsked('moved', 'tools/list')).toBe(1))
    // The client's session goes on.
    expect(await client.callTool('far_dig')).toMatchObject({ content: [{ text: 'done' }] })
    expect(timesAsked('moved', 'initialize')).toBe(1)
  })

  it('connect nothing that was not in use, or is disabled', async () => {
    const { serverId, ids } = await makeServer({ quiet: remote('quiet') })
    await operator.create(`/servers/${serverId}/upstreams`, { name: 'spare', ...remote('spare') })
    await operator.expectOk('PATCH', `/upstreams/${ids.quiet}`, { enabled: false })
    await operator.expectOk('PATCH', `/upstreams/${ids.quiet}`, { headers: { 'X-Team': 'blue' } })
    // Its change is handled after those before it.
    const { ids: others } = await makeServer({ later: remote('later') })
    await operator.expectOk('PATCH', `/upstreams/${others.later}`, { headers: { 'X-Team': 'blue' } })
    await vi.waitFor(() => expect(timesAsked('later', 'initialize')).toBe(2))
    expect(timesAsked('quiet', 'initialize')).toBe(1)
    expect(timesAsked('spare', 'initialize')).toBe(0)
  })

  it('are tried when they are saved on the page, which shows the result', async () => {
    const { serverId, ids } = await makeServer({ near: remote('near') })
    const person = createPageBrowser(patchbay.origin)
    await person.submit('/sign-in', { email: operator.email, password: 'correct horse battery staple' })
    const path = `/servers/${serverId}/sources/upstreams/${ids.near}`
    const save = async (url: string, more: Record<string, string> = {}) => {
      const { html } = await person.get(path)
      const version = /id="upstream-form"[\s\S]*?name="version" value="([^"]+)"/.exec(html)?.[1] ?? ''
      const { location } = await person.submit(path, {
        name: 'near',
        transport: 'http',
        url,
        tools: 'on',
        enabled: 'on',
        timeoutMs: inputsOf(html).get('timeoutMs') ?? '',
        version,
        ...more,
      })
      return { location, html: (await person.get(location ?? '')).html }
    }
    const moved = await save(urlOf('moved'))
    expect(moved.location).toContain('done=reconnected')
    expect(moved.html).toContain('Saved, and connected with the new settings')
    expect(moved.html).toContain('near_dig')
    expect((await save(urlOf('moved'), { prefix: 'pit' })).location).toContain('done=saved')
    const gone = await save('http://127.0.0.1:1/mcp')
    expect(gone.location).toContain('done=saved')
    expect(gone.html).toContain('failed since')
  })
})
