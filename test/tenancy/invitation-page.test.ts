import { describe, expect, it } from 'vitest'
import { createPageBrowser } from '../support/page-browser.ts'
import { organizationsOf, type Person, runPatchbay } from '../support/world.ts'

const PASSWORD = 'correct horse battery staple'

describe('the invitation page', () => {
  const world = runPatchbay({ hasMail: true, env: { PATCHBAY_SIGNUP: 'open' } })

  const invite = async (owner: Person, email: string): Promise<string> => {
    const invitation = { email, role: 'builder' }
    await owner.expectOk('POST', `/organizations/${owner.organizationId}/invitations`, invitation)
    return world.linkTo(email)
  }
  const signedIn = async (email: string) => {
    const browser = createPageBrowser(world.origin)
    await browser.get('/sign-in')
    expect((await browser.submit('/sign-in', { email, password: PASSWORD })).status).toBe(303)
    return browser
  }

  it('shows who invites whom to what, and lets a new user sign up with just a password', async () => {
    const owner = await world.person()
    const name = '<b>Engines & "Co"</b>'
    await owner.expectOk('PATCH', `/organizations/${owner.organizationId}`, { name })
    const token = await invite(owner, 'stranger@example.com')
    const browser = createPageBrowser(world.origin)
    const page = await browser.get(`/invitation?token=${token}`)
    expect(page.status).toBe(200)
    expect(page.html).toContain(owner.email)
    expect(page.html).toContain('stranger@example.com')
    expect(page.html).toContain('&lt;b&gt;Engines &amp; ')
    expect(page.html).not.toContain('<b>Engines')
    expect(page.html).toContain(`href="/sign-in?return_to=%2Finvitation%3Ftoken%3D${token}"`)

    const weak = await browser.submit('/invitation/sign-up', { token, password: 'short' })
    expect(weak.status).toBe(400)
    expect(weak.html).toContain('The password must have')
    const done = await browser.submit('/invitation/sign-up', { token, password: PASSWORD })
    expect([done.status, done.location]).toEqual([303, '/'])
    expect((await browser.get('/account')).html).toContain('stranger@example.com')
    const joined = await world.db.membership.findMany({ where: { user: { email: 'stranger@example.com' } } })
    expect(joined).toMatchObject([{ organizationId: owner.organizationId, role: 'builder' }])
    expect((await browser.get(`/invitation?token=${token}`)).status).toBe(404)
  })

  it('lets a user join with a button after signing in', async () => {
    const [owner, guest] = [await world.person(), await world.person()]
    const token = await invite(owner, guest.email)
    const browser = createPageBrowser(world.origin)
    const returnTo = `/invitation?token=${token}`
    await browser.get(`/sign-in?${new URLSearchParams({ return_to: returnTo })}`)
    const signIn = await browser.submit('/sign-in', { email: guest.email, password: PASSWORD })
    expect(signIn.location).toBe(returnTo)
    const page = await browser.get(returnTo)
    expect(page.html).toContain(`Join as ${guest.email}`)
    const done = await browser.submit('/invitation', { token })
    expect(done.status).toBe(200)
    expect(done.html).toContain('You have joined')
    expect((await organizationsOf(guest)).map(({ id }) => id)).toContain(owner.organizationId)
  })

  it('offers users signed in with another email to sign out, and does not let them join', async () => {
    const [owner, guest, other] = [await world.person(), await world.person(), await world.person()]
    const token = await invite(owner, guest.email)
    const browser = await signedIn(other.email)
    const page = await browser.get(`/invitation?token=${token}`)
    expect(page.html).toContain(`You are signed in as ${other.email}`)
    expect(page.html).not.toContain('action="/invitation"')
    expect((await browser.submit('/invitation', { token })).status).toBe(403)
    expect(await organizationsOf(other)).toHaveLength(1)
    const out = await browser.submit('/sign-out', { return_to: `/invitation?token=${token}` })
    expect(out.location).toBe(`/invitation?token=${token}`)
  })

  it('rejects requests without the CSRF token or from another origin', async () => {
    const [owner, guest] = [await world.person(), await world.person()]
    const token = await invite(owner, guest.email)
    const browser = await signedIn(guest.email)
    await browser.get(`/invitation?token=${token}`)
    expect((await browser.submit('/invitation', { token, _csrf: 'guess' })).status).toBe(403)
    await browser.get(`/invitation?token=${token}`)
    const foreign = await browser.submit('/invitation', { token }, { origin: 'https://evil.example' })
    expect(foreign.status).toBe(403)
    expect(await organizationsOf(guest)).toHaveLength(1)
  })

  it.each(['', '?token=', `?token=${'a'.repeat(43)}`, '?token=a&token=b', `?token=${'a'.repeat(5_000)}`])(
    'with %j says that the link is over',
    async query => {
      const page = await createPageBrowser(world.origin).get(`/invitation${query}`)
      expect(page.status).toBe(404)
      expect(page.html).toContain('no longer valid')
    },
  )
})
