import type { Page } from 'playwright-core'
import { authorizeUrl, makeRequest, registerClient } from '../../oauth/support/client.ts'
import { at, type PageRow } from './page-row.ts'

/** Pages for visitors who are not signed in. */
export const strangerPages: readonly PageRow[] = [
  { route: 'GET /', path: at('/'), state: 'landing', who: 'stranger' },
  { route: 'GET /sign-in', path: at('/sign-in'), who: 'stranger' },
  {
    route: 'GET /sign-in',
    path: at('/sign-in'),
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
  { route: 'GET /sign-up', path: at('/sign-up'), who: 'stranger' },
  { route: 'GET /forgot-password', path: at('/forgot-password'), who: 'stranger' },
  { route: 'GET /verify-email', path: at('/verify-email?token=x'), who: 'stranger' },
  { route: 'GET /change-email', path: at('/change-email?token=x'), who: 'stranger' },
  { route: 'GET /reset-password', path: at('/reset-password?token=x'), who: 'stranger' },
]

const PASSWORD = 'correct horse battery staple'

/** Submits the form for a new token after the session has ended. */
const submitAfterSession = async (page: Page): Promise<void> => {
  await page.getByLabel('Name').fill(`Night script "><script>alert(1)</script> ${'long '.repeat(12)}`)
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Create token' }).click()
}

/** Pages of a user's own account, and those shown after the session has ended. */
export const accountPages: readonly PageRow[] = [
  { route: 'GET /account', path: at('/account') },
  {
    route: 'GET /account',
    path: at('/account'),
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
  { route: 'GET /account/security', path: at('/account/security') },
  {
    route: 'GET /account/security',
    path: at('/account/security'),
    state: 'set-up',
    act: async page => {
      await page.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD)
      await page.getByRole('button', { name: 'Set up' }).click()
      await page.getByRole('img', { name: 'QR code of the key below' }).waitFor()
    },
  },
  { route: 'GET /account/tokens', path: at('/account/tokens') },
  {
    route: 'GET /account/tokens',
    path: at('/account/tokens'),
    state: 'made',
    act: async page => {
      await page.getByLabel('Name').fill('Night script')
      await page.getByRole('button', { name: 'Create token' }).click()
      await page.getByRole('button', { name: 'Copy the token' }).waitFor()
    },
  },
  { route: 'GET /account/tokens/:id/removal', path: ({ tokenId }) => `/account/tokens/${tokenId}/removal` },
  { route: 'GET /account/identities', path: at('/account/identities') },
  { route: 'GET /account/applications', path: at('/account/applications') },
  { route: 'GET /account/sessions', path: at('/account/sessions') },
  { route: 'GET /account/organizations', path: at('/account/organizations'), who: 'viewer' },
  { route: 'GET /account/deletion', path: at('/account/deletion'), state: 'refused' },
  { route: 'GET /account/deletion', path: at('/account/deletion'), who: 'viewer' },
  {
    route: 'GET /account/tokens',
    path: at('/account/tokens'),
    state: 'session-over',
    who: 'leaver',
    status: 401,
    act: async page => {
      await submitAfterSession(page)
      await page.getByRole('heading', { name: 'Sign in again' }).waitFor()
    },
  },
  {
    route: 'GET /account/tokens',
    path: at('/account/tokens'),
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
  {
    route: 'GET /oauth/interaction/:uid',
    path: async ({ origin, serverId }) => {
      const { client_id } = await registerClient(origin, { client_name: 'Claude <b>desktop</b> مكتب' })
      const request = makeRequest(client_id, `${origin}/s/${serverId}`)
      return authorizeUrl(origin, request).slice(origin.length)
    },
  },
]
