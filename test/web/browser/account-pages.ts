import type { Page } from 'playwright-core'
import { authorizeUrl, makeRequest, registerClient } from '../../oauth/support/client.ts'
import type { DashboardWorld } from './dashboard-world.ts'
import type { Pages } from './page-row.ts'

/** Pages for visitors who are not signed in. */
export const strangerPages: Pages = {
  'GET /': [{ path: '/', state: 'landing', who: 'stranger' }],
  'GET /sign-in': [
    { path: '/sign-in', who: 'stranger' },
    {
      path: '/sign-in',
      state: 'refused',
      who: 'stranger',
      status: 401,
      act: async page => {
        await page.getByLabel('Email').fill('nobody@kestrel.example')
        await page.getByLabel('Password').fill('wrong password')
        await page.getByRole('button', { name: 'Sign in' }).click()
        await page.getByRole('alert').waitFor()
      },
    },
  ],
  'GET /sign-up': [{ path: '/sign-up', who: 'stranger' }],
  'GET /forgot-password': [{ path: '/forgot-password', who: 'stranger' }],
  'GET /verify-email': [
    { path: '/verify-email?token=x', who: 'stranger' },
    {
      path: world => world.makeLink('verify_email', 'viewer'),
      state: 'elsewhere',
      who: 'stranger',
      act: page => page.getByText('not signed in to its account here').waitFor(),
    },
  ],
  'GET /stop-event-emails': [{ path: '/stop-event-emails?token=x', who: 'stranger' }],
  'GET /reset-password': [
    { path: '/reset-password?token=x', who: 'stranger' },
    { path: world => world.makeLink('reset_password', 'owner'), state: 'listed', who: 'stranger' },
    {
      path: world => world.makeLink('reset_password', 'viewer'),
      state: 'unconfirmed',
      who: 'stranger',
      act: page => page.getByText('Nobody has confirmed this email yet').waitFor(),
    },
  ],
}

const PASSWORD = 'correct horse battery staple'

/** Submits the form for a new token after the session has ended. */
const submitAfterSession = async (page: Page): Promise<void> => {
  await page.getByLabel('Name').fill(`Night script "><script>alert(1)</script> ${'long '.repeat(12)}`)
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Create token' }).click()
}

const requestWithoutResource = async ({ origin }: DashboardWorld): Promise<string> => {
  const { client_id } = await registerClient(origin, { client_name: `Old client <b>${'of the dispatch '.repeat(5)}` })
  return authorizeUrl(origin, makeRequest(client_id, '', { resource: undefined })).slice(origin.length)
}

/** Pages of the user's own account, and pages shown after the session has ended. */
export const accountPages: Pages = {
  'GET /change-email': [{ path: '/change-email?token=x' }],
  'GET /account': [
    { path: '/account' },
    { path: '/account', state: 'long-email', who: 'builder' },
    {
      path: '/account',
      state: 'refused',
      status: 400,
      act: async page => {
        await page.getByLabel('New email').fill(`"><script>alert(1)</script>@x.example`)
        await page.getByLabel('Password').fill(PASSWORD)
        await page.evaluate(`document.querySelectorAll('form').forEach(form => { form.noValidate = true })`)
        await page.getByRole('button', { name: 'Change email' }).click()
        await page.getByText('must have the form name@example.com').waitFor()
      },
    },
  ],
  'GET /account/security': [
    { path: '/account/security' },
    {
      path: '/account/security',
      state: 'set-up',
      act: async page => {
        await page.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD)
        await page.getByRole('button', { name: 'Set up' }).click()
        await page.getByRole('img', { name: 'QR code of the key below' }).waitFor()
      },
    },
  ],
  'GET /account/tokens': [
    { path: '/account/tokens' },
    {
      path: '/account/tokens',
      state: 'made',
      act: async page => {
        await page.getByLabel('Name').fill('Night script')
        await page.getByRole('button', { name: 'Create token' }).click()
        await page.getByRole('button', { name: 'Copy the token' }).waitFor()
      },
    },
    {
      path: '/account/tokens',
      state: 'session-over',
      who: 'leaver',
      status: 401,
      act: async page => {
        await submitAfterSession(page)
        await page.getByRole('heading', { name: 'Sign in again' }).waitFor()
      },
    },
    {
      path: '/account/tokens',
      state: 'session-over-again',
      status: 401,
      act: async page => {
        await submitAfterSession(page)
        await page.getByLabel('Email').fill('dispatch@kestrel.example')
        await page.getByLabel('Password').fill(PASSWORD)
        await page.getByRole('button', { name: 'Sign in' }).click()
        await page.getByRole('button', { name: 'Submit', exact: true }).waitFor()
      },
    },
  ],
  'GET /account/tokens/:id/removal': [{ path: '/account/tokens/:tokenId/removal' }],
  'GET /account/identities': [{ path: '/account/identities' }],
  'GET /account/applications': [{ path: '/account/applications' }],
  'GET /account/sessions': [{ path: '/account/sessions' }],
  'GET /account/organizations': [{ path: '/account/organizations', who: 'viewer' }],
  'GET /account/deletion': [
    { path: '/account/deletion', state: 'refused' },
    { path: '/account/deletion', who: 'viewer' },
  ],
  'GET /oauth/authorize': [
    { path: requestWithoutResource },
    { path: async world => `${await requestWithoutResource(world)}&q=no-such-server`, state: 'not-found' },
    { path: async world => `${await requestWithoutResource(world)}&answer=yes`, state: 'not-chosen', status: 400 },
  ],
  'GET /oauth/interaction/:uid': [
    {
      path: async ({ origin, serverId }) => {
        const { client_id } = await registerClient(origin, { client_name: 'Claude <b>desktop</b> مكتب' })
        const request = makeRequest(client_id, `${origin}/s/${serverId}`)
        return authorizeUrl(origin, request).slice(origin.length)
      },
    },
  ],
}
