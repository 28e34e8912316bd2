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
    // An organization can have only a few that are not applied.
    await app.services.db.import.deleteMany()
    const { id } = await owner.create('/toolkits', { title: HOSTILE_NAME, organizationId })
    const text = typeof source === 'string' ? source : JSON.stringify(source)
    const started = await imports.startImport(actor, id, { kind: text === COMMANDS ? 'curl' : 'openapi', text })
    while ((await imports.getImport(actor, started.id)).state === 'reading') await setImmediate()
    return `/toolkits/${id}/imports/${started.id}${query}`
  }

/** Imports a source, and changes what is stored of it. */
const importAs =
  (data: object) =>
  async (world: DashboardWorld): Promise<string> => {
    const path = await importOf(describeMeridian(ORIGIN))(world)
    await world.app.services.db.import.update({ where: { id: path.split('/').at(-1) ?? '' }, data })
    return path
  }

/** Fills in the secret of the only import. */
const withKey =
  (open: (world: DashboardWorld) => Promise<string>) =>
  async (world: DashboardWorld): Promise<string> => {
    const path = await open(world)
    const [, id] = /\/imports\/([^/?]+)/.exec(path) ?? []
    await world.owner.expectOk('PATCH', `/imports/${id}`, { settings: { secrets: { tms_key: 'tms-4f9XbQ27' } } })
    return path
  }

/** Fills all places for imports that are not applied. */
export const withoutRoom = async (world: DashboardWorld): Promise<string> => {
  const path = await importOf(describeMeridian(ORIGIN))(world)
  const { db } = world.app.services
  const [, toolkitId = ''] = /^\/toolkits\/([^/]+)/.exec(path) ?? []
  const { createdById, toolkitUpdatedAt } = await db.import.findFirstOrThrow({ where: { toolkitId } })
  await db.import.createMany({
    data: Array.from({ length: 9 }, () => ({
      ...{ toolkitId, createdById, toolkitUpdatedAt, kind: 'curl' as const, state: 'ready' as const },
      ...{ settings: {}, needs: [] },
    })),
  })
  return `/toolkits/${toolkitId}`
}

/** Imports a source whose operations the toolkit has tools for already. */
const importTwice = async (world: DashboardWorld): Promise<string> => {
  const path = await importOf(describeMeridian(ORIGIN))(world)
  const { imports, importApplying, accounts } = world.app.services
  const actor = await accounts.findActorByUserId(world.ownerId)
  const [, toolkitId = '', first = ''] = /^\/toolkits\/([^/]+)\/imports\/([^/]+)/.exec(path) ?? []
  if (actor === undefined) throw new Error('the owner has no account')
  await importApplying.applyImport(actor, first)
  const text = JSON.stringify(describeMeridian(ORIGIN, { info: { title: 'Copy' } }))
  const { id } = await imports.startImport(actor, toolkitId, { kind: 'openapi', text })
  while ((await imports.getImport(actor, id)).state === 'reading') await setImmediate()
  return `/toolkits/${toolkitId}/imports/${id}`
}

const COMMANDS = `curl https://tms.example/v1/rates?from=LEJ -H 'Authorization: Bearer sk-live-4f9XbQ27TzLmWc81RyVn05Ke'`

