import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { connect } from '../servers/mcp.ts'
import { signUp } from '../support/api-client.ts'
import { startTestApp } from '../support/app.ts'
import { databasesOfRun } from '../support/databases.ts'
import { callTool, commandOf, gone, runEverything } from './support.ts'

describe.each(databasesOfRun)('after a restart on $kind', kind => {
  it('lists the tools of an upstream that is down, and a call reports when it is retried', async () => {
    const database = await kind.create()
    onTestFinished(() => database.drop())
    const before = await startTestApp({ databaseUrl: database.url })
    const operator = await signUp(before.origin, 'operator@example.com')
    const { id: serverId } = await operator.create('/servers', { name: 'Attached', access: 'public' })
    const far = await runEverything('streamableHttp')
    const { id } = await operator.create(`/servers/${serverId}/upstreams`, {
      name: 'far',
      transport: 'http',
      url: `http://127.0.0.1:${far.port}/mcp`,
    })
    await operator.expectOk('POST', `/upstreams/${id}/refresh`)
    await before.close()
    await far.stop()

    const after = await startTestApp({ databaseUrl: database.url })
    onTestFinished(() => after.close())
    const client = await connect(`${after.origin}/s/${serverId}`)
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('far_echo')
    expect(after.services.upstreamConnections.listKnown().map(({ connection }) => connection)).toEqual([undefined])
    const failed = await client.callTool({ name: 'far_echo', arguments: { message: 'hi' } })
    expect(failed).toMatchObject({ isError: true })
    const [said] = failed.content
    expect(said?.type === 'text' && said.text).toMatch(/^The MCP server "far" failed: .* Patchbay reconnects in \d+ s/)
  })

  it.runIf(kind.kind === 'sqlite')(
    'connects an eager upstream without a request, and ends its process on shutdown',
    async () => {
      const database = await kind.create()
      onTestFinished(() => database.drop())
      const env = { PATCHBAY_ALLOW_STDIO: 'true' }
      const before = await startTestApp({ databaseUrl: database.url, env })
      const operator = await signUp(before.origin, 'operator@example.com')
      const { id: serverId } = await operator.create('/servers', { name: 'Attached', access: 'public' })
      const { id } = await operator.create(`/servers/${serverId}/upstreams`, {
        name: 'up',
        ...commandOf('hostile'),
        eager: true,
      })
      await before.close()

      const after = await startTestApp({ databaseUrl: database.url, env })
      await after.services.upstreamConnections.start()
      const connection = after.services.upstreamConnections.find(id)
      if (connection === undefined) throw new Error('there is no connection')
      await vi.waitFor(() => expect(connection.state()).toEqual({ kind: 'connected' }), 10_000)
      const pid = Number(await callTool(connection, 'pid'))
      await after.close()
      await gone([pid])
    },
  )
})
