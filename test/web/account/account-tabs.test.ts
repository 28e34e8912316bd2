import { describe, expect, it, vi } from 'vitest'
import { createPageBrowser } from '../../support/page-browser.ts'
import { PASSWORD, runPeople } from './people.ts'

vi.setConfig({ testTimeout: 30_000 })

const HOSTILE = `"><script>alert(1)</script>`

describe('the account tabs', () => {
  const { patchbay, person } = runPeople()
  /** Signs up first and becomes the operator, so that no other user is the only operator. */
  const operator = person
  const signIn = async (browser: ReturnType<typeof createPageBrowser>, email: string) =>
    (await browser.submit('/sign-in', { email, password: PASSWORD })).status

  it('link to each other and mark the current one', async () => {
    const { browser } = await operator()
    const { html } = await browser.get('/account')
    const tabs = [...html.matchAll(/<li><a href="(\/account[^"]*)"( aria-current="page")?>/g)]
    expect(tabs.filter(([, , current]) => current !== undefined).map(([, href]) => href)).toEqual(['/account'])
    for (const [, href = ''] of tabs) {
      const tab = await browser.get(href)
      expect([href, tab.status]).toEqual([href, 200])
      expect(tab.html).toContain(`<a href="${href}" aria-current="page">`)
    }
    expect(tabs).toHaveLength(9)
  })

  describe('the tokens tab', () => {
    it('creates a working token that is shown once, and revokes it after its name is typed', async () => {
      const { browser, userId } = await person()
      await browser.get('/account/tokens')
      const made = await browser.submit('/account/tokens', { name: HOSTILE, scopes: 'read', expiresInDays: '7' })
      const [, token = ''] = /value="(pb[^"]+)"/.exec(made.html) ?? []
      const me = () => fetch(`${patchbay.origin}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } })
      expect((await me()).status).toBe(200)
      const { id, scopes, expiresAt, createdAt } = await patchbay.services.db.accessToken.findFirstOrThrow({
        where: { userId },
      })
      expect([scopes, Math.round((expiresAt.getTime() - createdAt.getTime()) / 86_400_000)]).toEqual([['read'], 7])
      const list = await browser.get('/account/tokens')
      expect(list.html).not.toContain(token)
      expect(list.html).not.toContain('<script>alert')
      await browser.get(`/account/tokens/${id}/removal`)
      const refused = await browser.submit(`/account/tokens/${id}/removal`, { sure: 'something else' })
      expect([refused.status, (await me()).status]).toEqual([400, 200])
      const revoked = await browser.submit(`/account/tokens/${id}/removal`, { sure: HOSTILE })
      expect(revoked.location).toBe('/account/tokens?done=revoked')
      expect((await me()).status).toBe(401)
    })

    it('accepts several scopes, and shows an error next to a missing field without losing the rest', async () => {
      const { browser, userId } = await person()
      const { cookies } = browser
      await browser.get('/account/tokens')
      const none = await browser.submit('/account/tokens', { name: 'kept', expiresInDays: '30' })
      expect(none.status).toBe(400)
      expect(none.html).toMatch(/id="scopes-error">.*The scopes are missing: select at least one\./)
      expect(none.html).toContain('value="kept"')
      expect(none.html).toContain('<option value="30" selected>')
      const [, csrf = ''] = /name="_csrf" value="([^"]*)"/.exec(none.html) ?? []
      const body = new URLSearchParams({ _csrf: csrf, name: 'both', expiresInDays: '365' })
      for (const scope of ['read', 'mcp']) body.append('scopes', scope)
      const cookie = [...cookies].map(pair => pair.join('=')).join('; ')
      const headers = { cookie, origin: patchbay.origin, 'x-forwarded-for': '198.51.100.200' }
      expect((await fetch(`${patchbay.origin}/account/tokens`, { method: 'POST', headers, body })).status).toBe(200)
      expect(await patchbay.services.db.accessToken.findFirst({ where: { userId } })).toMatchObject({
        scopes: ['read', 'mcp'],
      })
    })

    it('neither shows nor revokes tokens of other users', async () => {
      const [one, other] = [await person(), await person()]
      await one.browser.get('/account/tokens')
      await one.browser.submit('/account/tokens', { name: 'mine', scopes: 'read', expiresInDays: '7' })
      const { id } = await patchbay.services.db.accessToken.findFirstOrThrow({ where: { userId: one.userId } })
      expect((await other.browser.get('/account/tokens')).html).not.toContain('mine')
      expect((await other.browser.get(`/account/tokens/${id}/removal`)).status).toBe(404)
      await other.browser.get('/account/tokens')
      expect((await other.browser.submit(`/account/tokens/${id}/removal`, { sure: 'mine' })).status).toBe(404)
    })
  })

  describe('the organizations tab', () => {
    it('links to leaving each organization, and does not let the last owner leave', async () => {
      const [one, other] = [await person(), await person()]
      const { db } = patchbay.services
      await db.organization.update({ where: { id: other.organizationId }, data: { name: HOSTILE } })
      await db.membership.create({
        data: { organizationId: other.organizationId, userId: one.userId, role: 'builder' },
      })
      const path = `/organizations/${other.organizationId}/members/${one.userId}/removal`
      expect((await one.browser.get('/account/organizations')).html).toContain(`href="${path}"`)
      await one.browser.get(path)
      expect((await one.browser.submit(path, {})).location).toBe('/organizations?done=left')
      expect((await one.browser.get(path)).status).toBe(404)
      const lastPath = `/organizations/${other.organizationId}/members/${other.userId}/removal`
      await other.browser.get(lastPath)
      const last = await other.browser.submit(lastPath, {})
      expect([last.status, last.html]).toEqual([409, expect.stringContaining('This is the last owner')])
      expect(last.html).not.toContain('<script>alert')
    })
  })

  describe('the deletion tab', () => {
    it('requires decisions about organizations and the password, and keeps the choices after an error', async () => {
      const [one, heir] = [await person(), await person()]
      const { db } = patchbay.services
      const { organizationId, userId } = one
      await db.membership.create({ data: { organizationId, userId: heir.userId, role: 'builder' } })
      const field = `organization-${organizationId}`
      const page = await one.browser.get('/account/deletion')
      expect(page.html).toContain(`Transfer to ${heir.email} (builder)`)
      const undecided = await one.browser.submit('/account/deletion', { password: PASSWORD })
      expect(undecided.status).toBe(400)
      expect(undecided.html).toMatch(/-error">.*The choice is missing: choose what should happen to it\./)
      const wrong = await one.browser.submit('/account/deletion', { [field]: heir.userId, password: 'wrong password' })
      expect(wrong.status).toBe(403)
      expect(wrong.html).toContain('The password is wrong.')
      expect(wrong.html).toContain(`<option value="${heir.userId}" selected>`)
      expect(await db.user.count({ where: { id: userId } })).toBe(1)
      const gone = await one.browser.submit('/account/deletion', { [field]: heir.userId, password: PASSWORD })
      expect([gone.status, gone.html]).toEqual([200, expect.stringContaining('Account deleted')])
      expect(gone.html).not.toContain('Sign out')
      expect(await db.user.count({ where: { id: userId } })).toBe(0)
      expect(await db.membership.findFirst({ where: { organizationId } })).toMatchObject({
        userId: heir.userId,
        role: 'owner',
      })
      expect(await signIn(createPageBrowser(patchbay.origin), one.email)).toBe(401)
    })

    it('rejects a decision about an organization of other users', async () => {
      const [one, other] = [await person(), await person()]
      await one.browser.get('/account/deletion')
      const fields = {
        [`organization-${one.organizationId}`]: 'remove',
        [`organization-${other.organizationId}`]: 'remove',
        password: PASSWORD,
      }
      expect((await one.browser.submit('/account/deletion', fields)).status).toBe(200)
      const left = await patchbay.services.db.organization.findMany({
        where: { id: { in: [one.organizationId, other.organizationId] } },
      })
      expect(left.map(({ id }) => id)).toEqual([other.organizationId])
    })
  })
})
