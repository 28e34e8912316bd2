import type { Page } from 'playwright-core'
import { expect, it, vi } from 'vitest'
import { makeServer, signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const patchbay = runPatchbay()

/** Opens the editor for a new tool with a JSON parameter. */
const open = async () => {
  const { email } = await signUp(patchbay.origin)
  const opened = await openPage(patchbay.origin, { email })
  await opened.page.goto('/toolkits/new-tool')
  await opened.page.getByLabel('URL', { exact: true }).fill('https://api.example.com/pickups?contact={{json:contact}}')
  await opened.page.getByText('Members of contact').click()
  return opened
}
const textOf = (page: Page) => page.locator('[id="parameter:contact:schema"]')
const seen = (page: Page) => page.getByRole('region', { name: 'Input schema' })
const schemaOf = async (page: Page): Promise<unknown> => JSON.parse(await textOf(page).inputValue())

it('members are added, described and nested, and the model sees them', async () => {
  const { page, complaints } = await open()
  await page.getByLabel('Structure of contact').selectOption('Object')
  await page.getByRole('button', { name: 'Add a member to contact' }).click()
  await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Name of the member')
  await page.keyboard.type('name')
  await page.getByLabel('contact.name is required').check()
  await page.getByLabel('Description of contact.name').fill('Full name')
  await page.getByRole('button', { name: 'Add a member to contact' }).click()
  await page.keyboard.type('packages')
  await page.getByLabel('Type of contact.packages').selectOption('List')
  await page.getByLabel('Type of each item of contact.packages').selectOption('Object')
  await page.getByRole('button', { name: 'Add a member to each item of contact.packages' }).click()
  await page.keyboard.type('service')
  await page.getByLabel('Allowed values of each item of contact.packages.service').fill('standard\nexpress')
  expect(await schemaOf(page)).toEqual({
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Full name' },
      packages: {
        type: 'array',
        items: { type: 'object', properties: { service: { type: 'string', enum: ['standard', 'express'] } } },
      },
    },
    required: ['name'],
  })
  await seen(page).getByText('"Full name"').waitFor()
  // The preview has replaced the rows, but not what is edited.
  expect(await page.getByLabel('Allowed values of each item of contact.packages.service').inputValue()).toBe(
    'standard\nexpress',
  )
  expect(await page.evaluate('document.activeElement.ariaLabel')).toBe(
    'Allowed values of each item of contact.packages.service',
  )
  await page.getByLabel('Name', { exact: true }).fill('book')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/tools/*?done=created*')
  await expect.poll(() => page.getByLabel('Name of the member').count()).toBe(3)
  expect(complaints.take()).toEqual([])
})

it('the focus stays in a member while the page updates, and its text follows', async () => {
  const { page } = await open()
  await page.getByLabel('Structure of contact').selectOption('Object')
  await page.getByRole('button', { name: 'Add a member to contact' }).click()
  for (const letter of 'phone') {
    const answered = page.waitForResponse('**/tool-preview')
    await page.keyboard.type(letter)
    await answered
  }
  await seen(page).getByText('"phone"').waitFor()
  expect(await schemaOf(page)).toEqual({ type: 'object', properties: { phone: { type: 'string' } } })
  await page.getByRole('button', { name: 'Remove contact.phone' }).click()
  expect(await schemaOf(page)).toEqual({ type: 'object' })
  expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Add a member to contact')
})

it('the members follow the text, and a name that another member has is refused', async () => {
  const { page } = await open()
  await page.getByText('Allowed values, limits and schema of contact').click()
  await textOf(page).fill('{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}')
  const names = page.getByLabel('Name of the member')
  await expect.poll(() => names.evaluateAll(all => all.map(one => 'value' in one && one.value))).toEqual(['a', 'b'])
  await names.nth(1).fill('a')
  expect(await names.nth(1).getAttribute('aria-invalid')).toBe('true')
  expect(await schemaOf(page)).toMatchObject({ properties: { a: { type: 'string' }, b: { type: 'integer' } } })
})

it('a schema that the list cannot show is not changed', async () => {
  const owner = await signUp(patchbay.origin)
  const schema = { type: 'object', properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } } }
  const definition = {
    name: 'pick',
    method: 'GET',
    url: 'https://api.example.com/?ids={{json:contact}}',
    parameters: { contact: { schema } },
  }
  const { toolIds } = await makeServer(owner, [definition])
  const { page } = await openPage(patchbay.origin, { email: owner.email })
  await page.goto(`/tools/${toolIds.pick}`)
  await page.getByText('The schema says more than a table of members can show.').waitFor()
  await page.getByLabel('Description for the model').fill('Picks.')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/tools/*?done=saved*')
  expect((await owner.expectOk('GET', `/tools/${toolIds.pick}`)).body).toMatchObject({
    description: 'Picks.',
    parameters: { contact: { schema } },
  })
})
