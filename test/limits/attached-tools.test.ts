import { describe, expect, it } from 'vitest'
import { connect, toolNames } from '../servers/mcp.ts'
import { databasesOfRun } from '../support/databases.ts'
import { runPatchbay } from '../support/world.ts'
import { runScriptedUpstreams } from '../upstreams/scripted-upstream.ts'
import { callTool, limitsOf, usesOf } from './limits-world.ts'

const TOOLS = ['work', 'do it!'].map(name => ({ name, inputSchema: { type: 'object' } }))

describe.each(databasesOfRun)('a limit for each tool on $kind', kind => {
  const world = runPatchbay({ kind })
  const upstreams = runScriptedUpstreams({ there: { tools: () => TOOLS } })

  it('counts each tool of an attached MCP server alone, whatever its name on the server', async () => {
    const owner = await world.person()
    const { organizationId } = owner
    const { id: serverId } = await owner.create('/servers', { organizationId, name: 'One', access: 'organization' })
    const attached = { name: 'there', transport: 'http', url: upstreams.urlOf('there') }
    const { id } = await owner.create(`/servers/${serverId}/upstreams`, attached)
    await owner.expectOk('POST', `/upstreams/${id}/refresh`)
    const url = `${world.origin}/s/${serverId}`
    const once = { scope: 'tool', unit: 'calls', period: 'day', amount: 1 }
    const limit = await owner.create(limitsOf(owner), once)

    expect(await callTool(url, owner.token, 'there_work')).toBeUndefined()
    expect(await callTool(url, owner.token, 'there_work')).toContain('1 call per day for this tool')
    await owner.expectOk('PATCH', `/upstreams/${id}`, { prefix: 'other' })
    await owner.expectOk('POST', `/upstreams/${id}/refresh`)
    expect(await callTool(url, owner.token, 'other_work')).toContain('1 call per day for this tool')

    const client = await connect(url, owner.token)
    const odd = (await toolNames(client)).find(name => name.includes('do_it')) ?? ''
    expect(await callTool(url, owner.token, odd)).toBeUndefined()
    expect(await callTool(url, owner.token, odd)).toContain('1 call per day for this tool')
    expect(Object.entries(await usesOf(owner, `${limitsOf(owner)}/${limit.id}`)).toSorted()).toEqual([
      [expect.stringMatching(/^there\/do_it__[0-9a-f]{8}$/), 1],
      ['there/work', 1],
    ])
  })
})
