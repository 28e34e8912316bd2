import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, it, vi } from 'vitest'
import { signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { startPatchbay } from '../../support/process.ts'
import { runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const TOKEN = 'sk-live-4f9XbQ27TzLmWc81RyVn05Ke'
const COMMAND = `$ curl -X PUT 'https://api.carrier.example/v1/orders/17?expand=items' \\
    -H 'Authorization: Bearer ${TOKEN}' \\
    --json '{"note": "hello"}'
`

const open = async (origin: string) => {
  const { email } = await signUp(origin)
  const opened = await openPage(origin, { email, permissions: ['clipboard-read', 'clipboard-write'] })
  await opened.page.goto('/toolkits/new-tool')
  return opened
}
const urlOf = (page: Page) => page.getByLabel('URL', { exact: true })
/** Waits until the parameter of the token is bound to a secret. */
const secretIsBound = async (page: Page): Promise<void> => {
  await expect.poll(() => page.locator('[name="parameter:access_token:source"]').inputValue()).toBe('secret')
  expect(await page.getByLabel('Key of the global for access_token').inputValue()).toBe('carrier_access_token')
}
const paste = async (page: Page, text: string): Promise<void> => {
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
  await urlOf(page).focus()
  await page.keyboard.press('Control+v')
}

/** What the browser has stored, the state of the history, the values of all fields, and the page. */
const EVERYTHING = `JSON.stringify([
  { ...localStorage },
  { ...sessionStorage },
  history.state,
  [...document.querySelectorAll('input, textarea, select')].map(({ value }) => value),
  document.documentElement.outerHTML,
])`
const everythingIn = async (page: Page): Promise<string> => String(await page.evaluate(EVERYTHING))
const draftIn = async (page: Page): Promise<string> =>
  String(await page.evaluate('JSON.stringify({ ...localStorage })'))

it('a pasted command fills in the form, and its token is nowhere: browser, page, database, log', async () => {
  const patchbay = await startPatchbay({ env: { PATCHBAY_LOG_LEVEL: 'trace' } })
  const { page, complaints } = await open(patchbay.origin)
  const sent: string[] = []
  page.on('request', request => {
    if (request.postData()?.includes(TOKEN)) sent.push(new URL(request.url()).pathname)
  })
  await page.getByLabel('Description for the model').fill('Changes an order.')
  await urlOf(page).fill('https://before.example/{{id}}')
  await page.getByLabel('Description of id for the model').fill('Which one')

  await paste(page, COMMAND)
  await page.getByText('Set carrier_access_token as a secret on the server that uses this tool.').waitFor()
  expect(await urlOf(page).inputValue()).toBe('https://api.carrier.example/v1/orders/17?expand={{expand}}')
  expect(await page.getByLabel('Method').inputValue()).toBe('PUT')
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('put_order')
  expect(await page.locator('#body').inputValue()).toBe('{"note": "hello"}')
  await secretIsBound(page)
  expect(await page.getByLabel('Default of expand').inputValue()).toBe('items')
  await expect.poll(() => draftIn(page)).toContain('{{access_token}}')
  expect(await everythingIn(page)).not.toContain(TOKEN)

  await page.getByRole('button', { name: 'Undo' }).click()
  expect(await urlOf(page).inputValue()).toBe('https://before.example/{{id}}')
  expect(await page.getByLabel('Method').inputValue()).toBe('GET')
  expect(await page.locator('#body').inputValue()).toBe('')
  expect(await page.getByLabel('Description for the model').inputValue()).toBe('Changes an order.')
  await expect.poll(() => page.getByLabel('Description of id for the model').inputValue()).toBe('Which one')
  await expect.poll(() => page.locator('[name="parameter:access_token:key"]').count()).toBe(0)

  await paste(page, COMMAND)
  await secretIsBound(page)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/tools/*?done=created*')
  await secretIsBound(page)
  expect(await everythingIn(page)).not.toContain(TOKEN)
  expect(sent).toEqual(['/tool-preview', '/tool-preview'])
  expect(complaints.take()).toEqual([])

  const { stdout, stderr } = await patchbay.stop()
  expect(stdout).toContain('"level":')
  expect(stdout + stderr).not.toContain(TOKEN)
  const folder = dirname(patchbay.databaseFile)
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter(file => file.isFile())
  const contents = await Promise.all(files.map(file => readFile(join(file.parentPath, file.name), 'latin1')))
  expect(contents.some(text => text.includes('carrier_access_token'))).toBe(true)
  expect(contents.filter(text => text.includes(TOKEN))).toEqual([])
})

const patchbay = runPatchbay()

it('a pasted command that cannot be read leaves the form as it is', async () => {
  const { page } = await open(patchbay.origin)
  await urlOf(page).fill('https://before.example/')
  await paste(page, `curl https://a.example -H 'Authorization: Bearer ${TOKEN}`)
  await page.locator('#note-url').getByText('Line 1, column 27: in the cURL command, the quote').waitFor()
  expect(await urlOf(page).inputValue()).toBe('https://before.example/')
  expect(await urlOf(page).getAttribute('aria-invalid')).toBe('true')
  expect(await everythingIn(page)).not.toContain(TOKEN)
})

it('other text is pasted as usual', async () => {
  const { page } = await open(patchbay.origin)
  await paste(page, 'https://curl.example/curl x')
  expect(await urlOf(page).inputValue()).toBe('https://curl.example/curl x')
})

it('the values of a pasted URL become parameters, and Undo brings the URL back', async () => {
  const { page, complaints } = await open(patchbay.origin)
  await paste(page, 'https://api.carrier.example/v1/orders/17?limit=20')
  await page.getByText('Filled in from the URL.').waitFor()
  await expect
    .poll(() => urlOf(page).inputValue())
    .toBe('https://api.carrier.example/v1/orders/{{integer:order_id}}?limit={{integer:limit}}')
  await expect.poll(() => page.getByLabel('Default of limit').inputValue()).toBe('20')
  await page.getByRole('region', { name: 'Request preview' }).getByText('/v1/orders/17?limit=20').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  expect(await urlOf(page).inputValue()).toBe('https://api.carrier.example/v1/orders/17?limit=20')
  await page.getByRole('button', { name: 'Make parameters' }).click()
  await page.getByText('Filled in from the URL.').waitFor()

  await urlOf(page).fill('')
  await paste(page, 'https://api.carrier.example/status')
  await expect.poll(() => urlOf(page).inputValue()).toBe('https://api.carrier.example/status')
  expect(complaints.take()).toEqual([])
})

it('the secret of a pasted URL is nowhere: browser, page, database', async () => {
  const { page } = await open(patchbay.origin)
  await paste(page, `POST https://api.carrier.example/v1/orders?expand=items&api_key=${TOKEN}`)
  await page.getByText('The values of secrets were not kept. Set carrier_api_key as a secret').waitFor()
  expect(await urlOf(page).inputValue()).toBe(
    'https://api.carrier.example/v1/orders?expand={{expand}}&api_key={{api_key}}',
  )
  expect(await page.getByLabel('Method').inputValue()).toBe('POST')
  await expect.poll(() => page.locator('[name="parameter:api_key:source"]').inputValue()).toBe('secret')
  await expect.poll(() => draftIn(page)).toContain('{{api_key}}')
  expect(await everythingIn(page)).not.toContain(TOKEN)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/tools/*?done=created')
  expect(await everythingIn(page)).not.toContain(TOKEN)
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  const tool = await patchbay.services.db.tool.findUniqueOrThrow({ where: { id } })
  expect(tool.definition).toMatchObject({
    parameters: { api_key: { binding: { key: 'carrier_api_key', secret: true } } },
  })
  expect(JSON.stringify(tool)).not.toContain(TOKEN)
})

it('a typed command is no draft, and fills in the form when asked', async () => {
  const { page } = await open(patchbay.origin)
  await page.getByLabel('Description for the model').fill('Changes an order.')
  await urlOf(page).fill(COMMAND)
  await page.getByText('This is a cURL command.').waitFor()
  await expect.poll(() => draftIn(page)).toContain('Changes an order.')
  expect(await draftIn(page)).not.toContain(TOKEN)
  await page.getByRole('button', { name: 'Fill in the form' }).click()
  await secretIsBound(page)
  await page.getByRole('button', { name: 'Fill in the form' }).waitFor({ state: 'detached' })
  expect(await everythingIn(page)).not.toContain(TOKEN)
  expect(await page.evaluate('document.activeElement?.id')).toBe('url')
})

it('a command in a block of Markdown is no draft either', async () => {
  const { page } = await open(patchbay.origin)
  await paste(page, `\`\`\`bash\n${COMMAND}\`\`\`\n`)
  await secretIsBound(page)
  await expect.poll(() => draftIn(page)).toContain('{{access_token}}')
  expect(await everythingIn(page)).not.toContain(TOKEN)
})

it('Undo keeps what was typed into other fields after the paste', async () => {
  const { page } = await open(patchbay.origin)
  await urlOf(page).fill('https://before.example/')
  await paste(page, COMMAND)
  await secretIsBound(page)
  await page.getByLabel('Description for the model').fill('Changes an order.')
  await page.getByRole('button', { name: 'Undo' }).click()
  expect(await urlOf(page).inputValue()).toBe('https://before.example/')
  expect(await page.getByLabel('Description for the model').inputValue()).toBe('Changes an order.')
})