const WITHOUT_AUTH = describeMeridian(ORIGIN, { components: {}, security: [] })
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
    {
      path: async world => `${await withoutRoom(world)}/imports`,
      state: 'no-room',
      status: 422,
      act: async page => {
        await page.getByLabel('URL or text').fill('curl https://tms.example')
        await press(page, 'Read source')
        await page.getByRole('heading', { name: 'Unfinished imports' }).waitFor()
      },
    },
  ],
  [REVIEW]: [
    { path: importOf(describeMeridian(ORIGIN), '?open=POST+%2Fv3%2Fquotes') },
    { path: importOf(describeMeridian(ORIGIN), '?view=findings'), state: 'findings' },
    { path: importOf(describeMeridian(ORIGIN), '?view=names&open=POST+%2Fv3%2Fquotes'), state: 'names' },
    {
      path: importOf(describeLarge(600), '?view=names'),
      state: 'names-of-many',
      act: async page => {
        await page.getByLabel('Prefix (optional)').fill('a_rather_long_prefix_of_all_tool')
        await page.getByLabel('Style').selectOption('camelCase')
        await page.getByText('a_rather_long_prefix_of_all_toolListPartsOfThing0', { exact: true }).waitFor()
      },
    },
    {
      path: importOf(HOSTILE, '?view=names'),
      state: 'names-refused',
      status: 400,
      act: async page => {
        await page.getByLabel('Prefix (optional)').fill('my tools')
        await page.getByLabel('Style').focus()
        await page.getByText('The prefix must start with a letter').waitFor()
      },
    },
    { path: importOf({ ...HOSTILE, paths: { '/a': { trace: {} } } }, '?view=names'), state: 'no-names' },
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
        await page.getByLabel('Name of the new server').blur()
        await page.getByText('The URL must be a URL').waitFor()
      },
    },
    { path: importOf(WITHOUT_AUTH, '?view=access'), state: 'access-not-said' },
    {
      path: importOf(WITHOUT_AUTH, '?view=access'),
      state: 'access-header-refused',
      status: 400,
      act: async page => {
        await page.getByLabel('Authentication', { exact: true }).selectOption('Key in a header')
        await page.getByLabel('Name of the header').fill('X Key')
        await press(page, 'Save and read again')
        await page.getByText('The name must have 1 to 100 letters').waitFor()
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
    { path: importTwice, state: 'duplicates' },
    {
      path: importOf(describeMeridian(ORIGIN), '?open=DELETE+%2Fv3%2Fshipments%2F%7BshipmentId%7D'),
      state: 'secret-missing',
      status: 400,
      act: async page => {
        await page.getByLabel('shipmentId', { exact: true }).fill('KF-2041')
        await press(page, 'Send')
        await page.getByText('the secret "tms_key" has no value yet').waitFor()
      },
    },
    { path: importOf(HTML), state: 'failed' },
    { path: importOf({ openapi: '3.1.0' }), state: 'no-operations' },
    { path: importAs({ state: 'reading', read: 2 }), state: 'reading' },
    { path: importAs({ needs: ['https://schemas.example', `https://${'long-'.repeat(20)}.example`] }), state: 'needs' },
    { path: importOf(COMMANDS, '?view=access'), state: 'secret-found' },
    { path: '/toolkits/:toolkitId/imports/01a221ab-f9cf-713b-8ff4-5808b83ed8b7', state: 'expired', status: 404 },
    {
      path: withKey(importOf(describeMeridian('http://127.0.0.1:9'), '?open=GET+%2Fv3%2Fshipments%2F%7BshipmentId%7D')),
      state: 'tried',
      act: async page => {
        await page.getByLabel('shipmentId', { exact: true }).fill('KF-2041')
        await press(page, 'Send')
        await page.getByRole('heading', { name: 'Response' }).waitFor()
      },
    },
    {
      path: importOf(describeMeridian(ORIGIN), '?open=POST+%2Fv3%2Fquotes'),
      state: 'argument-missing',
      status: 400,
      act: async page => {
        await press(page, 'Send')
        await page.getByText('origin is required').waitFor()
      },
    },
    {
      path: importOf(describeMeridian(ORIGIN)),
      state: 'name-refused',
      status: 400,
      act: async page => {
        await page.getByLabel('Name of POST /v3/quotes').fill('ask for a price')
        await page.getByRole('heading', { name: 'Quotes' }).click()
        await page.getByText('The name must be 1 to 64 characters').waitFor()
      },
    },
    {
      path: importOf(describeMeridian(ORIGIN)),
      state: 'applied',
      act: async page => {
        await press(page, /^Import \d/)
        await page.getByRole('heading', { name: /tools imported/ }).waitFor()
      },
    },
    {
      path: importOf(describeMeridian(ORIGIN), '?view=access'),
      state: 'applied-with-server',
      act: async page => {
        await page.getByLabel('Add the tools to').selectOption('New server…')
        await page.getByLabel('Name of the new server').fill(HOSTILE_NAME)
        await press(page, /^Import \d/)
        await page.getByText('Calls fail until these have a value').waitFor()
      },
    },
  ],
}
