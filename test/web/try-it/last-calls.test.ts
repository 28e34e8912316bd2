import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { DAY_MS, MINUTE_MS } from '../../../src/lib/kernel/durations.ts'
import { makeServer } from '../../support/api-client.ts'
import { signInToPages, textOf } from '../../support/signed-in.ts'
import { runPatchbay } from '../../support/world.ts'

const TOOL = { name: 'get_thing', method: 'GET', url: 'https://a.example/' }

describe('the last calls of a tool in its editor', () => {
  const patchbay = runPatchbay()

  type Call = { minutesAgo: number; userId?: string; tool?: string; status?: number }
  const record = async (serverId: string, instanceId: string | undefined, calls: readonly Call[]) => {
    const rows = calls.map(({ minutesAgo, userId, tool = 'get_thing', status = 200 }) => ({
      id: randomUUID(),
      serverId,
      instanceId: instanceId ?? null,
      userId: userId ?? null,
      tool,
      startedAt: new Date(Date.now() - minutesAgo * MINUTE_MS),
      durationMs: minutesAgo,
      outcome: status < 400 ? ('ok' as const) : ('error' as const),
      status,
      requestBytes: 0,
      responseBytes: 0,
    }))
    await patchbay.db.execution.createMany({ data: rows })
    return rows.map(({ id }) => id)
  }
  /** Returns the section of the page, if it is there. */
  const look = async (email: string, toolId = '') => {
    const browser = await signInToPages(patchbay.origin, email)
    const { html } = await browser.get(`/tools/${toolId}`)
    const [, section] = /<section[^>]*aria-labelledby="last-calls-title">(.*?)<\/section>/s.exec(html) ?? []
    return section
  }
  const linksIn = (section = ''): string[] =>
    [...section.matchAll(/<th scope="row"><a href="([^"]+)"/g)].map(([, href = '']) => href)

  it('are the newest five of all its servers, with their outcomes and links', async () => {
    const owner = await patchbay.person()
    const { serverId, toolkitId, toolIds, instanceIds } = await makeServer(owner, [TOOL, { ...TOOL, name: 'other' }])
    const second = await owner.create('/servers', { name: 'Night desk', access: 'private' })
    await owner.expectOk('PUT', `/servers/${second.id}/toolkits/${toolkitId}`)
    const instance = { toolId: toolIds.get_thing, name: 'renamed', bindings: {} }
    const there = await owner.create(`/servers/${second.id}/instances`, instance)
    const own = await record(
      serverId,
      instanceIds.get_thing,
      [1, 3, 5, 7, 9].map(minutesAgo => ({ minutesAgo })),
    )
    const [newest] = await record(second.id, there.id, [{ minutesAgo: 0, tool: 'renamed', status: 404 }])
    await record(serverId, instanceIds.other, [{ minutesAgo: 0, tool: 'other' }])
    const section = await look(owner.email, toolIds.get_thing)
    expect(linksIn(section)).toEqual([
      `/servers/${second.id}/history/${newest}`,
      ...own.slice(0, 4).map(id => `/servers/${serverId}/history/${id}`),
    ])
    expect(section).toContain('data-state="rejected">404 Not found<')
    expect(section).toContain('Night desk')
    const browser = await signInToPages(patchbay.origin, owner.email)
    expect((await browser.get(linksIn(section)[0] ?? '')).status).toBe(200)
  })

  it('are those of the tool, not of another with its name, and not older than 30 days', async () => {
    const owner = await patchbay.person()
    const { serverId, toolIds, instanceIds } = await makeServer(owner, [TOOL])
    await record(serverId, undefined, [{ minutesAgo: 1 }])
    await record(serverId, instanceIds.get_thing, [{ minutesAgo: (31 * DAY_MS) / MINUTE_MS }])
    expect(textOf((await look(owner.email, toolIds.get_thing)) ?? '')).toContain('No calls in the last 30 days.')
  })

  it('are only the user’s own on a private server that they are allowed to use', async () => {
    const owner = await patchbay.person()
    const builder = await patchbay.member(owner.organizationId, 'builder')
    const { serverId, toolIds, instanceIds } = await makeServer(owner, [TOOL], { server: { access: 'private' } })
    const [mine] = await record(serverId, instanceIds.get_thing, [{ minutesAgo: 2, userId: builder.userId }])
    await record(serverId, instanceIds.get_thing, [{ minutesAgo: 1, userId: owner.userId }])
    expect(await look(builder.email, toolIds.get_thing)).toBeUndefined()
    await owner.expectOk('PATCH', `/servers/${serverId}`, { allowedUsers: [builder.userId] })
    expect(linksIn(await look(builder.email, toolIds.get_thing))).toEqual([`/servers/${serverId}/history/${mine}`])
    expect(linksIn(await look(owner.email, toolIds.get_thing))).toHaveLength(2)
  })

  it('are not shown to users of other organizations', async () => {
    const owner = await patchbay.person()
    const stranger = await patchbay.person()
    const { serverId, toolkitId, toolIds, instanceIds } = await makeServer(owner, [TOOL])
    await record(serverId, instanceIds.get_thing, [{ minutesAgo: 1 }])
    await owner.expectOk('PATCH', `/toolkits/${toolkitId}`, { visibility: 'public' })
    expect(await look(owner.email, toolIds.get_thing)).toBeDefined()
    expect(await look(stranger.email, toolIds.get_thing)).toBeUndefined()
  })
})
