import { describe, expect, it, vi } from 'vitest'
import { TOKEN_ENCODING } from '../../../src/lib/tokens/tokens.ts'
import { makeServer, signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { signInToPages, textOf } from '../../support/signed-in.ts'
import { runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const HOSTILE = `<img src=x onerror="document.title='caught'"><b>bold</b>`
const THINGS_URL = 'https://api.example.com/things/{{id}}'

const GOOD_TOOL = {
  name: 'get_thing',
  method: 'GET',
  url: THINGS_URL,
  description: 'Gets a thing of the warehouse with all that is known of it.',
  parameters: { id: { description: 'Number of the thing, such as T-17.' } },
}
/** A tool without a description, whose schema OpenAI and VS Code reject. */
const REJECTED_TOOL = {
  name: 'count_things',
  method: 'GET',
  url: THINGS_URL,
  inputSchema: { type: 'object', properties: { id: { type: 'array', description: HOSTILE } } },
}

describe('token costs and suggestions for the tools of a server', () => {
  const patchbay = runPatchbay()
  const open = async (email: string, path: string) => {
    const opened = await openPage(patchbay.origin, { email })
    await opened.page.goto(path)
    return opened
  }

  it('are shown beside the fields of a tool while it is edited, disappear once fixed, and do not prevent saving', async () => {
    const owner = await signUp(patchbay.origin)
    const { page, complaints } = await open(owner.email, '/toolkits/new-tool')
    const name = page.getByLabel('Name', { exact: true })
    const notes = (field: string) => page.locator(`[id="note-${field}"] .advice`)
    await name.fill('2_things')
    await page.getByLabel('URL', { exact: true }).fill(THINGS_URL)
    await notes('name').getByText('Gemini rejects').waitFor()
    await notes('description').getByText('Without a description').waitFor()
    const parameter = page.locator('.parameters .advice')
    await parameter.getByText('The parameter "id" has no description.').waitFor()
    // Advice does not make a field invalid.
    expect(await page.locator('form#tool [aria-invalid="true"]').count()).toBe(0)

    await name.fill('get_thing')
    await page.getByLabel('Description for the model').fill(GOOD_TOOL.description)
    await page.getByLabel('Description of id for the model').fill('Number of the thing, such as T-17.')
    await page.locator('.advice').first().waitFor({ state: 'detached' })
    expect(await page.locator('.advice').count()).toBe(0)

    await page.getByRole('tab', { name: 'Settings' }).click()
    const schema = page.getByLabel('Custom input schema')
    await schema.fill(JSON.stringify({ type: 'object', properties: { id: { type: 'array', description: HOSTILE } } }))
    await notes('inputSchema').getByText('id: OpenAI and VS Code reject').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/tools/*?done=created*')
    await notes('inputSchema').getByText('id: OpenAI and VS Code reject').waitFor()
    expect(complaints.take()).toEqual([])
    expect(await page.title()).not.toBe('caught')
  })

  it('are shown on the Tools tab: tokens by tool and by presentation, and each finding with its remedy', async () => {
    const owner = await signUp(patchbay.origin)
    const { serverId } = await makeServer(owner, [GOOD_TOOL, REJECTED_TOOL], { server: { name: 'Warehouse' } })
    const { page, complaints } = await open(owner.email, `/servers/${serverId}/tools`)
    await page.getByRole('heading', { name: 'Token cost' }).waitFor()
    const table = page.getByRole('region', { name: 'Tokens by presentation' })
    await table.waitFor()
    const costs = table.getByRole('row')
    expect(await costs.filter({ hasText: 'List all tools' }).getByText('now').count()).toBe(1)
    await page.getByText(`counted with ${TOKEN_ENCODING}`).waitFor()
    const tokens = Number(await page.locator('.cost b').textContent())
    expect(tokens).toBeGreaterThan(100)
    const row = page
      .getByRole('region', { name: 'Tools and their bindings' })
      .getByRole('row')
      .filter({ hasText: REJECTED_TOOL.name })
    await row.getByRole('link', { name: '2 findings' }).click()
    const rule = page.getByRole('region', { name: 'error Array without items 1' })
    const refused = rule.getByRole('row').filter({ hasText: 'OpenAI and VS Code reject an array' })
    await page.getByRole('link', { name: 'Warnings' }).click()
    await page.waitForURL('**/tools?level=warning#lint')
    expect(await refused.count()).toBe(0)
    await page.getByRole('link', { name: /^All \d+$/ }).click()
    await refused.getByText('Add "items"').waitFor()
    await refused.getByRole('link', { name: REJECTED_TOOL.name }).click()
    await page.waitForURL(`**/servers/${serverId}/tools/*`)
    expect(complaints.take()).toEqual([])
  })

  it('are shown without scripts to every member, with what another presentation would save', async () => {
    const owner = await signUp(patchbay.origin)
    const tools = Array.from({ length: 30 }, (_, index) => ({ ...GOOD_TOOL, name: `get_thing_${index}` }))
    const { serverId } = await makeServer(owner, tools, { server: { name: 'Warehouse' } })
    const session = await signInToPages(patchbay.origin, owner.email)
    await vi.waitFor(async () => {
      expect((await session.get(`/servers/${serverId}/tools`)).html).not.toContain('Counting tokens')
    }, 30_000)
    const text = textOf((await session.get(`/servers/${serverId}/tools`)).html)
    expect(text).toMatch(/Grouped 2 [\d,]+ [\d,]+ fewer/)
    expect(text).toContain('30 warnings')
    const overview = textOf((await session.get(`/servers/${serverId}`)).html)
    expect(overview).toMatch(/The list of tools adds [\d,]+ tokens to every conversation \(counted with o200k_base\)/)

    await owner.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'grouped' })
    const grouped = await vi.waitFor(async () => {
      const shown = textOf((await session.get(`/servers/${serverId}/tools`)).html)
      expect(shown).toMatch(/Grouped now/)
      return shown
    }, 30_000)
    expect(grouped).toContain('Clients of this server do not see each tool')
  })
})
