import { setImmediate } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { type DashboardWorld, HOSTILE_NAME } from './dashboard-world.ts'
import { describeLarge, describeMeridian } from './meridian-api.ts'
import type { Pages } from './page-row.ts'

const ORIGIN = 'https://tms.example'

/** Imports a source into a new toolkit, and returns its page once the source has been read. */
const importOf =
  (source: object | string, query = '') =>
  async ({ app, owner, ownerId, organizationId }: DashboardWorld): Promise<string> => {
    const { imports, accounts } = app.services
    const actor = await accounts.findActorByUserId(ownerId)
    if (actor === undefined) throw new Error('the owner has no account')
    const { id } = await owner.create('/toolkits', { title: HOSTILE_NAME, organizationId })
    const text = typeof source === 'string' ? source : JSON.stringify(source)
    const started = await imports.startImport(actor, id, { kind: 'openapi', text })
    while ((await imports.getImport(actor, started.id)).state === 'reading') await setImmediate()
    return `/toolkits/${id}/imports/${started.id}${query}`
  }

const HTML = '<!doctype html><title>Sign in</title>'
const HOSTILE = describeMeridian(ORIGIN, {
  info: { title: HOSTILE_NAME, version: HOSTILE_NAME },
  paths: {
    [`/${'a-rather-long-segment-of-a-path/'.repeat(8)}{id}`]: {
      get: { operationId: 'x'.repeat(200), tags: [HOSTILE_NAME], summary: HOSTILE_NAME, description: HOSTILE_NAME },
    },
  },
})

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click()

const REVIEW = 'GET /toolkits/:id/imports/:importId'

export const importPages: Pages = {
  'GET /toolkits/:id/imports': [
    { path: '/toolkits/:toolkitId/imports' },
    { path: '/toolkits/:toolkitId/imports', state: 'not-a-builder', who: 'viewer', status: 403 },
    {
      path: '/toolkits/:toolkitId/imports',
      state: 'refused',
      status: 400,
      act: async page => {
        await press(page, 'Read source')
        await page.getByText('Paste a URL or a text, or choose a file').waitFor()
      },
    },
    {
      path: async world => (await importOf(HTML)(world)).replace(/\/[^/]*$/, ''),
      state: 'earlier',
    },
  ],
  [REVIEW]: [
    { path: importOf(describeMeridian(ORIGIN), '?open=POST+%2Fv3%2Fquotes') },
    { path: importOf(describeMeridian(ORIGIN), '?view=findings'), state: 'findings' },
    { path: importOf(describeMeridian(ORIGIN), '?view=access'), state: 'access' },
    {
      path: importOf(describeMeridian(ORIGIN), '?view=access'),
      state: 'access-refused',
      status: 400,
      act: async page => {
        await page.getByLabel('Add the tools to').selectOption('New server…')
        await page.getByLabel('Another URL').check()
        await page.getByLabel('URL', { exact: true }).fill('ftp://tms.example')
        await page.getByLabel('Name of the new server').fill('')
        await press(page, 'Save values')
        await page.getByText('The URL must be a URL').waitFor()
      },
    },
    { path: importOf(describeMeridian(ORIGIN), '?q=zzz'), state: 'nothing-found' },
    { path: importOf(describeMeridian(ORIGIN), '?open=PUT+%2Fv3%2Fdocuments'), state: 'not-importable' },
    { path: importOf(HOSTILE), state: 'hostile' },
    { path: importOf(describeLarge(600)), state: 'large' },
    { path: importOf(describeLarge(600), '?tag=Section+3'), state: 'large-open' },
    {
      path: importOf(describeLarge(600)),
      state: 'many-selected',
      act: async page => {
        await press(page, 'Select all')
        await page.getByText('VS Code refuses').waitFor()
      },
    },
    { path: importOf(HTML), state: 'failed' },
    {
      path: importOf(describeMeridian(ORIGIN)),
      state: 'applied',
      act: async page => {
        await press(page, /^Import \d/)
        await page.getByRole('heading', { name: /tools imported/ }).waitFor()
      },
    },
  ],
}
