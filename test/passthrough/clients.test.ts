import { describe, expect, it } from 'vitest'
import { databasesOfRun } from '../support/databases.ts'
import { runPatchbay, runUser } from '../support/world.ts'
import { connectClient } from '../upstreams/clients.ts'
import { startEverything } from '../upstreams/support.ts'
import { historyOf, passTo } from './support.ts'

describe.each(databasesOfRun)('an official client through a passthrough server on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const api = runUser(patchbay)

  it.each(['sdk 1', 'sdk 2'] as const)('%s reaches everything a Streamable HTTP server offers', async client => {
    const port = await startEverything('streamableHttp')
    const server = await passTo(api, `http://127.0.0.1:${port}/mcp`, { server: { access: 'private' } })
    const connected = await connectClient(client, server.url, { token: api.token })
    const { tools } = await connected.request('tools/list')
    expect(tools).toEqual(expect.arrayContaining([expect.objectContaining({ name: 'echo' })]))
    const progress: object[] = []
    const result = await connected.callTool(
      'trigger-long-running-operation',
      { duration: 0.2, steps: 2 },
      { onprogress: told => void progress.push(told) },
    )
    expect(result).toMatchObject({ content: [{ type: 'text' }] })
    expect(progress.length).toBeGreaterThan(0)
    await connected.end()
    const history = await historyOf(api, server.id)
    expect(history.map(({ tool }) => tool)).not.toContain(expect.any(String))
    expect(history.map(({ request }) => request?.method)).toEqual(expect.arrayContaining(['POST', 'DELETE']))
  })

  it('sdk 1 reaches everything an HTTP+SSE server offers', async () => {
    const port = await startEverything('sse')
    const server = await passTo(api, `http://127.0.0.1:${port}/sse`, {
      server: { access: 'private' },
      upstream: { transport: 'sse' },
    })
    const connected = await connectClient('sdk 1 over sse', server.url, { token: api.token })
    expect(await connected.callTool('echo', { message: 'hello' })).toMatchObject({
      content: [{ type: 'text', text: 'Echo: hello' }],
    })
  })
})
