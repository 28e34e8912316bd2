import { setImmediate } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import type { DashboardWorld } from './dashboard-world.ts'
import { HOSTILE_NAME } from './dashboard-world.ts'
import { describeMeridian } from './meridian-api.ts'
import type { Pages } from './page-row.ts'

const ORIGIN = 'https://tms.example'
const LONG_URL = `${ORIGIN}/${'a-rather-long-segment/'.repeat(20)}openapi.json`
const { paths, ...meridian } = describeMeridian(ORIGIN)
const before = { ...meridian, paths: { ...paths, '/v3/ports': { get: { operationId: 'listPorts' } } } }

const { get, delete: remove } = paths['/v3/shipments/{shipmentId}']

const { post } = paths['/v3/quotes']
const currency = { name: 'currency', in: 'query', description: HOSTILE_NAME, schema: { enum: ['EUR', 'USD'] } }

/**
 * One operation is gone, one has a new required parameter and another description, one a new optional parameter, one only
 * other words.
 */
const after = {
  ...before,
  paths: {
    '/v3/shipments/{shipmentId}': {
      get: {
        ...get,
        summary: HOSTILE_NAME,
        parameters: [
          { name: 'shipmentId', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'at', in: 'query', required: true, schema: { type: 'string' } },
        ],
      },
      delete: { ...remove, description: 'Deletes a shipment, with its documents and everything else that it has.' },
    },
    '/v3/quotes': { post: { ...post, deprecated: true, parameters: [currency] } },
    '/v4/shipments': { get: { operationId: 'listShipments' } },
  },
}

/** The whole API needs one more secret. */
const secured = {
  ...before,
  security: [{ tms_key: [], partner_key: [] }],
  components: {
    securitySchemes: {
      ...before.components.securitySchemes,
      partner_key: { type: 'apiKey', in: 'header', name: 'X-Partner-Key' },
    },
  },
}

/** Imports the description into a new toolkit, edits one tool by hand, and imports a version of it again. */
const importedAgain = async (
  { app, owner, ownerId, organizationId, serverId }: DashboardWorld,
  next: object = after,
  isApplied = false,
): Promise<{ toolkitId: string; importId: string }> => {
  const { imports, importApplying, accounts } = app.services
  const actor = await accounts.findActorByUserId(ownerId)
  if (actor === undefined) throw new Error('the owner has no account')
  // An organization can have only a few that are not applied.
  await app.services.db.import.deleteMany()
  const { id: toolkitId } = await owner.create('/toolkits', { title: 'Meridian', organizationId })
  const read = async (source: object): Promise<string> => {
    const { id } = await imports.startImport(actor, toolkitId, { kind: 'openapi', text: JSON.stringify(source) })
    while ((await imports.getImport(actor, id)).state === 'reading') await setImmediate()
    return id
  }
  const first = await read(before)
  const { created } = await importApplying.applyImport(actor, first)
  const idOf = (name: string) => created.find(tool => tool.name === name)?.id ?? ''
  await owner.expectOk('PATCH', `/tools/${idOf('get_shipment')}`, {
    description: HOSTILE_NAME.repeat(3),
    title: 'Find it',
  })
  await owner.expectOk('PUT', `/servers/${serverId}/toolkits/${toolkitId}`)
  const name = `shipment_${toolkitId.replaceAll('-', '')}`
  const instance = await owner.create(`/servers/${serverId}/instances`, { toolId: idOf('get_shipment'), name })
  const importId = await read(next)
  if (isApplied) await importApplying.applyImport(actor, importId)
  await owner.expectOk('DELETE', `/instances/${instance.id}`)
  return { toolkitId, importId }
}

const pathOf =
  (query = '', next: object = after, isApplied = false) =>
  async (world: DashboardWorld): Promise<string> => {
    const { toolkitId, importId } = await importedAgain(world, next, isApplied)
    return `/toolkits/${toolkitId}/imports/${importId}${query}`
  }

/** As `pathOf`, with a tool that somebody has edited since the source was read. */
const outdatedPath = async (world: DashboardWorld): Promise<string> => {
  const path = await pathOf('?view=changes')(world)
  const { tools } = await world.app.services.db.toolkit.findUniqueOrThrow({
    where: { id: path.split('/')[2] ?? '' },
    include: { tools: true },
  })
  await world.owner.expectOk('PATCH', `/tools/${tools[0]?.id}`, { title: 'Edited' })
  return path
}

const press = (page: Page, name: RegExp) => page.getByRole('button', { name }).click()

/** Returns the path of a toolkit with a source that a check found changed, and whose last check failed. */
const checkedToolkit = async (world: DashboardWorld): Promise<string> => {
  const { toolkitId } = await importedAgain(world)
  const found = { changed: 1_203, breaking: 12, sha256: 'b', digest: 'b' }
  const problem = `${ORIGIN} responded with the status 503.`
  await world.app.services.db.toolkitSource.update({
    where: { toolkitId },
    data: { url: LONG_URL, checkEvery: 'day', checkedAt: new Date(), found, problem },
  })
  return `/toolkits/${toolkitId}`
}

export const importAgainPages: Pages = {
  'GET /toolkits/:id/imports/:importId': [
    { path: pathOf('?view=changes'), state: 'again' },
    { path: pathOf('?view=changes&part=wording'), state: 'again-part' },
    { path: pathOf('?view=changes&open=POST+%2Fv3%2Fquotes'), state: 'again-opened' },
    {
      path: pathOf('?view=changes&part=breaking'),
      state: 'again-theirs',
      act: async page => {
        const saved = page.waitForResponse(response => response.request().method() === 'POST')
        await page.getByRole('radio', { name: 'Use the new one' }).first().check()
        await saved
      },
    },
    { path: pathOf('?view=operations'), state: 'again-operations' },
    { path: pathOf('?view=names'), state: 'again-names' },
    { path: pathOf('', before), state: 'again-unchanged' },
    { path: pathOf('', secured, true), state: 'again-rewired' },
    {
      path: outdatedPath,
      state: 'again-outdated',
      status: 409,
      act: async page => {
        await press(page, /^Update \d/)
        await page.getByText('The toolkit has changed since').waitFor()
      },
    },
    {
      path: pathOf('?view=operations'),
      state: 'again-applied',
      act: async page => {
        await press(page, /^Select all/)
        await press(page, /^Import \d+ tools?, update \d/)
        await page.getByRole('heading', { name: /imported, \d+ updated/ }).waitFor()
      },
    },
    { path: pathOf('?view=operations&state=gone'), state: 'gone' },
  ],
  'GET /toolkits/:id': [{ path: checkedToolkit, state: 'source-changed' }],
  'GET /toolkits': [
    {
      path: async world => {
        await checkedToolkit(world)
        return '/toolkits?q=Meridian'
      },
      state: 'source-changed',
    },
  ],
  'GET /toolkits/:id/source': [
    { path: async world => `${await checkedToolkit(world)}/source` },
    {
      path: async world => `${await checkedToolkit(world)}/source`,
      state: 'refused',
      status: 400,
      act: async page => {
        await page.getByLabel('URL').fill('')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('is needed to check for changes').waitFor()
      },
    },
  ],
}
