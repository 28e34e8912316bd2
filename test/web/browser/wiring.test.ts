import type { BrowserContextOptions, Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { callText, connect } from '../../servers/mcp.ts'
import { type ApiClient, makeServer, signUp } from '../../support/api-client.ts'
import { cookiesOf, openPage } from '../../support/open-page.ts'
import { runFakeApi, runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const HOSTILE = `"><script>alert(1)</script>'<%= 1 %>&amp;`

const patchbay = runPatchbay()
const fake = runFakeApi()
let ada: ApiClient & { email: string; userId: string }
beforeAll(async () => {
  ada = await signUp(patchbay.origin)
})

/** Opens a tab in which Ada is signed in. */
const open = (options: BrowserContextOptions = {}) => openPage(patchbay.origin, { email: ada.email, ...options })

const tool = (name: string) => ({
  name,
  method: 'GET',
  url: `${fake.origin}/{{id}}?count={{integer:count?}}&key={{key?}}`,
})
const makeDesk = async () => {
  const made = await makeServer(ada, [tool('track'), tool('quote')])
  await ada.expectOk('PUT', `/servers/${made.serverId}/globals/desk`, { value: 'north' })
  await ada.expectOk('PUT', `/servers/${made.serverId}/globals/token`, { value: 'sk-canary', secret: true })
  return { ...made, at: (tab: string) => `/servers/${made.serverId}/${tab}` }
}
const box = (page: Page, name: string) => page.getByRole('checkbox', { name, exact: true })
const selectionText = (page: Page) => page.locator('[data-selection]').textContent()

describe('the matrix of bindings', () => {
  it('binds a whole row to a global, and says that the change is live', async () => {
    const { at, url } = await makeDesk()
    const client = await connect(url)
    const { page, complaints } = await open()
    await page.goto(at('bindings'))
    await box(page, 'id string').check()
    expect(await selectionText(page)).toBe('1 row and 2 cells selected')
    await page.getByLabel('Global', { exact: true }).selectOption('desk')
    await page.getByRole('button', { name: 'Apply to selection' }).click()
    await page.getByText('2 parameters bound. Online · 1 connection.').waitFor()
    expect((await callText(client, 'track')).text).toContain('"/north"')
    expect((await callText(client, 'quote')).text).toContain('"/north"')
    expect(complaints.take()).toEqual([])
  })

  it('binds a single cell of a row', async () => {
    const { at, url } = await makeDesk()
    const { page } = await open()
    await page.goto(at('bindings'))
    await box(page, 'id string').check()
    await box(page, 'id of quote').uncheck()
    expect(await box(page, 'id string').isChecked()).toBe(false)
    expect(await selectionText(page)).toBe('0 rows and 1 cell selected')
    await page.getByLabel('New source').selectOption('fixed')
    await page.getByLabel('Fixed value', { exact: true }).fill('seven')
    await page.getByRole('button', { name: 'Apply to selection' }).click()
    await page.getByText('1 parameter bound').waitFor()
    const client = await connect(url)
    expect((await callText(client, 'track')).text).toContain('"/seven"')
    expect((await callText(client, 'quote', { id: 'asked' })).text).toContain('"/asked"')
  })

  it('can be used with the keyboard alone', async () => {
    const { at, url } = await makeDesk()
    const { page } = await open()
    await page.goto(at('bindings'))
    const rows = await page.locator('.matrix tbody th').allInnerTexts()
    expect(rows.map(text => text.trim())).toEqual(['count integer', 'id string', 'key string'])
    await box(page, 'count integer').focus()
    const focused = () => page.evaluate('document.activeElement.value')
    await page.keyboard.press('ArrowDown')
    expect(await focused()).toBe('string:id')
    await page.keyboard.press('ArrowRight')
    expect(await focused()).toMatch(/:id$/)
    await page.keyboard.press('ArrowUp')
    expect(await focused()).toMatch(/:count$/)
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Space')
    expect(await selectionText(page)).toBe('1 row and 2 cells selected')
    await page.getByLabel('Global', { exact: true }).focus()
    await page.keyboard.type('desk')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('2 parameters bound').waitFor()
    const client = await connect(url)
    expect((await callText(client, 'quote')).text).toContain('"/north"')
  })

  it('is filtered while the user types, and a selected row then covers only its visible cells', async () => {
    const { at, url, instanceIds } = await makeDesk()
    const bindings = { id: { source: 'instance', value: 'kept' } }
    await ada.expectOk('PATCH', `/instances/${instanceIds.quote}`, { bindings })
    const { page, complaints } = await open()
    await page.goto(at('bindings'))
    await page.getByLabel('Source', { exact: true }).selectOption('exposed')
    await box(page, 'id of quote').waitFor({ state: 'detached' })
    await page.getByRole('searchbox', { name: 'Search' }).fill('id')
    await box(page, 'count integer').waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('?q=id&source=exposed')
    await box(page, 'id string').check()
    await page.getByLabel('Global', { exact: true }).selectOption('desk')
    await page.getByRole('button', { name: 'Apply to selection' }).click()
    await page.getByText('1 parameter bound').waitFor()
    const client = await connect(url)
    expect((await callText(client, 'track')).text).toContain('"/north"')
    expect((await callText(client, 'quote')).text).toContain('"/kept"')
    await page.getByRole('searchbox', { name: 'Search' }).fill('nothing like it')
    await page.getByText('Nothing found').waitFor()
    expect(complaints.take()).toEqual([])
  })

  it('lists the errors, keeps the selection and the input, and changes nothing', async () => {
    const { at, instanceIds } = await makeDesk()
    const { page } = await open({ javaScriptEnabled: false })
    await page.goto(at('bindings'))
    await page.getByRole('button', { name: 'Apply to selection' }).click()
    await page.getByText('Nothing is selected').waitFor()
    await box(page, 'count integer').check()
    await page.getByLabel('New source').selectOption('fixed')
    await page.getByLabel('Fixed value', { exact: true }).fill(HOSTILE)
    await page.getByRole('button', { name: 'Apply to selection' }).click()
    const alert = page.getByRole('alert')
    await alert.getByText('Nothing was changed, because 2 of the tools do not accept this binding.').waitFor()
    expect(await alert.getByRole('listitem').allInnerTexts()).toEqual([
      'quote.count must be an integer',
      'track.count must be an integer',
    ])
    expect(await box(page, 'count integer').isChecked()).toBe(true)
    expect(await page.getByLabel('Fixed value', { exact: true }).inputValue()).toBe(HOSTILE)
    const { body } = await ada.expectOk('GET', `/instances/${instanceIds.track}`)
    expect(body).toMatchObject({ bindings: {} })
  })

  it('applies to the tools of one page or to all tools, as chosen', async () => {
    const many = Array.from({ length: 23 }, (_, index) => tool(`tool_${index}`))
    const { serverId } = await makeServer(ada, many)
    const { page } = await open({ javaScriptEnabled: false })
    const bind = async (text: string, scope: string) => {
      await page.goto(`/servers/${serverId}/bindings`)
      await box(page, 'id string').check()
      await page.getByLabel('New source').selectOption('fixed')
      await page.getByLabel('Fixed value', { exact: true }).fill(text)
      await page.getByLabel('Apply to', { exact: true }).selectOption(scope)
      await page.getByRole('button', { name: 'Apply to selection' }).click()
    }
    await bind('some', 'page')
    await page.getByText('20 parameters bound').waitFor()
    await page.getByRole('link', { name: 'Next' }).click()
    await expect.poll(() => page.locator('.matrix thead a').allInnerTexts()).toEqual(['tool_7', 'tool_8', 'tool_9'])
    await bind('every', 'all')
    await page.getByText('23 parameters bound').waitFor()
    expect(await patchbay.services.db.binding.count({ where: { instance: { serverId } } })).toBe(23)
  })
})

describe('without scripts', () => {
  it('tools can be added, one bound to a new secret, and called with it', async () => {
    const toolkit = await ada.create('/toolkits', { title: HOSTILE })
    for (const name of ['first', 'second']) await ada.create(`/toolkits/${toolkit.id}/tools`, tool(name))
    const server = await ada.create('/servers', { name: 'Fresh', access: 'public' })
    const { page } = await open({ javaScriptEnabled: false })
    await page.goto(`/servers/${server.id}/tools`)
    await page.getByRole('link', { name: 'Add tools' }).click()
    await page.getByLabel('Toolkit').selectOption({ label: `${HOSTILE}, 2 tools` })
    await page.getByRole('button', { name: 'Filter' }).click()
    await box(page, 'first').check()
    await box(page, 'second').check()
    await page.getByRole('button', { name: 'Add selected tools' }).click()
    await page.getByText('2 tools added. Online · 0 connections.').waitFor()

    const tools = page.getByRole('region', { name: 'Tools and their bindings' })
    await tools.getByRole('link', { name: 'first' }).click()
    const key = page.getByRole('group', { name: 'key' })
    await key.getByLabel('From a global or a secret').check()
    await page.getByLabel('Global for key').selectOption('+')
    await key.getByLabel('Key of the new global').fill('api_key')
    await key.getByLabel('Value of the new global').fill('sk-made-here')
    await key.getByLabel('Store as a secret').check()
    const id = page.getByRole('group', { name: 'id' })
    await id.getByLabel('A fixed value').check()
    await page.getByLabel('Fixed value of id').fill('{{absent}}')
    await page.getByRole('button', { name: 'Preview changes' }).click()
    await id.getByText('The global absent does not exist').waitFor()
    expect(await page.content()).not.toContain('sk-made-here')
    await page.getByLabel('Fixed value of id').fill('seven')
    await key.getByLabel('Value of the new global').fill('sk-made-here')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved').waitFor()
    expect(await page.getByLabel('Global for key').inputValue()).toBe('api_key')
    await callText(await connect(`${patchbay.origin}/s/${server.id}`), 'first')
    expect(fake.seen.at(-1)?.url).toBe('/seven?key=sk-made-here')
    expect(await page.content()).not.toContain('sk-made-here')

    await page.getByRole('link', { name: 'Remove from this server…' }).click()
    await page.getByLabel('Type the name to confirm').fill('wrong')
    await page.getByRole('button', { name: 'Remove tool' }).click()
    await page.getByText('The name is not first.').waitFor()
    await page.getByLabel('Type the name to confirm').fill('first')
    await page.getByRole('button', { name: 'Remove tool' }).click()
    await page.getByText('Tool removed from this server').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Tool restored').waitFor()
    await page
      .getByRole('region', { name: 'Tools and their bindings' })
      .getByRole('link', { name: 'first', exact: true })
      .waitFor()
  })

  it('a secret is kept if its field is empty, and is never shown when it is replaced or removed', async () => {
    const { at, serverId, instanceIds } = await makeDesk()
    const bindings = { key: { source: 'server', value: 'token' } }
    await ada.expectOk('PATCH', `/instances/${instanceIds.track}`, { bindings })
    const stored = () => patchbay.services.db.global.findFirstOrThrow({ where: { serverId, key: 'token' } })
    const before = await stored()
    const { page } = await open({ javaScriptEnabled: false })
    await page.goto(at('globals'))
    expect(await page.getByRole('row', { name: /token/ }).textContent()).toContain('hidden')
    await page.getByRole('link', { name: 'token' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The secret is unchanged').waitFor()
    expect(await stored()).toEqual(before)
    await page.getByLabel('Store as a secret').uncheck()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('the stored secret cannot be shown').waitFor()
    expect(await stored()).toEqual(before)
    await page.getByLabel('Store as a secret').check()
    await page.getByLabel('New value').fill('sk-second')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved').waitFor()
    expect((await stored()).value).not.toBe(before.value)
    expect(await page.content()).not.toContain('sk-second')
    await page.getByRole('link', { name: 'Remove global…' }).click()
    await page.getByText('It is used by 1 parameter in 1 tool').waitFor()
    expect(await page.getByRole('main').getByRole('listitem').filter({ hasText: 'track' }).textContent()).toContain(
      'key',
    )
    await page.getByLabel('Type the name to confirm').fill('token')
    await page.getByRole('button', { name: 'Remove global', exact: true }).click()
    await page.getByText('Global removed').waitFor()
    await page.getByRole('heading', { name: 'Missing globals' }).waitFor()
    await page.getByRole('link', { name: 'Add', exact: true }).click()
    await expect.poll(() => page.getByLabel('Key').inputValue()).toBe('token')
  })

  it('a toolkit of another organization can be added, updated and removed', async () => {
    const eve = await signUp(patchbay.origin)
    const shared = await eve.create('/toolkits', { title: `Shared ${HOSTILE}`, visibility: 'public' })
    const theirs = await eve.create(`/toolkits/${shared.id}/tools`, tool('shared_tool'))
    const server = await ada.create('/servers', { name: 'Taker' })
    const { page } = await open({ javaScriptEnabled: false })
    await page.goto(`/servers/${server.id}/sources`)
    await page.getByRole('link', { name: 'Add a toolkit' }).click()
    await page
      .getByRole('listitem')
      .filter({ hasText: `Shared ${HOSTILE}` })
      .getByRole('button')
      .click()
    await page.getByText('Toolkit added').waitFor()
    await eve.expectOk('PATCH', `/tools/${theirs.id}`, { description: 'Changed once' })
    await page.reload()
    await page.getByRole('link', { name: 'Review update' }).click()
    await page.getByText('Changed once').waitFor()
    await eve.expectOk('PATCH', `/tools/${theirs.id}`, { description: 'Changed twice' })
    await page.getByRole('button', { name: 'Accept update' }).click()
    await page.getByText('The toolkit has changed since').waitFor()
    await page.getByText('Changed twice').waitFor()
    await page.getByRole('button', { name: 'Accept update' }).click()
    await page.getByText('Update accepted').waitFor()
    await page.getByRole('link', { name: 'Remove from this server…' }).click()
    await page.getByLabel('Type the name to confirm').fill(`Shared ${HOSTILE}`)
    await page.getByRole('button', { name: 'Remove toolkit' }).click()
    await page.getByText('Toolkit removed').waitFor()
    expect(await patchbay.services.db.toolkit.count({ where: { serverId: server.id } })).toBe(0)
  })
})

describe('the page of a tool of a server', () => {
  it('updates the definition and the problems while the user types', async () => {
    const { at, instanceIds } = await makeDesk()
    const { page, complaints } = await open()
    await page.goto(at(`tools/${instanceIds.track}`))
    const schema = page.getByLabel('Input schema')
    expect(await schema.textContent()).toContain('"count"')
    const count = page.getByRole('group', { name: 'count' })
    await count.getByLabel('A fixed value').check()
    await page.locator('#seen').filter({ hasNotText: '"count"' }).waitFor()
    await page.getByLabel('Fixed value of count').fill('many')
    await page.getByLabel('Fixed value of count').blur()
    await count.getByText('The value of count must be an integer').waitFor()
    expect(await page.getByLabel('Fixed value of count').inputValue()).toBe('many')
    const { body } = await ada.expectOk('GET', `/instances/${instanceIds.track}`)
    expect(body).toMatchObject({ bindings: {} })
    expect(complaints.take()).toEqual([])
  })

  it('shows both versions when two users edit it, and overwrites only on request', async () => {
    const { at, instanceIds } = await makeDesk()
    const first = await open()
    const second = await open()
    for (const { page } of [first, second]) await page.goto(at(`tools/${instanceIds.track}`))
    const save = async (page: Page, text: string) => {
      await page.getByLabel('Description for the model').fill(text)
      await page.getByRole('button', { name: 'Save', exact: true }).click()
    }
    await save(first.page, 'The first')
    await first.page.getByText('Saved.').waitFor()
    await save(second.page, `The second ${HOSTILE}`)
    await second.page.getByText('Somebody else has changed the tool').waitFor()
    const row = await second.page.getByRole('row', { name: /^Description/ }).textContent()
    expect(row).toContain(`The second ${HOSTILE}`)
    expect(row).toContain('The first')
    const described = async () => (await ada.expectOk('GET', `/instances/${instanceIds.track}`)).body
    expect(await described()).toMatchObject({ description: 'The first' })
    await second.page.getByRole('button', { name: 'Overwrite with mine' }).click()
    await second.page.getByText('Saved.').waitFor()
    expect(await described()).toMatchObject({ description: `The second ${HOSTILE}` })
  })

  it('restores unsaved input after the session has ended', async () => {
    const { at, instanceIds } = await makeDesk()
    const { page } = await open()
    await page.goto(at(`tools/${instanceIds.track}`))
    await page.getByRole('group', { name: 'id' }).getByLabel('A fixed value').check()
    await page.getByLabel('Fixed value of id').fill('typed')
    await page.getByRole('group', { name: 'key' }).getByLabel('From a global or a secret').check()
    await page.getByLabel('Global for key').selectOption('+')
    await page.getByRole('group', { name: 'key' }).getByLabel('Value of the new global').fill('sk-typed')
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByLabel('Password').waitFor()
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('sk-typed')
    await page.context().addCookies(await cookiesOf(patchbay.origin, ada.email))
    await page.goto(at(`tools/${instanceIds.track}`))
    await page.getByRole('button', { name: 'Restore' }).click()
    await expect.poll(() => page.getByLabel('Fixed value of id').inputValue()).toBe('typed')
    await page.locator('#seen').filter({ hasNotText: '"id"' }).waitFor()
  })
})

describe('for viewers', () => {
  it('every tab is shown without forms or links that they may not use', async () => {
    const { serverId, toolkitId, instanceIds, at } = await makeDesk()
    const viewer = await signUp(patchbay.origin)
    const { db } = patchbay.services
    const { organizationId } = await db.membership.findFirstOrThrow({ where: { userId: ada.userId } })
    await db.membership.create({ data: { organizationId, userId: viewer.userId, role: 'viewer' } })
    const paths = ['tools', `tools/${instanceIds.track}`, 'sources', `sources/${toolkitId}`, 'bindings', 'globals']
    for (const path of [...paths, 'globals/token', 'globals/desk']) {
      const headers = { authorization: `Bearer ${viewer.token}` }
      const response = await fetch(`${patchbay.origin}${at(path)}`, { headers })
      const html = await response.text()
      expect([path, response.status]).toEqual([path, 200])
      // Every user can switch the theme.
      const forms = [...html.matchAll(/<form [^>]*method="post" action="([^"]*)"/g)].map(([, action]) => action)
      expect([path, forms]).toEqual([path, ['/theme']])
      expect(html).not.toMatch(new RegExp(`href="/servers/${serverId}/[^"]*/(new|remove)"`))
      expect(html).not.toContain('sk-canary')
    }
  })
})
