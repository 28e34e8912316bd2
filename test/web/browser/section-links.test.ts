import { beforeAll, describe, expect, it, vi } from 'vitest'
import { type ApiClient, makeServer, signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

describe('the links to the sections of the settings', () => {
  const patchbay = runPatchbay()
  let owner: ApiClient & { email: string }
  let path = ''
  beforeAll(async () => {
    owner = await signUp(patchbay.origin)
    const { serverId } = await makeServer(owner, [])
    path = `/servers/${serverId}/settings`
  })

  it('mark the section that is scrolled to, and the one that was chosen although it is too low', async () => {
    const { page } = await openPage(patchbay.origin, { email: owner.email, viewport: { width: 1_280, height: 900 } })
    await page.goto(path)
    const links = page.getByRole('navigation', { name: 'Sections' })
    const current = () => links.locator('[aria-current="location"]').allTextContents()
    await expect.poll(current).toEqual(['General'])
    await page.locator('#tool-list').evaluate(section => section.scrollIntoView())
    await expect.poll(current).toEqual(['Tool list'])
    for (const name of ['MCP servers', 'Results', 'Danger zone', 'General']) {
      await links.getByRole('link', { name }).click()
      await expect.poll(current).toEqual([name])
    }
    await page.mouse.move(640, 500)
    await page.mouse.wheel(0, 20_000)
    await expect.poll(current).toEqual(['Danger zone'])
    await page.mouse.wheel(0, -20_000)
    await expect.poll(current).toEqual(['General'])
  })

  it('mark the section in the address', async () => {
    const { page } = await openPage(patchbay.origin, { email: owner.email, viewport: { width: 390, height: 900 } })
    await page.goto(`${path}#mcp-servers`)
    const current = page.getByRole('navigation', { name: 'Sections' }).locator('[aria-current]')
    await expect.poll(() => current.allTextContents()).toEqual(['MCP servers'])
  })
})
