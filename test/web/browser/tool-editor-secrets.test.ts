import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { startPatchbay } from '../../support/process.ts'
import { runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const VALUE = 'kf-4f9XbQ27TzLmWc81RyVn05Ke'

/** Opens the editor from the page of a new server, with a parameter that is kept as a secret. */
const open = async (origin: string) => {
  const { email, ...owner } = await signUp(origin)
  const server = await owner.create('/servers', { name: 'Desk' })
  const opened = await openPage(origin, { email })
  const { page } = opened
  await page.goto(`/toolkits/new-tool?server=${server.id}`)
  await page.getByLabel('URL', { exact: true }).fill('https://api.carrier.example/track')
  await page.getByRole('tab', { name: 'Headers' }).click()
  await page.getByRole('textbox', { name: 'Headers' }).fill('Authorization: Bearer {{token}}')
  await page.getByRole('tab', { name: /Parameters/ }).click()
  await valueField(page).waitFor()
  const globals = async () =>
    z
      .looseObject({ items: z.array(z.looseObject({ key: z.string() })) })
      .parse((await owner.expectOk('GET', `/servers/${server.id}/globals`)).body).items
  return { ...opened, serverId: server.id, globals }
}
const valueField = (page: Page) => page.getByLabel('Value of token for Desk')
const everythingIn = async (page: Page): Promise<string> =>
  String(
    await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state, location.href, document.documentElement.outerHTML])',
    ),
  )

it('the value of a secret goes to Patchbay once, and is nowhere else: browser, page, database, log', async () => {
  const patchbay = await startPatchbay({ env: { PATCHBAY_LOG_LEVEL: 'trace' } })
  const { page, complaints, globals } = await open(patchbay.origin)
  const sent: string[] = []
  page.on('request', request => {
    if (request.postData()?.includes(VALUE)) sent.push(new URL(request.url()).pathname)
  })
  await valueField(page).fill(VALUE)
  const previewed = page.waitForResponse('**/tool-preview')
  await page.getByLabel('Description for the model').fill('Finds a shipment.')
  await previewed
  expect(await valueField(page).inputValue()).toBe(VALUE)
  await expect.poll(() => everythingIn(page)).toContain('draft:')
  expect(await everythingIn(page)).not.toContain(VALUE)

  await valueField(page).press('Enter')
  await page.getByText('Stored on Desk as token, encrypted.').waitFor()
  await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('parameter:token:source')
  expect(await globals()).toMatchObject([{ key: 'token', secret: true, origins: ['https://api.carrier.example'] }])
  expect(sent).toEqual(['/tool-secret'])

  await page.getByLabel('Name', { exact: true }).fill('track')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/tools/*?done=created*')
  expect(await everythingIn(page)).not.toContain(VALUE)
  expect(sent).toEqual(['/tool-secret'])
  expect(complaints.take()).toEqual([])

  const { stdout, stderr } = await patchbay.stop()
  expect(stdout).toContain('"level":')
  expect(stdout + stderr).not.toContain(VALUE)
  const folder = dirname(patchbay.databaseFile)
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter(file => file.isFile())
  const contents = await Promise.all(files.map(file => readFile(join(file.parentPath, file.name), 'latin1')))
  expect(contents.some(text => text.includes('https://api.carrier.example'))).toBe(true)
  expect(contents.filter(text => text.includes(VALUE))).toEqual([])
})

const patchbay = runPatchbay()

it('a typed value is stored by Save, and not for another server that is chosen meanwhile', async () => {
  const { page, globals } = await open(patchbay.origin)
  await valueField(page).fill(VALUE)
  await page.getByLabel('Values from').selectOption('')
  await page.getByText('You are asked for the value when the tool is added to a server.').waitFor()
  await page.getByLabel('Values from').selectOption('Desk')
  await valueField(page).waitFor()
  expect(await valueField(page).inputValue()).toBe('')

  await valueField(page).fill(VALUE)
  await page.getByLabel('Name', { exact: true }).fill('track')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/tools/*?done=created*')
  await page.getByText('Stored on Desk as token, encrypted.').waitFor()
  expect(await globals()).toMatchObject([{ key: 'token', secret: true }])
})

it('a value that is refused stays typed, and its fault is beside it', async () => {
  const { page, globals } = await open(patchbay.origin)
  await page.getByRole('button', { name: 'Store the value of token' }).click()
  await page.getByText('Enter the value.').waitFor()
  const long = 'x'.repeat(20_000)
  await valueField(page).fill(long)
  await page.getByRole('button', { name: 'Store the value of token' }).click()
  await page.getByText('A secret can have at most').waitFor()
  expect(await valueField(page).inputValue()).toBe(long)
  expect(await globals()).toEqual([])
})
