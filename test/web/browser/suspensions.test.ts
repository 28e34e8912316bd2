import type { BrowserContextOptions } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { knock } from '../../mcp/messages.ts'
import { makeServer, signUp } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { runPatchbay, runUser } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const REASON = 'Sends spam'

describe('the operator, in a real browser', () => {
  const patchbay = runPatchbay({ isOwn: true })
  // The first account is the operator's.
  const operator = runUser(patchbay, 'operator@example.com')

  const openAs = (email: string, options: BrowserContextOptions = {}) =>
    openPage(patchbay.origin, { email, ...options })

  const openSuspensions = async (options: BrowserContextOptions = {}) => {
    const opened = await openAs(operator.email, options)
    const { page } = opened
    await page.goto('/operator/suspensions')
    const form = page.getByRole('region', { name: 'Suspend', exact: true })
    const suspend = async (kind: string, name: string): Promise<void> => {
      await form.getByLabel('What').selectOption(kind)
      await form.getByLabel('Name').fill(name)
      await form.getByLabel('Reason').fill(REASON)
      await form.getByRole('button', { name: 'Suspend' }).click()
      await page.getByText('Suspended.', { exact: true }).waitFor()
    }
    const restore = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: `Restore ${name}` }).click()
      await page.getByText('Restored.', { exact: true }).waitFor()
    }
    return { ...opened, suspend, restore }
  }

  it.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
    'suspends a user from the list of accounts, and restores them, with %o',
    async options => {
      const user = await signUp(patchbay.origin)
      const { page: theirs } = await openAs(user.email, options)
      const { page, complaints, restore } = await openSuspensions(options)
      await page.goto(`/operator/users?q=${encodeURIComponent(user.email)}`)
      await page.getByRole('link', { name: `Suspend ${user.email}` }).click()
      const form = page.getByRole('region', { name: 'Suspend', exact: true })
      expect(await form.getByLabel('Name').inputValue()).toBe(user.email)
      await form.getByLabel('Reason').fill(REASON)
      await form.getByRole('button', { name: 'Suspend' }).click()
      await page.getByRole('region', { name: 'Table of suspensions' }).getByText(REASON).waitFor()

      await theirs.goto('/servers')
      expect(new URL(theirs.url()).pathname).toBe('/sign-in')
      await theirs.getByLabel('Email').fill(user.email)
      await theirs.getByLabel('Password').fill('correct horse battery staple')
      await theirs.getByRole('button', { name: 'Sign in' }).click()
      await theirs.getByText(`The operator has suspended this account. Reason: ${REASON}.`).waitFor()

      await restore(user.email)
      await theirs.getByLabel('Password').fill('correct horse battery staple')
      await theirs.getByRole('button', { name: 'Sign in' }).click()
      await theirs.waitForURL(url => url.pathname !== '/sign-in')
      expect(complaints.take()).toEqual([])
    },
  )

  it('suspends a server: members read why, and can change nothing until it is restored', async () => {
    const owner = await signUp(patchbay.origin)
    const { serverId, url } = await makeServer(owner, [], { server: { name: 'Night desk' } })
    const { suspend, restore } = await openSuspensions()
    await suspend('server', url)
    expect(await knock(url)).toBe(403)

    const { page: theirs } = await openAs(owner.email)
    await theirs.goto(`/servers/${serverId}/settings`)
    await theirs.getByRole('alert').getByText(`Reason: ${REASON}.`).waitFor()
    await theirs.getByLabel('Name', { exact: true }).fill('Day desk')
    await theirs.getByRole('button', { name: 'Save changes' }).click()
    await expect.poll(() => theirs.getByText(`Reason: ${REASON}.`).count()).toBe(2)
    await theirs.goto(`/s/${serverId}`)
    await theirs.getByText('Clients are refused.').waitFor()

    await restore('Night desk')
    expect(await knock(url)).toBe(200)
    await theirs.goto(`/servers/${serverId}/settings`)
    expect(await theirs.getByRole('alert').count()).toBe(0)
  })

  it('suspends an organization, whose name must be unique or given as an id', async () => {
    const owner = await signUp(patchbay.origin)
    const { db } = patchbay.services
    const { organizationId: id } = await db.membership.findFirstOrThrow({ where: { userId: owner.userId } })
    await db.organization.update({ where: { id }, data: { name: 'Twin' } })
    await db.organization.create({ data: { name: 'Twin' } })
    const { page, suspend, restore } = await openSuspensions()
    const form = page.getByRole('region', { name: 'Suspend', exact: true })
    await form.getByLabel('What').selectOption('organization')
    await form.getByLabel('Name').fill('Twin')
    await form.getByLabel('Reason').fill(REASON)
    await form.getByRole('button', { name: 'Suspend' }).click()
    await page.getByText('The name is used by several organizations').waitFor()
    await suspend('organization', id)

    const { page: theirs } = await openAs(owner.email)
    await theirs.goto(`/organizations/${id}/members`)
    await theirs.getByText(`Reason: ${REASON}.`).waitFor()
    await restore('Twin')
  })

  it('blocks a destination, and allows it again', async () => {
    const { page, complaints } = await openSuspensions()
    const form = page.getByRole('region', { name: 'Block a destination' })
    await form.getByLabel('Origin').fill('https://api.example.com/v1')
    await form.getByLabel('Reason').fill(REASON)
    await form.getByRole('button', { name: 'Block destination' }).click()
    await page
      .getByRole('region', { name: 'Table of blocked destinations' })
      .getByText('https://api.example.com')
      .waitFor()
    await page.getByRole('button', { name: 'Allow https://api.example.com' }).click()
    await page.getByText('No destination is blocked').waitFor()
    expect(complaints.take()).toEqual([])
  })
})
