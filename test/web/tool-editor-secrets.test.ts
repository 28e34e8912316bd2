import { describe, expect, it } from 'vitest'
import { makeServer } from '../support/api-client.ts'
import { signInToPages } from '../support/signed-in.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

const VALUE = 'kf-7Qm2Zr81-of-the-carrier'

describe('a parameter that is kept as a secret, in the tool editor', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi()
  const ada = runUser(patchbay)

  /** Opens the editor for a new tool from the page of a server. */
  const open = async () => {
    const { serverId } = await makeServer(ada, [])
    const page = await signInToPages(patchbay.origin, ada.email)
    const fields = {
      name: 'track',
      method: 'GET',
      url: `${fake.origin}/track`,
      headers: 'Authorization: Bearer {{token}}',
      toolkitTitle: `Of ${serverId}`,
      serverId,
    }
    const field = `secret:${serverId}:token`
    const globals = async () => (await ada.expectOk('GET', `/servers/${serverId}/globals`)).body
    await page.get(`/toolkits/new-tool?server=${serverId}`)
    return { page, serverId, fields, field, globals }
  }

  it('is asked for when the editor was opened from a server, and otherwise when the tool is added to one', async () => {
    const { page, fields, field } = await open()
    const { html } = await page.submit('/tool-preview', fields)
    expect(html).toMatch(new RegExp(`<input class="input" type="password"[^>]* name="${field}" aria-describedby`))
    const { html: without } = await page.submit('/tool-preview', { ...fields, serverId: '' })
    expect(without).not.toContain('name="secret:')
    expect(without).toContain('You are asked for the value when the tool is added to a server.')
  })

  it('is stored for the origin of the tool, is used by Send, and is on no page', async () => {
    const { page, fields, field, globals } = await open()
    const stored = await page.submit('/tool-secret', { ...fields, [field]: VALUE, storeSecret: 'token' })
    expect(stored.status).toBe(200)
    expect(stored.html).toMatch(/Stored on <a href="[^"]*\/globals\/token">/)
    expect(await globals()).toMatchObject({ items: [{ key: 'token', secret: true, origins: [fake.origin] }] })
    const sent = await page.submit('/tool-send', fields)
    expect(sent.html).toContain('200 OK')
    expect(fake.seen.at(-1)).toMatchObject({ headers: { authorization: `Bearer ${VALUE}` } })
    for (const { html } of [stored, sent]) expect(html).not.toContain(VALUE)
  })

  it('is stored with the tool by Save, and the tool can be called once it is added', async () => {
    const { page, serverId, fields, field, globals } = await open()
    const saved = await page.submit('/toolkits/new-tool', { ...fields, [field]: VALUE })
    expect(saved.location).toContain(`as=${serverId}`)
    expect(saved.location).not.toContain('kf-')
    expect(await globals()).toMatchObject({ items: [{ key: 'token', secret: true }] })
    const [, path = ''] = /^(\/tools\/[^?]*)/.exec(saved.location ?? '') ?? []
    const added = await page.submit(`${path}/offer`, { server: serverId })
    expect(added.location).toBe(`/servers/${serverId}?done=offered`)
    const shown = await page.get(`${path}?as=${serverId}`)
    expect(shown.html).toContain('encrypted.')
    expect(shown.html).not.toContain(VALUE)
  })

  it('is stored by Send, too', async () => {
    const { page, fields, field } = await open()
    const { html } = await page.submit('/tool-send', { ...fields, [field]: VALUE })
    expect(html).toContain('200 OK')
    expect(html).not.toContain(VALUE)
  })

  it('gets a key of its own if the server has a secret with its name for other origins', async () => {
    const { page, serverId, fields, field, globals } = await open()
    const other = { value: 'x', secret: true, origins: ['https://other.example'] }
    await ada.expectOk('PUT', `/servers/${serverId}/globals/token`, other)
    const url = 'https://api.kestrel.example/track'
    const { html } = await page.submit('/tool-secret', { ...fields, url, [field]: VALUE, storeSecret: 'token' })
    expect(html).toContain('/globals/kestrel_token">')
    expect(await globals()).toMatchObject({
      items: [
        { key: 'token', origins: ['https://other.example'] },
        { key: 'kestrel_token', origins: ['https://api.kestrel.example'] },
      ],
    })
  })

  it('is not stored on another server than the one that the page named', async () => {
    const { page, fields, field, globals } = await open()
    const { serverId: elsewhere } = await makeServer(ada, [])
    await page.submit('/tool-secret', { ...fields, serverId: elsewhere, [field]: VALUE, storeSecret: 'token' })
    expect(await globals()).toMatchObject({ items: [] })
    expect((await ada.expectOk('GET', `/servers/${elsewhere}/globals`)).body).toMatchObject({ items: [] })
  })

  it('is not stored by a preview, nor for a parameter from the model', async () => {
    const { page, fields, field, globals } = await open()
    await page.submit('/tool-preview', { ...fields, [field]: VALUE })
    const model = { ...fields, 'parameter:token:source': 'model' }
    await page.submit('/tool-secret', { ...model, [field]: VALUE, storeSecret: 'token' })
    expect(await globals()).toMatchObject({ items: [] })
  })

  it.each([
    ['without a value', '', 'Enter the value.'],
    ['with one that is too long', 'x'.repeat(20_000), /A secret can have at most \d+ bytes\./],
  ])('is refused %s, beside its field', async (_, value, sentence) => {
    const { page, fields, field } = await open()
    const refused = await page.submit('/tool-secret', { ...fields, [field]: value, storeSecret: 'token' })
    expect(refused.status).toBe(400)
    const [, hint = ''] = new RegExp(`id="hint:${field}">(.*?)</div>`, 's').exec(refused.html) ?? []
    expect(hint).toMatch(sentence)
  })

  it('is not kept while its user signs in again', async () => {
    const { page, fields, field } = await open()
    await page.submit('/tool-preview', fields)
    page.cookies.clear()
    const refused = await page.submit('/tool-secret', { ...fields, [field]: VALUE, storeSecret: 'token' })
    expect(refused.html).toContain('Sign in')
    expect(refused.html).not.toContain(VALUE)
  })

  describe('of a tool that the server has', () => {
    const definition = (parameters: object = {}) => ({
      name: 'track',
      method: 'GET',
      url: `${fake.origin}/track`,
      headers: [{ name: 'Authorization', value: 'Bearer {{token}}' }],
      parameters,
    })
    const SECRET = { token: { binding: { source: 'server', key: 'token', secret: true } } }
    const openTool = async (parameters: object, binding: object) => {
      const { serverId, instanceIds, toolIds } = await makeServer(ada, [definition(parameters)])
      await ada.expectOk('PUT', `/servers/${serverId}/globals/carrier`, {
        value: 'x',
        secret: true,
        origins: [fake.origin],
      })
      await ada.expectOk('PATCH', `/instances/${instanceIds.track}`, { bindings: { token: binding } })
      const page = await signInToPages(patchbay.origin, ada.email)
      const { html } = await page.get(`/tools/${toolIds.track}?as=${serverId}`)
      return {
        page,
        html,
        serverId,
        toolPath: `/tools/${toolIds.track}`,
        href: `/servers/${serverId}/tools/${instanceIds.track}`,
      }
    }

    it('says that the server lets the model supply it, and does not ask', async () => {
      const { html, href } = await openTool(SECRET, { source: 'exposed' })
      expect(html).toMatch(new RegExp(`On <a href="${href}">.*from the model.*Bind it to a secret there\\.`))
      expect(html).not.toContain('name="secret:')
      expect(html).toContain('where anyone who can read the conversation can read it')
    })

    it('does not warn of a parameter that the server binds to a secret', async () => {
      const { html, href } = await openTool({}, { source: 'server', value: 'carrier' })
      expect(html).toMatch(new RegExp(`On <a href="${href}">.*<code>carrier</code>`))
      expect(html).not.toContain('Make it a secret.')
      expect(html).not.toContain('read the conversation')
    })

    it('asks for the value that its binding there lacks', async () => {
      const { page, html, serverId, toolPath } = await openTool(SECRET, { source: 'server', value: 'own' })
      const field = `secret:${serverId}:token`
      expect(html).toContain(`name="${field}"`)
      const fields = {
        name: 'track',
        method: 'GET',
        url: `${fake.origin}/track`,
        headers: 'Authorization: Bearer {{token}}',
      }
      const typed = {
        ...fields,
        serverId,
        tool: toolPath.slice('/tools/'.length),
        storeSecret: 'token',
        [field]: VALUE,
      }
      const stored = await page.submit('/tool-secret', typed)
      expect(stored.html).toContain('/globals/own">')
    })
  })

  it('is typed into a password field to try the tool without a server, and not shown again', async () => {
    const { page, fields } = await open()
    const { html } = await page.submit('/tool-send', { ...fields, serverId: '', 'value:token': VALUE })
    expect(html).toMatch(/<input class="input" type="password"[^>]* name="value:token" value=""/)
    expect(fake.seen.at(-1)).toMatchObject({ headers: { authorization: `Bearer ${VALUE}` } })
    const bound = await page.submit('/tool-preview', { ...fields, 'value:token': VALUE })
    expect(bound.html).not.toContain('name="value:token"')
  })
})
