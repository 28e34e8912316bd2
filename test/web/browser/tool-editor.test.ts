import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { expect, it, vi } from 'vitest'
import { signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { runFakeApi, runPatchbay } from '../../support/world.ts'
import { listKeyboardFaults } from './check-page.ts'

vi.setConfig({ testTimeout: 60_000 })

const PASSWORD = 'correct horse battery staple'
const patchbay = runPatchbay()
const fake = runFakeApi()
const signIn = async (page: Page, email: string, path: '/sign-in' | '/sign-up'): Promise<void> => {
  await page.goto(path)
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: path === '/sign-up' ? 'Create account' : 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

/** Opens a page as a new user. */
const open = async (options: BrowserContextOptions = {}) => {
  const { email } = await signUp(patchbay.origin)
  return { email, ...(await openPage(patchbay.origin, { email, ...options })) }
}

const makeTool = async (page: Page): Promise<string> => {
  await page.goto('/toolkits/new-tool')
  await page.getByLabel('Name', { exact: true }).fill('get_thing')
  await page.getByLabel('URL', { exact: true }).fill(`${fake.origin}/things/{{id}}`)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/tools/*?done=created')
  return new URL(page.url()).pathname
}

const description = (page: Page) => page.getByLabel('Description for the model')
const headers = (page: Page) => page.getByRole('textbox', { name: 'Headers' })
const send = (page: Page) => page.getByRole('button', { name: 'Send' }).first().click()
const openTab = (page: Page, name: string) => page.getByRole('tab', { name }).click()

it('previews follow the input, and the tool is sent, saved and added to a server', async () => {
  const { page, complaints } = await open()
  await page.goto('/toolkits/new-tool')
  await page.getByLabel('Name', { exact: true }).fill('get_thing')
  const url = page.getByLabel('URL', { exact: true })
  await url.fill(`${fake.origin}/things/{id}?limit={{integer:limit=20}}`)
  await page.getByRole('button', { name: 'Convert to {{id}}' }).click()
  await expect.poll(() => url.inputValue()).toBe(`${fake.origin}/things/{{id}}?limit={{integer:limit=20}}`)
  const tokens = page.locator('.template', { has: url }).locator('.token')
  expect(
    await tokens.evaluateAll(all => all.map(token => [token.textContent, token.getAttribute('data-type')])),
  ).toEqual([
    ['{{id}}', 'string'],
    ['{{integer:limit=20}}', 'integer'],
  ])
  await page.getByText('2 parameters').waitFor()
  await page.getByText('"id" is missing').waitFor()

  await page.getByLabel('Description of id for the model').fill('Which thing')
  await page.getByRole('textbox', { name: 'id', exact: true }).fill('a b')
  await page.getByRole('region', { name: 'Request preview' }).getByText('/things/a%20b?limit=20').waitFor()
  await page.getByText('"Which thing"').waitFor()

  await openTab(page, 'Headers')
  await headers(page).fill('X-Limit: {{number:limit}}')
  await page.locator('#note-url .error').getByText('Use the same type').waitFor()
  await page.locator('#note-headers .error').getByText('Use the same type').waitFor()
  expect(await url.getAttribute('aria-invalid')).toBe('true')
  await page.getByRole('tab', { name: /Headers.*has an error/ }).waitFor()
  await headers(page).fill('X-Limit: {{integer:limit}}')
  await page.locator('#note-url .error').waitFor({ state: 'detached' })
  expect(await page.getByLabel('Description of id for the model').inputValue()).toBe('Which thing')

  await send(page)
  await page.getByRole('region', { name: 'Response body' }).getByText('"/things/a%20b?limit=20"').waitFor()
  await page.getByText('200 OK', { exact: true }).waitFor()
  expect(fake.seen.at(-1)).toMatchObject({ url: '/things/a%20b?limit=20', headers: { 'x-limit': '20' } })

  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Add this tool to a server' }).waitFor()
  // The form keeps the value with which the tool was tried.
  await expect.poll(() => page.getByRole('textbox', { name: 'id', exact: true }).inputValue()).toBe('a b')
  await page.getByRole('button', { name: 'Add to server' }).click()
  await page.waitForURL(/\/servers\/[0-9a-f-]{36}\?done=offered$/)
  expect(await patchbay.services.db.instance.count({ where: { name: 'get_thing' } })).toBe(1)
  expect(complaints.take()).toEqual([])
})

it('the description of a parameter is kept while its placeholder is broken and fixed', async () => {
  const { page } = await open()
  await page.goto('/toolkits/new-tool')
  const url = page.getByLabel('URL', { exact: true })
  await url.fill('https://a.example/{{id}}')
  await page.getByLabel('Description of id for the model').fill('Which thing')
  await url.fill('https://a.example/{{i')
  await page.locator('#note-url .error').waitFor()
  await page.getByLabel('Description of id for the model').waitFor({ state: 'detached' })
  await url.fill('https://a.example/{{id}}')
  await page.getByLabel('Description of id for the model').waitFor()
  expect(await page.getByLabel('Description of id for the model').inputValue()).toBe('Which thing')
})

it('the focus stays in a parameter’s row while the page updates', async () => {
  const { page } = await open()
  await page.goto('/toolkits/new-tool')
  await page.getByLabel('URL', { exact: true }).fill('https://a.example/{{id}}/{{other}}')
  const row = page.getByLabel('Description of id for the model')
  await row.focus()
  for (const word of ['Which', ' thing', ' is', ' meant']) {
    const answered = page.waitForResponse('**/tool-preview')
    await page.keyboard.type(word)
    await answered
  }
  await page.getByText('"Which thing is meant"').waitFor()
  expect(await row.inputValue()).toBe('Which thing is meant')
  expect(await page.evaluate('document.activeElement.name')).toBe('parameter:id:description')
})

