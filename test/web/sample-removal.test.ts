import { describe, expect, it, onTestFinished } from 'vitest'
import { ensureDemoServer } from '../../src/cli/demo/demo-server.ts'
import { knock } from '../mcp/messages.ts'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { signInToPages, textOf } from '../support/signed-in.ts'
import { startWorld } from '../support/world.ts'

const removalOf = (serverId: string): string => `/servers/${serverId}/sample/removal`

describe.each(databasesOfRun)('a sample on $kind', kind => {
  const begin = async () => {
    const world = await startWorld({ kind, isOwn: true })
    onTestFinished(() => world.close())
    return world
  }

  /** Runs the demo and signs up as the operator, who takes over its server. */
  const beginWithDemo = async () => {
    const world = await begin()
    const { id } = await ensureDemoServer(world.services)
    const ada = await signUp(world.origin, 'ada@example.com')
    const browser = await signInToPages(world.origin, ada.email)
    const { id: toolkitId } = await world.db.toolkit.findFirstOrThrow()
    return { ...world, id, ada, browser, toolkitId }
  }

  const addServer = async (api: ApiClient, name: string, toolkitId: string): Promise<string> => {
    const { id } = await api.create('/servers', { name })
    await api.expectOk('PUT', `/servers/${id}/toolkits/${toolkitId}`)
    return id
  }

  it('made by the demo is removed with its toolkit where the operator lands, and leads to the first steps', async () => {
    const { origin, db, id, browser } = await beginWithDemo()
    expect(await browser.get('/')).toMatchObject({ location: '/servers' })
    for (const path of ['/servers', `/servers/${id}`]) {
      expect((await browser.get(path)).html).toContain(`href="${removalOf(id)}"`)
    }
    const page = await browser.get(removalOf(id))
    expect(page.html).not.toContain('name="sure"')
    expect(textOf(page.html)).toContain('4 tools the toolkit “Sample API” with 4 tools')
    const removed = await browser.submit(removalOf(id), {})
    expect(removed).toMatchObject({ status: 303, location: '/first-run?done=sample-removed' })
    const next = textOf((await browser.get(removed.location ?? '')).html)
    expect(next).toContain('Sample removed.')
    expect(next).toContain('Create your first tool')
    expect(await Promise.all([db.server.count(), db.toolkit.count()])).toEqual([0, 0])
    expect(await knock(`${origin}/s/${id}`)).toBe(404)
    expect((await browser.get(removalOf(id))).status).toBe(404)
  })

  it('keeps its toolkit while another server uses it, and says which', async () => {
    const { db, id, ada, browser, toolkitId } = await beginWithDemo()
    const other = await addServer(ada, 'Weather', toolkitId)
    const text = textOf((await browser.get(removalOf(id))).html)
    expect(text).toContain('The toolkit “Sample API” stays, because other servers use it too: “Weather”.')
    expect(text).not.toContain('the toolkit “Sample API” with')
    expect(await browser.submit(removalOf(id), {})).toMatchObject({ location: '/servers?done=sample-removed' })
    expect(await db.server.findMany({ select: { id: true } })).toEqual([{ id: other }])
    expect(await db.tool.count({ where: { toolkitId } })).toBe(4)
  })

  it('keeps its toolkit if somebody added a tool that calls another API', async () => {
    const { db, id, ada, browser, toolkitId } = await beginWithDemo()
    await ada.create(`/toolkits/${toolkitId}/tools`, { name: 'rain', method: 'GET', url: 'https://api.example.com/' })
    const text = textOf((await browser.get(removalOf(id))).html)
    expect(text).toContain('stays, because it also has tools that are not part of the sample: “rain”.')
    await browser.submit(removalOf(id), {})
    expect(await Promise.all([db.server.count(), db.tool.count()])).toEqual([0, 5])
  })

  it('is removed without its toolkit once its server belongs to another organization', async () => {
    const { db, id, ada, browser, toolkitId } = await beginWithDemo()
    const elsewhere = await ada.create('/organizations', { name: 'Elsewhere' })
    await ada.expectOk('POST', `/servers/${id}/transfer`, { organizationId: elsewhere.id })
    expect(textOf((await browser.get(removalOf(id))).html)).not.toContain('Sample API')
    await browser.submit(removalOf(id), {})
    expect(await db.server.count()).toBe(0)
    expect(await db.toolkit.findMany({ select: { id: true } })).toEqual([{ id: toolkitId }])
  })

  it('is offered for removal only to those who may delete the server', async () => {
    const { db, origin, id, ada } = await beginWithDemo()
    await ada.expectOk('PATCH', `/servers/${id}`, { access: 'organization' })
    const { organizationId } = await db.server.findUniqueOrThrow({ where: { id } })
    for (const [role, isAllowed] of [
      ['viewer', false],
      ['builder', false],
      ['admin', true],
    ] as const) {
      const member = await signUp(origin, `${role}@example.com`)
      await db.membership.create({ data: { organizationId, userId: member.userId, role } })
      const browser = await signInToPages(origin, member.email)
      for (const path of ['/servers', `/servers/${id}`]) {
        const { html } = await browser.get(path)
        expect([role, path, html.includes('Patchbay demo'), html.includes('Remove sample')]).toEqual([
          role,
          path,
          true,
          isAllowed,
        ])
      }
      expect((await browser.get(removalOf(id))).status).toBe(isAllowed ? 200 : 403)
    }
  })

  it('is also what the first steps and the empty list of servers add', async () => {
    const { origin, db } = await begin()
    for (const { email, form } of [
      { email: 'ada@example.com', form: '/first-run/sample' },
      { email: 'eve@example.com', form: '/servers/sample' },
    ]) {
      const browser = await signInToPages(origin, (await signUp(origin, email)).email)
      await browser.get('/servers')
      await browser.submit(form, {})
      const { id } = await db.server.findFirstOrThrow({ where: { owner: { email } } })
      expect((await browser.get(`/servers/${id}`)).html).toContain(`href="${removalOf(id)}"`)
      await browser.get(removalOf(id))
      expect(await browser.submit(removalOf(id), {})).toMatchObject({ location: '/servers?done=sample-removed' })
      expect(textOf((await browser.get('/servers?done=sample-removed')).html)).toContain('Nothing is plugged in yet')
    }
    expect(await Promise.all([db.server.count(), db.toolkit.count()])).toEqual([0, 0])
  })

  it('is not any other server, whatever its name and tools', async () => {
    const { ada, browser, toolkitId } = await beginWithDemo()
    const other = await addServer(ada, 'Patchbay demo', toolkitId)
    expect((await browser.get(`/servers/${other}`)).html).not.toContain('Remove sample')
    expect((await browser.get(removalOf(other))).status).toBe(404)
    expect((await browser.submit(removalOf(other), {})).status).toBe(404)
    expect((await ada.send('GET', `/servers/${other}`)).status).toBe(200)
  })

  it('leaves nothing behind if its server is deleted in another way', async () => {
    const { db, id, ada } = await beginWithDemo()
    const notes = { where: { name: { contains: id } } }
    expect(await db.installation.count(notes)).toBe(1)
    await ada.expectOk('DELETE', `/servers/${id}`)
    expect(await db.installation.count(notes)).toBe(0)
  })
})
