import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { MINUTE_MS } from '../../src/lib/kernel/durations.ts'
import { MAX_TOOL_TIMEOUT_MS } from '../../src/lib/kernel/limits.ts'
import { makeServer, signUp } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { createPageBrowser } from '../support/page-browser.ts'
import { type SignedInBrowser, signInToPages, textOf } from '../support/signed-in.ts'
import { runPatchbay } from '../support/world.ts'

const TOKEN = 'sk-undo-0123456789'
const TOOL = {
  name: 'get_order',
  title: 'Get order',
  description: 'Returns an order.',
  method: 'GET',
  url: 'https://api.example.com/orders/{{integer:id}}?depot={{depot}}&note={{note?}}',
  headers: [{ name: 'authorization', value: 'Bearer {{token}}' }],
}
const BINDINGS = {
  depot: { source: 'instance', value: 'LEJ' },
  token: { source: 'server', value: 'api_token' },
  note: { source: 'exposed' },
}

describe.each(databasesOfRun)('undo on $kind', kind => {
  const patchbay = runPatchbay({ kind })

  const makeWorld = async () => {
    const owner = await signUp(patchbay.origin)
    const browser = await signInToPages(patchbay.origin, owner.email)
    const made = await makeServer(owner, [])
    await owner.expectOk('PUT', `/servers/${made.serverId}/globals/api_token`, { value: TOKEN, secret: true })
    const tool = await owner.create(`/toolkits/${made.toolkitId}/tools`, TOOL)
    const add = { toolId: tool.id, name: 'my_order', description: 'Mine', maxResponseTokens: 500, bindings: BINDINGS }
    const { id } = await owner.create(`/servers/${made.serverId}/instances`, add)
    const toolsPath = `/servers/${made.serverId}/tools`
    return { owner, browser, ...made, toolId: tool.id, instanceId: id, toolsPath }
  }
  type World = Awaited<ReturnType<typeof makeWorld>>

  const removeInstance = async ({ browser, toolsPath, instanceId }: World) => {
    await browser.get(`${toolsPath}/${instanceId}/remove`)
    return browser.submit(`${toolsPath}/${instanceId}/remove`, { sure: 'my_order' })
  }
  const instance = async ({ owner, instanceId }: World) => {
    const { body } = await owner.expectOk('GET', `/instances/${instanceId}`)
    return { ...(typeof body === 'object' ? body : {}), updatedAt: undefined }
  }

  it('restores a tool of a server with its ID, name, bindings and time', async () => {
    const world = await makeWorld()
    const { browser, owner, toolsPath, instanceId } = world
    const before = await instance(world)
    const removed = await removeInstance(world)
    const page = await browser.get(removed.location ?? '')
    expect(textOf(page.html)).toContain('Tool removed from this server')
    expect(page.html).toContain(`action="${toolsPath}/undo"`)
    expect((await owner.send('GET', `/instances/${instanceId}`)).status).toBe(404)
    const restored = await browser.submit(`${toolsPath}/undo`, {})
    expect(restored).toMatchObject({ status: 303, location: `${toolsPath}?done=restored&count=1` })
    expect(textOf((await browser.get(restored.location ?? '')).html)).toContain('Tool restored')
    expect(await instance(world)).toEqual(before)
    // The page is still open in another tab.
    await browser.get(toolsPath)
    expect(await browser.submit(`${toolsPath}/undo`, {})).toMatchObject({ location: `${toolsPath}?done=too-late` })
  })

  it('restores a disabled tool as disabled', async () => {
    const world = await makeWorld()
    const { browser, owner, toolsPath, instanceId } = world
    await owner.expectOk('PATCH', `/instances/${instanceId}`, { enabled: false })
    await browser.get((await removeInstance(world)).location ?? '')
    expect((await browser.submit(`${toolsPath}/undo`, {})).location).toBe(`${toolsPath}?done=restored&count=1`)
    expect(await instance(world)).toMatchObject({ enabled: false, name: 'my_order' })
  })

  it('offers it only after the removal, and shows nothing of what was removed', async () => {
    const world = await makeWorld()
    const { browser, toolsPath } = world
    const removed = await removeInstance(world)
    const page = await browser.get(removed.location ?? '')
    expect(page.html).not.toMatch(/LEJ|api_token|sk-undo/)
    const kept = removed.headers.getSetCookie().find(line => line.startsWith('removed='))
    expect(kept).toMatch(/; Max-Age=600; Path=[^;]*\/tools; HttpOnly/)
    expect(kept).not.toMatch(/LEJ|api_token|sk-undo/)
    expect((await browser.get(toolsPath)).html).not.toContain('/undo"')
    await browser.get(`${toolsPath}?done=removed`)
    browser.cookies.delete('removed')
    expect((await browser.get(`${toolsPath}?done=removed`)).html).not.toContain('/undo"')
  })

  it('refuses if the name is taken, and if the tool is gone', async () => {
    const world = await makeWorld()
    const { browser, owner, serverId, toolId, toolsPath, instanceId } = world
    await browser.get((await removeInstance(world)).location ?? '')
    const other = await owner.create(`/servers/${serverId}/instances`, { toolId, name: 'my_order' })
    const taken = await browser.submit(`${toolsPath}/undo`, {})
    expect([taken.status, textOf(taken.html)]).toEqual([409, expect.stringContaining('already has a tool named')])
    await owner.expectOk('DELETE', `/instances/${other.id}`)
    await owner.expectOk('DELETE', `/tools/${toolId}`)
    await browser.get(`${toolsPath}?done=removed`)
    expect((await browser.submit(`${toolsPath}/undo`, {})).status).toBe(400)
    expect((await owner.send('GET', `/instances/${instanceId}`)).status).toBe(404)
  })

  it('refuses if the tool was saved as invalid meanwhile, until it is fixed', async () => {
    const world = await makeWorld()
    const { browser, toolId, toolsPath } = world
    await browser.get((await removeInstance(world)).location ?? '')
    const fields = { name: 'get_order', method: 'GET', headers: 'authorization: Bearer {{token}}' }
    await browser.get(`/tools/${toolId}`)
    const saved = await browser.submit(`/tools/${toolId}`, { ...fields, url: `${TOOL.url}{{`, saveInvalid: 'yes' })
    expect(saved.status).toBe(303)
    await browser.get(`${toolsPath}?done=removed`)
    const refused = await browser.submit(`${toolsPath}/undo`, {})
    expect([refused.status, textOf(refused.html)]).toEqual([
      400,
      expect.stringContaining('cannot be used until it is fixed'),
    ])
    expect(await patchbay.db.instance.count({ where: { toolId } })).toBe(0)
    await browser.get(`/tools/${toolId}`)
    expect((await browser.submit(`/tools/${toolId}`, { ...fields, url: TOOL.url })).status).toBe(303)
    await browser.get(`${toolsPath}?done=removed`)
    expect((await browser.submit(`${toolsPath}/undo`, {})).location).toBe(`${toolsPath}?done=restored&count=1`)
  })

  it('does not decide where a secret is sent: what was forbidden meanwhile is refused', async () => {
    const world = await makeWorld()
    const { browser, owner, serverId, toolsPath } = world
    await browser.get((await removeInstance(world)).location ?? '')
    const elsewhere = { origins: ['https://other.example.com'], secret: true, value: TOKEN }
    await owner.expectOk('PUT', `/servers/${serverId}/globals/api_token`, elsewhere)
    const refused = await browser.submit(`${toolsPath}/undo`, {})
    expect([refused.status, textOf(refused.html)]).toEqual([400, expect.stringContaining('may not be sent to')])
  })

  /** Gives a signed-in user what another user's browser keeps. */
  const takeCookie = (from: SignedInBrowser, to: SignedInBrowser) => {
    to.cookies.set('removed', from.cookies.get('removed') ?? '')
  }

  it('is for the user who removed it, on the server that it was removed from', async () => {
    const world = await makeWorld()
    const { browser, owner, serverId, toolsPath, instanceId } = world
    const { organizationId } = await patchbay.db.server.findUniqueOrThrow({ where: { id: serverId } })
    const other = await signUp(patchbay.origin)
    await patchbay.db.membership.create({ data: { organizationId, userId: other.userId, role: 'builder' } })
    const otherBrowser = await signInToPages(patchbay.origin, other.email)
    await browser.get((await removeInstance(world)).location ?? '')
    takeCookie(browser, otherBrowser)
    await otherBrowser.get(toolsPath)
    expect((await otherBrowser.submit(`${toolsPath}/undo`, {})).location).toBe(`${toolsPath}?done=too-late`)
    const { id } = await owner.create('/servers', { name: 'Other', organizationId })
    expect((await browser.submit(`/servers/${id}/tools/undo`, {})).location).toBe(`/servers/${id}/tools?done=too-late`)
    expect((await owner.send('GET', `/instances/${instanceId}`)).status).toBe(404)
    const anybody = createPageBrowser(patchbay.origin)
    expect((await anybody.submit(`${toolsPath}/undo`, {})).location).toBe('/sign-in')
  })

  it('restores a tool of a toolkit with its ID and definition', async () => {
    const world = await makeWorld()
    const { browser, owner, toolkitId, toolId, instanceId } = world
    await owner.expectOk('DELETE', `/instances/${instanceId}`)
    const read = async () => {
      const { body } = await owner.expectOk('GET', `/tools/${toolId}`)
      return { ...(typeof body === 'object' ? body : {}), updatedAt: undefined }
    }
    const before = await read()
    await browser.get(`/tools/${toolId}/removal`)
    const deleted = await browser.submit(`/tools/${toolId}/removal`, { sure: 'get_order' })
    const page = await browser.get(deleted.location ?? '')
    expect(page.html).toContain(`action="/toolkits/${toolkitId}/undo"`)
    const restored = await browser.submit(`/toolkits/${toolkitId}/undo`, {})
    expect(restored).toMatchObject({ status: 303, location: `/toolkits/${toolkitId}?done=restored&count=1` })
    expect(await read()).toEqual(before)
  })

  /** Deletes the tool, and returns the page after it. */
  const deleteTool = async ({ browser, owner, toolId, instanceId }: World) => {
    await owner.expectOk('DELETE', `/instances/${instanceId}`)
    await browser.get(`/tools/${toolId}/removal`)
    const deleted = await browser.submit(`/tools/${toolId}/removal`, { sure: 'get_order' })
    return browser.get(deleted.location ?? '')
  }

  it('refuses a tool that exceeds a limit that was lowered meanwhile', async () => {
    const world = await makeWorld()
    const { browser, owner, toolkitId, toolId } = world
    const { definition } = await patchbay.db.tool.findUniqueOrThrow({ where: { id: toolId } })
    const longer = { ...z.record(z.string(), z.json()).parse(definition), timeoutMs: MAX_TOOL_TIMEOUT_MS + 1 }
    await patchbay.db.tool.update({ where: { id: toolId }, data: { definition: longer } })
    await deleteTool(world)
    const refused = await browser.submit(`/toolkits/${toolkitId}/undo`, {})
    expect([refused.status, textOf(refused.html)]).toEqual([
      400,
      expect.stringContaining('PATCHBAY_MAX_TOOL_TIMEOUT_MS'),
    ])
    expect((await owner.send('GET', `/tools/${toolId}`)).status).toBe(404)
  })

  it('says that a tool was restored already and where it is now', async () => {
    const world = await makeWorld()
    const { browser, toolkitId, toolId } = world
    await deleteTool(world)
    const { organizationId } = await patchbay.db.toolkit.findUniqueOrThrow({ where: { id: toolkitId } })
    const restoreTo = async (owner: { organizationId: string }) => {
      const toolkit = await patchbay.db.toolkit.create({ data: { title: 'Elsewhere', ...owner } })
      const definition = { method: 'GET', url: TOOL.url, headers: [], parameters: {} }
      const data = { id: toolId, toolkitId: toolkit.id, name: TOOL.name, definition }
      await patchbay.db.tool.upsert({ where: { id: toolId }, create: data, update: data })
      const refused = await browser.submit(`/toolkits/${toolkitId}/undo`, {})
      return [refused.status, textOf(refused.html)]
    }
    const own = [409, expect.stringContaining('was already restored. It is now in another toolkit.')]
    expect(await restoreTo({ organizationId })).toEqual(own)
    const stranger = await patchbay.person()
    const foreign = [409, expect.stringContaining('It is now in a toolkit of another organization.')]
    expect(await restoreTo({ organizationId: stranger.organizationId })).toEqual(foreign)
  })

  it('restores all tools that were deleted at once, or none', async () => {
    const world = await makeWorld()
    const { browser, owner, toolkitId, toolId, instanceId } = world
    await owner.expectOk('DELETE', `/instances/${instanceId}`)
    const other = await owner.create(`/toolkits/${toolkitId}/tools`, { ...TOOL, name: 'list_orders' })
    const { title } = await patchbay.db.toolkit.findUniqueOrThrow({ where: { id: toolkitId } })
    const read = async () => {
      const tools = await patchbay.db.tool.findMany({ where: { toolkitId }, orderBy: { name: 'asc' } })
      return tools.map(tool => ({ ...tool, updatedAt: undefined }))
    }
    const before = await read()
    const address = `/toolkits/${toolkitId}/tools/removal?tool=${toolId}&tool=${other.id}`
    expect(textOf((await browser.get(address)).html)).toContain('You can undo this for 10 minutes.')
    const deleted = await browser.submit(address, { sure: title })
    expect((await browser.get(deleted.location ?? '')).html).toContain(`action="/toolkits/${toolkitId}/undo"`)
    const taken = await owner.create(`/toolkits/${toolkitId}/tools`, { ...TOOL, name: 'list_orders' })
    expect((await browser.submit(`/toolkits/${toolkitId}/undo`, {})).status).toBe(409)
    expect(await patchbay.db.tool.count({ where: { toolkitId } })).toBe(1)
    await owner.expectOk('DELETE', `/tools/${taken.id}`)
    await browser.get(deleted.location ?? '')
    const restored = await browser.submit(`/toolkits/${toolkitId}/undo`, {})
    expect(restored.location).toBe(`/toolkits/${toolkitId}?done=restored&count=2`)
    expect(textOf((await browser.get(restored.location ?? '')).html)).toContain('2 tools restored.')
    expect(await read()).toEqual(before)
  })

  it('restores an invalid tool of a toolkit as invalid, so that no server can use it', async () => {
    const { browser, owner, serverId, toolkitId } = await makeWorld()
    const form = `/toolkits/${toolkitId}/tools/new`
    await browser.get(form)
    const fields = { name: 'broken', method: 'GET', url: 'https://api.example.com/{{id', saveInvalid: 'yes' }
    const path = ((await browser.submit(form, fields)).location ?? '').replace(/\?.*/, '')
    await browser.get(`${path}/removal`)
    await browser.get((await browser.submit(`${path}/removal`, { sure: 'broken' })).location ?? '')
    expect((await browser.submit(`/toolkits/${toolkitId}/undo`, {})).status).toBe(303)
    const toolId = path.replace('/tools/', '')
    const { body } = await owner.expectOk('GET', `/tools/${toolId}`)
    expect(body).toMatchObject({ problem: expect.stringMatching(/^url: /) })
    const added = await owner.send('POST', `/servers/${serverId}/instances`, { toolId, name: 'broken' })
    expect([added.status, JSON.stringify(added.body)]).toEqual([400, expect.stringContaining('cannot be used until')])
  })

  it('is not offered for a tool that is too large for a cookie, as the page says before', async () => {
    const world = await makeWorld()
    const { browser, owner, toolkitId } = world
    // Random text, because repeated text is compressed.
    const words = Array.from({ length: 2_000 }, () => Math.random().toString(36).slice(2)).join(' ')
    const { id } = await owner.create(`/toolkits/${toolkitId}/tools`, {
      ...TOOL,
      name: 'large',
      description: words.slice(0, 9_000),
    })
    const asked = await browser.get(`/tools/${id}/removal`)
    expect(textOf(asked.html)).toContain('This cannot be undone')
    const deleted = await browser.submit(`/tools/${id}/removal`, { sure: 'large' })
    const { status, html } = await browser.get(deleted.location ?? '')
    expect([status, textOf(html)]).toEqual([200, expect.stringContaining('Tool deleted.')])
    expect(html).not.toContain('/undo"')
  })

  it('is not offered for so much that compressing it would take long, even if it would fit', async () => {
    const { browser, owner, toolkitId } = await makeWorld()
    const large = { ...TOOL, method: 'POST', body: 'a'.repeat(200_000) }
    const { id } = await owner.create(`/toolkits/${toolkitId}/tools`, { ...large, name: 'large' })
    const { id: other } = await owner.create(`/toolkits/${toolkitId}/tools`, { ...large, name: 'larger' })
    const removal = `/toolkits/${toolkitId}/tools/removal?tool=${id}`
    expect(textOf((await browser.get(removal)).html)).toContain('You can undo this for 10 minutes.')
    expect(textOf((await browser.get(`${removal}&tool=${other}`)).html)).toContain('This cannot be undone')
  })

  it('ends after ten minutes', async () => {
    const world = await makeWorld()
    const { browser, toolsPath } = world
    await removeInstance(world)
    onTestFinished(() => {
      vi.useRealTimers()
    })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 9 * MINUTE_MS })
    expect((await browser.get(`${toolsPath}?done=removed`)).html).toContain('/undo"')
    vi.setSystemTime(Date.now() + 2 * MINUTE_MS)
    expect((await browser.get(`${toolsPath}?done=removed`)).html).not.toContain('/undo"')
    expect((await browser.submit(`${toolsPath}/undo`, {})).location).toBe(`${toolsPath}?done=too-late`)
  })
})
