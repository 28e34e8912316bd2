import { describe, expect, it } from 'vitest'
import { makeServer } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { runPatchbay, runUser } from '../support/world.ts'
import { passTo, startUpstream } from './support.ts'

const REMOTE = { name: 'behind', transport: 'http', url: 'https://mcp.example.com/mcp' }
const COMMAND = { name: 'local', transport: 'stdio', command: 'node' }
const TOOL = { name: 'get', method: 'GET', url: 'https://api.example.com/' }

describe.each(databasesOfRun)('the presentation passthrough on $kind', kind => {
  const patchbay = runPatchbay({ kind, env: { PATCHBAY_ALLOW_STDIO: 'true' } })
  // This user is the operator, because only the operator may add commands.
  const api = runUser(patchbay)

  const makePlain = async (presentation = 'flat') =>
    (await api.create('/servers', { name: 'Server', access: 'public', presentation })).id
  const change = (serverId: string, presentation: string) => api.send('PATCH', `/servers/${serverId}`, { presentation })

  it('is refused if the server has anything besides one remote upstream, and the error names it', async () => {
    const withTool = (await makeServer(api, [TOOL])).serverId
    const withToolkit = await makePlain()
    const { id: toolkitId } = await api.create('/toolkits', { title: 'Toolkit' })
    await api.expectOk('PUT', `/servers/${withToolkit}/toolkits/${toolkitId}`)
    const withTwo = await makePlain()
    for (const name of ['one', 'two']) await api.create(`/servers/${withTwo}/upstreams`, { ...REMOTE, name })
    const withCommand = await makePlain()
    await api.create(`/servers/${withCommand}/upstreams`, COMMAND)
    const refused: [string, string][] = [
      [withTool, 'it has tools of its own, which could no longer be called'],
      [withToolkit, 'it uses toolkits, whose tools could not be called'],
      [withTwo, 'it has 2 MCP servers, but a passthrough server can have only one'],
      [withCommand, 'its MCP server "local" is a command, which cannot receive HTTP requests'],
    ]
    for (const [serverId, why] of refused) {
      const answer = await change(serverId, 'passthrough')
      expect(answer).toMatchObject({
        status: 409,
        body: { errors: [{ path: 'presentation', message: `cannot be passthrough: ${why}` }] },
      })
    }
  })

  it('refuses tools, toolkits, commands and a second upstream', async () => {
    const serverId = await makePlain('passthrough')
    const { id: toolkitId } = await api.create('/toolkits', { title: 'Toolkit' })
    const { id: toolId } = await api.create(`/toolkits/${toolkitId}/tools`, TOOL)
    expect((await api.send('POST', `/servers/${serverId}/upstreams`, COMMAND)).status).toBe(409)
    const { id: upstreamId } = await api.create(`/servers/${serverId}/upstreams`, REMOTE)
    const refused = [
      await api.send('PUT', `/servers/${serverId}/toolkits/${toolkitId}`),
      await api.send('POST', `/servers/${serverId}/instances`, { toolId, name: 'get' }),
      await api.send('POST', `/servers/${serverId}/upstreams`, { ...REMOTE, name: 'second' }),
      await api.send('PATCH', `/upstreams/${upstreamId}`, { transport: 'stdio', command: 'node' }),
    ]
    for (const answer of refused) {
      expect(answer).toMatchObject({
        status: 409,
        body: { detail: expect.stringMatching(/passthrough server|passes its requests on/i) },
      })
    }
    // Changing the presentation turns it back into an ordinary server, which can use toolkits.
    expect((await change(serverId, 'flat')).status).toBe(200)
    expect((await api.send('PUT', `/servers/${serverId}/toolkits/${toolkitId}`)).status).toBe(204)
  })

  it('stores the addresses of its upstream and refuses invalid ones', async () => {
    const urls = ['https://two.example.com/mcp', 'https://three.example.com/{{path}}']
    const serverId = await makePlain('passthrough')
    const { id } = await api.create(`/servers/${serverId}/upstreams`, { ...REMOTE, urls })
    expect((await api.expectOk('GET', `/upstreams/${id}`)).body).toMatchObject({ urls, missingGlobals: ['path'] })
    const refused: [unknown, string][] = [
      [['https://fine.example.com/', 'ftp://no.example.com/'], 'urls[1]'],
      [Array(16).fill('https://many.example.com/'), 'urls'],
    ]
    for (const [wrong, path] of refused) {
      const answer = await api.send('PATCH', `/upstreams/${id}`, { urls: wrong })
      expect(answer).toMatchObject({ status: 400, body: { errors: [expect.objectContaining({ path })] } })
    }
    await api.expectOk('PUT', `/servers/${serverId}/globals/host`, { value: 'secret-host', secret: true })
    const risk = await api.send('PATCH', `/upstreams/${id}`, { urls: ['https://{{host}}.example.com/'] })
    expect(risk).toMatchObject({ status: 400, body: { errors: [expect.objectContaining({ path: 'urls[0]' })] } })
    await api.expectOk('PATCH', `/upstreams/${id}`, { urls: [] })
    expect((await api.expectOk('GET', `/upstreams/${id}`)).body).toMatchObject({ urls: null })
  })

  it('can be switched on and off live, and says what the server lacks meanwhile', async () => {
    const serverId = await makePlain('passthrough')
    const ask = async () => {
      const answer = await fetch(`${patchbay.origin}/s/${serverId}`, { method: 'POST', body: '{}' })
      return { status: answer.status, text: await answer.text() }
    }
    expect(await ask()).toMatchObject({
      status: 503,
      text: expect.stringContaining('This passthrough server has no MCP server to pass requests to yet'),
    })
    const upstream = await startUpstream()
    const { id } = await api.create(`/servers/${serverId}/upstreams`, {
      ...REMOTE,
      url: `http://127.0.0.1:${upstream.port}/`,
    })
    expect((await ask()).status).toBe(200)
    await api.expectOk('PATCH', `/upstreams/${id}`, { enabled: false })
    expect(await ask()).toMatchObject({ status: 503, text: expect.stringContaining('is disabled') })
    await api.expectOk('PATCH', `/upstreams/${id}`, { enabled: true, headers: { 'X-Key': '{{key}}' } })
    expect(await ask()).toMatchObject({ status: 503, text: expect.stringContaining('has no global \\"key\\"') })
    await api.expectOk('PUT', `/servers/${serverId}/globals/key`, { value: '1' })
    expect((await ask()).status).toBe(200)
    expect(upstream.seen.every(({ method, body }) => method === 'POST' && body === '{}')).toBe(true)
    await change(serverId, 'flat')
    expect(await ask()).toMatchObject({ status: 415, text: expect.stringContaining('jsonrpc') })
    await change(serverId, 'passthrough')
    // While the server was not a passthrough server, Patchbay may have connected to the upstream itself.
    const passedOn = () => upstream.seen.filter(({ method, body }) => method === 'POST' && body === '{}').length
    const before = passedOn()
    expect((await ask()).status).toBe(200)
    expect(passedOn()).toBe(before + 1)
  })

  it('sends the upstream only what is passed on, and no requests of Patchbay itself', async () => {
    const upstream = await startUpstream()
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`, { upstream: { eager: true } })
    await fetch(server.url)
    expect(upstream.seen.map(({ method }) => method)).toEqual(['GET'])
    expect((await api.expectOk('GET', `/upstreams/${server.upstreamId}`)).body).toMatchObject({
      state: { kind: 'connected' },
    })
  })
})