it('a tool can be written, sent and saved with the keyboard alone', async () => {
  const { page } = await open()
  await page.goto('/toolkits/new-tool')
  // The URL receives the focus when the page is drawn.
  await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('url')
  await page.keyboard.type(`${fake.origin}/keys`)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.type('by_keys')
  await page.keyboard.press('Tab')
  await page.keyboard.type('Gets a thing.')
  await page.keyboard.press('Control+Enter')
  await page.getByText('200 OK', { exact: true }).waitFor()
  await page.keyboard.press('Control+s')
  await page.waitForURL('**/tools/*?done=created')
  expect(await patchbay.services.db.tool.findFirst({ where: { name: 'by_keys' } })).toMatchObject({
    description: 'Gets a thing.',
  })
  expect(await listKeyboardFaults(page)).toEqual([])
})

it('leaving a page with unsaved changes asks first, and the draft can be restored', async () => {
  const { page } = await open()
  const path = await makeTool(page)
  await page.goto(path)
  await description(page).fill('Not saved yet')
  const asked = page.waitForEvent('dialog')
  const left = page.getByRole('link', { name: 'Servers', exact: true }).click()
  const dialog = await asked
  expect(dialog.type()).toBe('beforeunload')
  await dialog.accept()
  await left
  await page.waitForURL('**/servers')

  await page.goto(path)
  await page.getByText('You have unsaved changes').waitFor()
  expect(await description(page).inputValue()).toBe('')
  await page.getByRole('button', { name: 'Restore' }).click()
  await expect.poll(() => description(page).inputValue()).toBe('Not saved yet')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/tools/*?done=saved')
  await page.goto(path)
  await page.getByRole('heading', { name: 'What the model sees' }).waitFor()
  expect(await page.getByText('You have unsaved changes').count()).toBe(0)
})

it('input survives the end of the session, and nobody else can restore it', async () => {
  const { page, context, email } = await open()
  const path = await makeTool(page)
  await page.goto(path)
  await context.clearCookies()
  await description(page).fill('Typed when the session had ended')
  await page.getByRole('alert').getByText('Sign in again in another tab').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByLabel('Password').waitFor()

  await signIn(page, 'somebody@example.com', '/sign-up')
  await page.goto(path)
  expect(await page.getByText('You have unsaved changes').count()).toBe(0)
  await context.clearCookies()

  await signIn(page, email, '/sign-in')
  await page.goto(path)
  await page.getByRole('button', { name: 'Restore' }).click()
  await expect.poll(() => description(page).inputValue()).toBe('Typed when the session had ended')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/tools/*?done=saved')
  const id = path.split('/').at(-1) ?? ''
  expect(await patchbay.services.db.tool.findUniqueOrThrow({ where: { id } })).toMatchObject({
    description: 'Typed when the session had ended',
  })
})

it('a rejected save keeps all input, also after leaving the page', async () => {
  const { page } = await open()
  await page.goto('/toolkits/new-tool')
  await page.getByLabel('URL', { exact: true }).fill('https://a.example/{{id}}')
  await page.getByLabel('Description of id for the model').fill('Which thing')
  await page.getByLabel('Name', { exact: true }).fill('订单')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('#note-name .error').waitFor()
  expect(await page.getByLabel('Description of id for the model').inputValue()).toBe('Which thing')
  page.on('dialog', dialog => dialog.accept())
  await page.goto('/toolkits')
  await page.goto('/toolkits/new-tool')
  await page.getByRole('button', { name: 'Restore' }).click()
  await page.getByLabel('Description of id for the model').waitFor()
  expect(await page.getByLabel('Description of id for the model').inputValue()).toBe('Which thing')
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('订单')
  await page.getByLabel('Name', { exact: true }).fill('taken_back')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/tools/*?done=created')
  expect(await page.getByLabel('Description of id for the model').inputValue()).toBe('Which thing')
})

it('a second tab is told that the tool was saved, and shows both versions before it overwrites', async () => {
  const { page, context } = await open()
  const path = await makeTool(page)
  const other = await context.newPage()
  await Promise.all([page.goto(path), other.goto(path)])
  await description(other).fill('From the other tab')
  await description(page).fill('From this tab')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/tools/*?done=saved')
  await other.getByText('This was saved in another tab.').waitFor()
  await other.getByRole('button', { name: 'Save changes' }).click()
  await other.getByRole('heading', { name: 'Someone else saved changes while you were editing' }).waitFor()
  const both = other.getByRole('region', { name: 'Both versions' })
  await both.getByText('From the other tab').waitFor()
  await both.getByText('From this tab').waitFor()
  await other.getByRole('link', { name: 'Use the saved version' }).click()
  await other.waitForURL(`**${path}`)
  expect(await description(other).inputValue()).toBe('From this tab')
  expect(await other.getByText('You have unsaved changes').count()).toBe(0)

  await description(other).fill('From the other tab again')
  await description(page).fill('From this tab in the end')
  await other.getByRole('button', { name: 'Save changes' }).click()
  await other.waitForURL('**/tools/*?done=saved')
  await page.keyboard.press('Control+s')
  await page.getByRole('button', { name: 'Overwrite with mine' }).click()
  await page.waitForURL('**/tools/*?done=saved')
  await expect.poll(() => description(page).inputValue()).toBe('From this tab in the end')
})

it('a tool can be written, previewed, sent, saved and added to a server without scripts', async () => {
  const { page } = await open({ javaScriptEnabled: false })
  await page.goto('/toolkits/new-tool')
  await page.getByLabel('Name', { exact: true }).fill('plainly')
  await page.getByLabel('URL', { exact: true }).fill(`${fake.origin}/:id`)
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByRole('button', { name: 'Convert to {{id}}' }).click()
  await page.getByText('1 parameter').waitFor()
  await page.getByLabel('Description of id for the model').fill('Which thing')
  await page.getByRole('textbox', { name: 'id', exact: true }).fill('7')
  await send(page)
  await page.getByText('200 OK', { exact: true }).waitFor()
  expect(fake.seen.at(-1)).toMatchObject({ url: '/7' })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Add to server' }).click()
  await page.waitForURL(/\/servers\/[0-9a-f-]{36}\?done=offered$/)
  const tool = await patchbay.services.db.tool.findFirst({ where: { name: 'plainly' } })
  expect(tool).toMatchObject({ definition: { parameters: { id: { description: 'Which thing' } } } })
})

it('the open tab is in the address, and the keyboard moves between the tabs', async () => {
  const { page } = await open()
  const path = await makeTool(page)
  await page.goto(`${path}?tab=body`)
  await page.getByRole('textbox', { name: 'Body' }).waitFor()
  await page.getByRole('tab', { name: 'Body' }).focus()
  await page.keyboard.press('ArrowRight')
  await page.getByLabel('Drop fields').waitFor()
  expect(new URL(page.url()).search).toBe('?tab=response')
  expect(await page.evaluate('document.activeElement.id')).toBe('tab-response')
  await page.keyboard.press('Home')
  await page.getByRole('region', { name: 'Table of parameters' }).waitFor()
  expect(new URL(page.url()).search).toBe('')

  await openTab(page, 'Settings')
  await page.getByLabel('Timeout (ms)').fill('soon')
  await openTab(page, 'Headers')
  await page.keyboard.press('Control+s')
  // The tab with the error opens, once the page's scripts run.
  await page.getByText('The timeout must be a whole number').waitFor()
  await page.locator('#tab-settings[aria-selected="true"]').waitFor()
  await page.getByLabel('Timeout (ms)').fill('1000')
  await page.keyboard.press('Control+s')
  await page.waitForURL('**/tools/*?done=saved&tab=settings')
  await page.getByLabel('Timeout (ms)').waitFor()
})

it('the save bar says what has changed', async () => {
  const { page } = await open()
  await page.goto(await makeTool(page))
  const bar = page.getByRole('region', { name: 'Unsaved changes' })
  await bar.getByText('No unsaved changes').waitFor()
  await description(page).fill('Gets a thing.')
  await page.getByLabel('Description of id for the model').fill('Which thing')
  await bar.getByText('Unsaved changes: Description for the model and id').waitFor()
  await bar.getByRole('link', { name: 'Discard' }).click()
  await bar.getByText('No unsaved changes').waitFor()
  expect(await description(page).inputValue()).toBe('')
  expect(await page.getByText('You have unsaved changes').count()).toBe(0)
})

it('a parameter that was added and removed again is no change', async () => {
  const { page } = await open()
  await page.goto(await makeTool(page))
  const bar = page.getByRole('region', { name: 'Unsaved changes' })
  const url = page.getByLabel('URL', { exact: true })
  const saved = await url.inputValue()
  await url.fill(`${saved}?q={{q}}`)
  await page.getByText('2 parameters').waitFor()
  await bar.getByText('Unsaved changes: URL').waitFor()
  await url.fill(saved)
  await bar.getByText('No unsaved changes').waitFor()
})

it('the type of a parameter and whether it is required are changed in the request', async () => {
  const { page } = await open()
  await page.goto(await makeTool(page))
  const url = page.getByLabel('URL', { exact: true })
  await page.getByLabel('Type of id').selectOption('Integer')
  await expect.poll(() => url.inputValue()).toBe(`${fake.origin}/things/{{integer:id}}`)
  await url.fill(`${fake.origin}/things?id={{integer:id}}`)
  await page.getByLabel('id is required').selectOption('No')
  await expect.poll(() => url.inputValue()).toBe(`${fake.origin}/things?id={{integer:id?}}`)
  await expect.poll(() => page.getByLabel('Type of id').locator('option:checked').textContent()).toBe('Integer')
  await page.getByRole('region', { name: 'Request preview' }).getByText('/things').waitFor()
})

it('auth and the kind of body are written into the request, and follow it', async () => {
  const { page, complaints } = await open()
  await page.goto(await makeTool(page))
  await openTab(page, 'Auth')
  await page.getByLabel('Auth type').selectOption('Bearer token')
  const headersText = () => page.locator('#headers').inputValue()
  await expect.poll(headersText).toBe('Authorization: Bearer {{token}}')
  await page.getByRole('tab', { name: /Auth.*has a secret/ }).waitFor()
  await page.locator('[data-part="auth"]').getByText('of the server that uses this tool').waitFor()
  expect(await page.locator('[name="parameter:token:source"]').inputValue()).toBe('secret')

  await openTab(page, 'Body')
  const body = page.getByRole('textbox', { name: 'Body' })
  await page.getByLabel('Body type').selectOption('JSON')
  await expect.poll(headersText).toBe('Authorization: Bearer {{token}}\nContent-Type: application/json')
  await body.fill('{"a":{{json:a}},"b":[{}]}')
  await page.getByRole('button', { name: 'Format' }).click()
  await expect.poll(() => body.inputValue()).toBe('{\n  "a": {{json:a}},\n  "b": [\n    {}\n  ]\n}')
  await body.fill('{"a": 1,}')
  await page.locator('#note-body .error').getByText('the body is not valid JSON').waitFor()

  await openTab(page, 'Headers')
  await headers(page).fill('X-Api-Key: {{token}}')
  await openTab(page, 'Auth')
  await page.getByText('Sent in the header X-Api-Key.').waitFor()
  expect(complaints.take()).toEqual([])
})

const isInside = async (inner: Locator, outer: Locator): Promise<boolean> => {
  const [one, other] = [await inner.boundingBox(), await outer.boundingBox()]
  return one !== null && other !== null && one.y >= other.y && one.y + one.height <= other.y + other.height
}

it('all suggestions can be reached, however many there are', async () => {
  const { page } = await open()
  await page.goto(await makeTool(page))
  const many = Array.from({ length: 20 }, (_, index) => `p${index}={{p${index}}}`)
  await page.getByLabel('URL', { exact: true }).fill(`${fake.origin}/things/{{id}}?${many.join('&')}`)
  await page.getByText('21 parameters').waitFor()
  await openTab(page, 'Headers')
  await headers(page).fill('X-Last: {{')
  const list = page.getByRole('listbox', { name: 'Suggestions' })
  await list.waitFor()
  await page.keyboard.press('ArrowUp')
  const last = list.getByRole('option', { name: 'string:' })
  expect(await last.getAttribute('aria-selected')).toBe('true')
  expect(await isInside(last, list)).toBe(true)
})

it('on a narrow screen, Send shows the response, and a refusal', async () => {
  const { page, context } = await open({ viewport: { width: 390, height: 800 } })
  await page.goto(await makeTool(page))
  await page.getByRole('textbox', { name: 'id', exact: true }).fill('7')
  await page.evaluate('scrollTo(0, 0)')
  await send(page)
  await page.getByText('200 OK', { exact: true }).waitFor()
  await expect.poll(async () => (await page.locator('#response-title').boundingBox())?.y).toBeLessThan(800)
  await context.clearCookies()
  await page.getByRole('button', { name: 'Send' }).last().click()
  const problem = page.getByRole('alert').getByText('Sign in again in another tab')
  await problem.waitFor()
  await expect.poll(async () => (await problem.boundingBox())?.y).toBeGreaterThanOrEqual(0)
})

it('what another type of body or auth removes comes back with Undo, until something is typed', async () => {
  const { page, complaints } = await open()
  await page.goto(await makeTool(page))
  await openTab(page, 'Headers')
  await headers(page).fill('Authorization: Bearer {{my_token}}\nContent-Type: application/json')
  await openTab(page, 'Body')
  const body = page.getByRole('textbox', { name: 'Body' })
  await body.fill('{"note": "{{note}}"}')
  await expect.poll(() => page.getByLabel('Body type').locator('option:checked').textContent()).toBe('JSON')
  // As the arrow keys pass the types.
  await page.getByLabel('Body type').selectOption('None')
  await expect.poll(() => body.inputValue()).toBe('')
  await page.getByLabel('Body type').selectOption('Form')
  await expect.poll(() => body.inputValue()).toBe('name={{name}}')
  await page.getByText('Changed the headers and body.').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  expect(await body.inputValue()).toBe('{"note": "{{note}}"}')
  expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
  expect(await page.evaluate('document.activeElement.id')).toBe('bodyKind')

  await openTab(page, 'Auth')
  const auth = () => page.getByLabel('Auth type').locator('option:checked').textContent()
  await expect.poll(auth).toBe('Bearer token')
  await page.getByLabel('Auth type').selectOption('None')
  const undo = page.getByRole('button', { name: 'Undo' })
  await undo.waitFor()
  expect(await page.locator('#headers').inputValue()).toBe('Content-Type: application/json')
  await description(page).fill('Notes it.')
  await undo.click()
  expect(await page.locator('#headers').inputValue()).toContain('Authorization: Bearer {{my_token}}')
  await expect.poll(auth).toBe('Bearer token')
  await page.getByLabel('Auth type').selectOption('None')
  await undo.waitFor()
  await openTab(page, 'Headers')
  await headers(page).fill('Accept: text/plain')
  await undo.waitFor({ state: 'detached' })
  expect(complaints.take()).toEqual([])
})

it('placeholders are completed with the keyboard', async () => {
  const { page, complaints } = await open()
  await page.goto(await makeTool(page))
  await openTab(page, 'Headers')
  const field = headers(page)
  await field.focus()
  await page.keyboard.type('X-Limit: {{int')
  const list = page.getByRole('listbox', { name: 'Suggestions' })
  await list.getByRole('option', { name: 'integer:' }).waitFor()
  await page.keyboard.press('Enter')
  expect(await field.inputValue()).toBe('X-Limit: {{integer:')
  // The name of a parameter of the request.
  await list.getByRole('option', { name: 'id', exact: false }).waitFor()
  await page.keyboard.press('Escape')
  await list.waitFor({ state: 'hidden' })
  await page.keyboard.type('limit}}')
  await page.keyboard.press('Enter')
  await page.keyboard.type('X-Id: {{')
  await list.waitFor()
  expect(await field.getAttribute('aria-activedescendant')).toBe('completion-0')
  await page.keyboard.press('ArrowDown')
  expect(await field.getAttribute('aria-activedescendant')).toBe('completion-1')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Tab')
  expect(await field.inputValue()).toBe('X-Limit: {{integer:limit}}\nX-Id: {{id}}')
  expect(complaints.take()).toEqual([])
})
