import { accountPages, strangerPages } from './account-pages.ts'
import { type DashboardWorld, HOSTILE_NAME } from './dashboard-world.ts'
import { historyPages } from './history-pages.ts'
import { importAgainPages } from './import-again-pages.ts'
import { importPages, withoutRoom } from './import-pages.ts'
import { onSuspendedServer, operatorPages } from './operator-pages.ts'
import { type PageRow, type Pages, saveOutdated } from './page-row.ts'
import { palettePages } from './palette-pages.ts'
import { chosenSchema, proposedSchema, refusedPagination, unlikeSchemaResponse } from './response-pages.ts'
import { serverTabPages } from './server-tab-pages.ts'
import { unboundEditor } from './unbound-pages.ts'
import { undoPages } from './undo-pages.ts'
import { upstreamAccountPages } from './upstream-account-pages.ts'

/** Creates a tool that no server uses. */
const unusedTool = async ({ owner, hostileToolkitId }: DashboardWorld): Promise<string> => {
  const tool = { name: `unused_${Date.now()}`, method: 'GET', url: 'https://api.example.com/' }
  return (await owner.create(`/toolkits/${hostileToolkitId}/tools`, tool)).id
}

const toolkits: Pages = {
  'GET /toolkits': [{ path: '/toolkits' }, { path: '/toolkits?q=zzz', state: 'nothing-found' }],
  'GET /toolkits/new': [
    { path: '/toolkits/new' },
    {
      path: '/toolkits/new',
      state: 'refused',
      status: 400,
      act: async page => {
        await page.getByLabel('Title').fill('   ')
        await page.getByRole('button', { name: 'Create toolkit' }).click()
        await page.getByText('The title is empty.').waitFor()
      },
    },
  ],
  'GET /toolkits/:id': [
    { path: '/toolkits/:toolkitId' },
    { path: '/toolkits/:toolkitId', state: 'viewer', who: 'viewer' },
    { path: '/toolkits/:emptyToolkitId', state: 'empty' },
    { path: withoutRoom, state: 'unfinished-imports' },
    { path: '/toolkits/:hostileToolkitId', state: 'hostile' },
    {
      path: '/toolkits/:toolkitId?sort=-uses',
      state: 'selected',
      act: page => page.getByRole('checkbox', { name: 'Select all tools on this page' }).check(),
    },
  ],
  'GET /toolkits/:id/tools/removal': [
    { path: '/toolkits/:toolkitId/tools/removal?tool=:toolId', state: 'in-use' },
    { path: '/toolkits/:toolkitId/tools/removal', state: 'nothing' },
    { path: async world => `/toolkits/${world.hostileToolkitId}/tools/removal?tool=${await unusedTool(world)}` },
  ],
  'GET /toolkits/:id/tools/move': [
    { path: '/toolkits/:toolkitId/tools/move?tool=:toolId' },
    { path: '/toolkits/:toolkitId/tools/move', state: 'nothing' },
    { path: '/toolkits/:hostileToolkitId/tools/move?tool=:hostileToolId', state: 'hostile' },
  ],
  'GET /toolkits/:id/edit': [{ path: '/toolkits/:toolkitId/edit' }],
  'GET /toolkits/:id/removal': [
    { path: '/toolkits/:hostileToolkitId/removal', state: 'in-use' },
    { path: '/toolkits/:emptyToolkitId/removal' },
  ],
  'GET /gallery': [{ path: '/gallery' }],
  'GET /gallery/:id': [
    { path: '/gallery/:toolkitId' },
    { path: '/gallery/:toolkitId', state: 'viewer', who: 'viewer' },
  ],
}

const forBrowsers: Pages = {
  'GET /s/:uuid for people': [
    { path: '/s/:serverId' },
    { path: '/s/:longServerId', state: 'public', who: 'stranger' },
    { path: '/s/:serverId', state: 'closed', who: 'stranger', status: 403 },
    { path: '/s/:emptyServerId', state: 'no-access', who: 'viewer', status: 403 },
  ],
}

/** Creates a private server that its owner is asked about, and to which the viewer has asked for access. */
const onRequested = async ({ app, owner, organizationId, viewerId }: DashboardWorld): Promise<string> => {
  const { db } = app.services
  const { id } = await owner.create('/servers', { name: HOSTILE_NAME, organizationId })
  await db.server.update({ where: { id }, data: { tierNoticeAt: new Date() } })
  await db.accessRequest.create({ data: { serverId: id, userId: viewerId } })
  return `/servers/${id}`
}

/** Creates a sample, whose toolkit another server with a hostile name can use too. */
const onSample = async ({ app, owner, ownerId, organizationId }: DashboardWorld, { isShared = false } = {}) => {
  const { samples, accounts } = app.services
  const actor = await accounts.findActorByUserId(ownerId)
  if (actor === undefined) throw new Error('the owner has no account')
  const server = await owner.create('/servers', { name: 'Sample desk', organizationId })
  const toolkit = await owner.create('/toolkits', { title: 'Sample API', organizationId })
  await samples.noteSample(actor, server.id, toolkit.id)
  if (isShared) {
    const other = await owner.create('/servers', { name: HOSTILE_NAME, organizationId })
    await owner.expectOk('PUT', `/servers/${other.id}/toolkits/${toolkit.id}`)
  }
  return `/servers/${server.id}`
}

const access: Pages = {
  'GET /servers/:uuid/access': [
    { path: '/servers/:serverId/access' },
    { path: '/servers/:serverId/access', state: 'viewer', who: 'viewer' },
    { path: async world => `${await onRequested(world)}/access`, state: 'requested' },
    {
      path: '/servers/:longServerId/access',
      state: 'refused',
      status: 400,
      act: async page => {
        await page.getByText('Create OAuth client').click()
        await page.getByLabel('Name', { exact: true }).fill('Night batch')
        await page.getByLabel('Redirect URIs').fill('http://batch.kestrel.example/back')
        await page.getByRole('button', { name: 'Create client' }).click()
        await page.getByText('The redirect URI in line 1').waitFor()
      },
    },
    {
      path: '/servers/:longServerId/access',
      state: 'client-made',
      status: 201,
      act: async page => {
        await page.getByText('Create OAuth client').click()
        await page.getByLabel('Name', { exact: true }).fill('Night batch <b>of</b> dispatch')
        await page.getByLabel('Redirect URIs').fill('https://batch.kestrel.example/back')
        await page.getByLabel('Type').selectOption('client_secret_basic')
        await page.getByRole('button', { name: 'Create client' }).click()
        await page.getByText('Copy the secret now').waitFor()
      },
    },
  ],
  'GET /servers/:uuid/access/clients/:id/removal': [
    { path: '/servers/:serverId/access/clients/:oauthClientId/removal' },
  ],
}

const settings: Pages = {
  'GET /servers/:uuid/settings': [
    { path: '/servers/:serverId/settings' },
    { path: '/servers/:serverId/settings', state: 'viewer', who: 'viewer' },
    {
      path: '/servers/:longServerId/settings',
      state: 'conflict',
      status: 409,
      act: async page => {
        await page.getByLabel('Name', { exact: true }).fill('Mine')
        await saveOutdated(page, 'Save changes')
      },
    },
    {
      path: '/servers/:longServerId/settings',
      state: 'unsaved',
      act: async page => {
        await page.getByLabel('Name', { exact: true }).fill(HOSTILE_NAME)
        await page.getByLabel('Truncation notice').fill('Too long')
        await page.getByText('2 unsaved changes').waitFor()
      },
    },
    {
      path: '/servers/:longServerId/settings',
      state: 'refused',
      status: 400,
      act: async page => {
        await page.getByLabel('Name', { exact: true }).fill('')
        await page.getByLabel('Max response tokens').fill('a few')
        await page.getByRole('button', { name: 'Save changes' }).click()
        await page.getByText('Not saved. Fix these 2 fields:').waitFor()
      },
    },
    {
      path: '/servers/:serverId/settings',
      state: 'public-step',
      act: async page => {
        await page.locator('[name=access][value=public]').check()
        await page.getByRole('button', { name: 'Save changes' }).click()
        await page.getByText('Nothing has been saved yet.').waitFor()
      },
    },
  ],
  'GET /servers/:uuid/settings/masking': [
    { path: '/servers/:serverId/settings/masking' },
    { path: '/servers/:serverId/settings/masking', state: 'viewer', who: 'viewer' },
    {
      path: '/servers/:longServerId/settings/masking',
      state: 'tried',
      act: async page => {
        await page.getByLabel('Email addresses').check()
        await page.getByLabel('Patterns, optional').fill('EMP-\\d{6}')
        await page.getByLabel('Sample text').fill('{"email":"ada@example.com","staff":"EMP-123456"}')
        await page.getByRole('button', { name: 'Try', exact: true }).click()
        await page.getByText('This is what clients get:').waitFor()
      },
    },
    {
      path: '/servers/:serverId/settings/masking',
      state: 'refused',
      status: 400,
      act: async page => {
        await page.getByLabel('Patterns, optional').fill('EMP-\\d{6}\na(?=b)')
        await page.getByRole('button', { name: 'Save rules' }).click()
        await page.getByText('in line 2').first().waitFor()
      },
    },
  ],
  'GET /servers/:uuid/settings/removal': [{ path: '/servers/:serverId/settings/removal' }],
}

const inspector: Pages = {
  'GET /servers/:uuid/inspector': [
    { path: '/servers/:serverId/inspector' },
    { path: '/servers/:serverId/inspector?tool=quote_rate', state: 'tool' },
    {
      path: '/servers/:serverId/inspector?tool=track_shipment',
      state: 'answer',
      act: async page => {
        await page.getByLabel('shipment_id', { exact: true }).fill('KF-2041')
        await page.getByRole('button', { name: 'Call the tool' }).click()
        await page.getByRole('heading', { name: 'Result', exact: true }).waitFor()
        await page.locator('button:focus', { hasText: 'Call the tool' }).waitFor()
      },
    },
    {
      path: '/servers/:serverId/inspector?tool=track_shipment',
      state: 'refused',
      status: 400,
      act: async page => {
        await page.getByLabel('limit, optional').fill('1000')
        await page.getByRole('button', { name: 'Call the tool' }).click()
        await page.getByText('limit must be at most 100').waitFor()
      },
    },
    { path: '/servers/:serverId/inspector?tool=track_shipment&call=:executionId', state: 'again' },
    { path: '/servers/:longServerId/inspector?q=_0', state: 'hostile' },
    { path: '/servers/:emptyServerId/inspector', state: 'empty' },
    { path: '/servers/:emptyServerId/inspector', state: 'no-access', who: 'viewer', status: 403 },
  ],
}

const servers: Pages = {
  'GET /servers': [
    { path: '/servers' },
    { path: async world => onRequested(world).then(() => '/servers'), state: 'notices' },
    { path: '/servers', state: 'private', who: 'viewer' },
    { path: '/servers?q=desk', state: 'found' },
    { path: async world => onSample(world).then(() => '/servers'), state: 'sample' },
    { path: '/servers?q=nothing-has-this', state: 'none-found' },
  ],
  'GET /servers/:uuid/sample/removal': [
    { path: async world => `${await onSample(world)}/sample/removal` },
    { path: async world => `${await onSample(world, { isShared: true })}/sample/removal`, state: 'kept' },
  ],
  'GET /servers/new': [
    { path: '/servers/new' },
    {
      path: '/servers/new',
      state: 'refused',
      status: 400,
      act: async page => {
        await page.getByRole('textbox', { name: 'Name' }).fill('   ')
        await page.getByRole('button', { name: 'Create server' }).click()
        await page.getByText('The name').waitFor()
      },
    },
  ],
  'GET /servers/:uuid': [
    { path: '/servers/:serverId' },
    {
      path: '/servers/:serverId',
      state: 'unfolded',
      act: async page => {
        for (const fold of await page.locator('main details > summary').all()) await fold.click()
      },
    },
    { path: '/servers/:emptyServerId', state: 'empty' },
    { path: '/servers/:longServerId', state: 'hostile' },
    { path: '/servers/:serverId', state: 'viewer', who: 'viewer' },
    { path: onRequested, state: 'notice' },
    { path: world => onSample(world), state: 'sample' },
    { path: '/servers/:emptyServerId', state: 'private', who: 'viewer' },
    { path: onRequested, state: 'requested', who: 'viewer' },
    { path: onSuspendedServer, state: 'suspended', who: 'viewer' },
  ],
}

const organizations: Pages = {
  'GET /organizations': [{ path: '/organizations', who: 'viewer' }],
  'GET /organizations/new': [{ path: '/organizations/new' }],
  'GET /organizations/:id/members': [
    { path: '/organizations/:organizationId/members' },
    { path: '/organizations/:organizationId/members', state: 'viewer', who: 'viewer' },
  ],
  'GET /organizations/:id/members/:userId/removal': [
    { path: '/organizations/:organizationId/members/:viewerId/removal' },
    { path: '/organizations/:organizationId/members/:ownerId/removal', state: 'self' },
  ],
  'GET /organizations/:id/invitations': [
    { path: '/organizations/:organizationId/invitations' },
    {
      path: '/organizations/:organizationId/invitations',
      state: 'refused',
      status: 409,
      act: async page => {
        await page.getByLabel('Email').fill('viewer@kestrel.example')
        await page.getByRole('button', { name: 'Send invitation', exact: true }).click()
        await page.getByText('belongs to a member').waitFor()
      },
    },
  ],
  'GET /organizations/:id/limits': [
    { path: '/organizations/:organizationId/limits' },
    { path: '/organizations/:emptyOrganizationId/limits', state: 'empty', who: 'viewer' },
    {
      path: '/organizations/:organizationId/limits',
      state: 'refused',
      status: 400,
      act: async page => {
        await page.getByLabel('Amount').fill('many')
        await page.getByRole('button', { name: 'Add limit', exact: true }).click()
        await page.getByText('must be a number').first().waitFor()
      },
    },
  ],
  'GET /organizations/:id/limits/:limitId': [{ path: '/organizations/:organizationId/limits/:limitId' }],
  'GET /organizations/:id/webhooks': [
    { path: '/organizations/:organizationId/webhooks' },
    { path: '/organizations/:emptyOrganizationId/webhooks', state: 'empty', who: 'viewer' },
    {
      path: '/organizations/:organizationId/webhooks',
      state: 'refused',
      status: 400,
      act: async page => {
        await page.getByLabel('Failed calls, in percent').fill('all')
        await page.getByRole('button', { name: 'Save error rate', exact: true }).click()
        await page.locator('#errorRatePercent-error').waitFor()
      },
    },
  ],
  'GET /webhooks/:id': [{ path: '/webhooks/:webhookId' }],
  'GET /webhooks/:id/removal': [{ path: '/webhooks/:webhookId/removal' }],
  'GET /organizations/:id/audit': [
    { path: '/organizations/:organizationId/audit' },
    { path: '/organizations/:organizationId/audit?from=yesterday', state: 'refused', status: 400 },
  ],
  'GET /organizations/:id/settings': [{ path: '/organizations/:organizationId/settings' }],
  'GET /organizations/:id/usage': [
    { path: '/organizations/:organizationId/usage' },
    { path: '/organizations/:organizationId/usage', state: 'private', who: 'viewer' },
    { path: '/organizations/:emptyOrganizationId/usage', state: 'empty', who: 'viewer' },
  ],
  'GET /organizations/:id/removal': [{ path: '/organizations/:organizationId/removal' }],
}

const tools: Pages = {
  'GET /toolkits/new-tool': [{ path: '/toolkits/new-tool' }],
  'GET /toolkits/:id/tools/new': [
    { path: '/toolkits/:toolkitId/tools/new' },
    {
      path: '/toolkits/:toolkitId/tools/new',
      state: 'refused',
      status: 400,
      act: async page => {
        await page.getByLabel('Name', { exact: true }).fill('not a name')
        await page.getByLabel('URL').fill('https://a.example/{{id')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Fix the fields marked below.').waitFor()
      },
    },
  ],
  'GET /tools/:id': [
    { path: '/tools/:toolId' },
    {
      path: '/tools/:toolId',
      state: 'sent',
      act: async page => {
        await page.getByRole('button', { name: 'Send' }).first().click()
        await page.getByRole('heading', { name: 'Response', exact: true }).waitFor()
      },
    },
    ...['headers', 'auth', 'body', 'response', 'settings'].map(tab => ({
      path: `/tools/:toolId?tab=${tab}`,
      state: tab,
    })),
    unlikeSchemaResponse,
    unboundEditor,
    refusedPagination,
    proposedSchema,
    chosenSchema,
    {
      path: '/tools/:toolId?tab=headers',
      state: 'completion',
      act: async page => {
        await page.getByRole('textbox', { name: 'Headers' }).fill('X-Limit: {{')
        await page.getByRole('listbox', { name: 'Suggestions' }).waitFor()
      },
    },
    {
      path: '/tools/:toolId',
      state: 'searched',
      act: async page => {
        await page.getByRole('button', { name: 'Send' }).first().click()
        await page.getByLabel('Search the values shown').fill('transit')
        await page.getByText('1 match', { exact: true }).waitFor()
      },
    },
    {
      path: '/toolkits/new-tool?server=:serverId',
      state: 'secret',
      act: async page => {
        await page.getByLabel('URL').fill('https://a.example/?api_key={{api_key}}')
        await page.getByRole('textbox', { name: 'Value of api_key for' }).fill('kf-1')
      },
    },
    {
      path: '/toolkits/new-tool',
      state: 'fixed',
      act: async page => {
        await page.getByLabel('URL').fill('https://a.example/?limit={{integer:limit}}&api_key={{api_key}}')
        await page.getByLabel('Where the value of limit comes from').selectOption('Fixed value')
        await page.getByLabel('Fixed value of limit').fill('many')
        await page.getByText('The fixed value must be an integer').waitFor()
        await page.getByLabel('Where the value of api_key comes from').selectOption('Fixed value')
        await page.getByText('Everybody who may see the tool can read').waitFor()
      },
    },
    {
      path: '/toolkits/new-tool',
      state: 'retries',
      status: 400,
      act: async page => {
        await page.getByLabel('Name', { exact: true }).fill('send_it')
        await page.getByLabel('URL').fill('https://a.example/')
        await page.getByLabel('Method').selectOption('POST')
        await page.getByRole('tab', { name: 'Settings' }).click()
        await page.getByLabel('Retries').fill('2')
        await page.getByRole('button', { name: 'Save tool' }).click()
        await page.getByText('The number of retries only applies to the methods GET').waitFor()
      },
    },
    {
      path: '/toolkits/new-tool',
      state: 'price',
      status: 400,
      act: async page => {
        await page.getByLabel('Name', { exact: true }).fill('pay_it')
        await page.getByLabel('URL').fill('https://a.example/')
        await page.getByRole('tab', { name: 'Settings' }).click()
        await page.getByLabel('Price per call').fill('0,005')
        await page.getByRole('button', { name: 'Save tool' }).click()
        await page.getByText('The price per call must be a number').waitFor()
      },
    },
    {
      path: '/toolkits/new-tool',
      state: 'members',
      act: async page => {
        await page.getByLabel('URL').fill('https://a.example/?contact={{json:contact}}')
        await page.getByText('Members of contact').click()
        await page.getByLabel('Structure of contact').selectOption('Object')
        await page.getByRole('button', { name: 'Add a member to contact' }).click()
        await page.getByLabel('Name of the member').fill('packages')
        await page.getByLabel('Type of contact.packages').selectOption('List')
        await page.getByLabel('Type of each item of contact.packages').selectOption('Object')
        await page.getByRole('button', { name: 'Add a member to each item' }).click()
        await page.getByLabel('Name of the member').nth(1).fill('service')
        await page.getByLabel('Allowed values of each item').fill('express')
      },
    },
    { path: '/tools/:toolId', state: 'viewer', who: 'viewer' },
    {
      path: '/tools/:toolId?tab=auth',
      state: 'auth-changed',
      act: async page => {
        await page.getByLabel('Auth type').selectOption('API key in the query')
        await page.getByText('Changed the ').waitFor()
      },
    },
    {
      path: '/toolkits/new-tool',
      state: 'other-placeholders',
      act: async page => {
        await page.getByLabel('URL').fill('https://a.example/{customer}/{order}?from={first_day}&to={last_day}')
        await page.getByRole('button', { name: 'Convert to' }).waitFor()
      },
    },
    {
      path: '/toolkits/new-tool',
      state: 'with-values',
      act: async page => {
        await page.getByLabel('URL').fill('https://a.example/orders/17?limit=20&api_key=sk-live-4f9XbQ27TzLmWc81RyVn')
        await page.getByText('This URL has a secret').waitFor()
      },
    },
    {
      path: '/toolkits/new-tool',
      state: 'filled-in',
      act: async page => {
        await page.getByLabel('URL').fill('https://a.example/orders/17?limit=20&api_key=sk-live-4f9XbQ27TzLmWc81RyVn')
        await page.getByRole('button', { name: 'Make parameters' }).click()
        await page.getByText('Filled in from the URL.').waitFor()
        await page.getByText('3 parameters').waitFor()
      },
    },
    {
      path: '/toolkits/new-tool',
      state: 'made',
      act: async page => {
        await page.getByLabel('Name', { exact: true }).fill(`made_${Date.now()}`)
        await page.getByLabel('URL').fill('https://a.example/{{id}}')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('heading', { name: 'Add this tool to a server' }).waitFor()
      },
    },
    {
      path: '/toolkits/new-tool',
      state: 'unusable',
      status: 400,
      act: async page => {
        await page.getByLabel('Name', { exact: true }).fill(`unusable_${Date.now()}`)
        await page.getByLabel('URL').fill('https://a.example/{{id')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('button', { name: 'Save anyway' }).click()
        await page.getByText('Cannot be used until this is fixed').waitFor()
      },
    },
    {
      path: '/tools/:toolId',
      state: 'conflict',
      status: 409,
      act: async page => {
        await page.evaluate(`document.querySelector('[name="version"]').value = '1'`)
        await page.getByLabel('Description for the model').fill('Says where it is.')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('button', { name: 'Overwrite with mine' }).waitFor()
      },
    },
    { path: '/tools/:hostileToolId', state: 'hostile' },
  ],
  'GET /tools/:id/removal': [{ path: '/tools/:toolId/removal' }],
}

/** All pages of the dashboard. A test fails if a page is missing here. */
export const PAGES: readonly (PageRow & { route: string })[] = [
  strangerPages,
  palettePages,
  accountPages,
  importPages,
  toolkits,
  importAgainPages,
  tools,
  organizations,
  operatorPages,
  forBrowsers,
  historyPages,
  access,
  settings,
  ...serverTabPages,
  upstreamAccountPages,
  undoPages,
  inspector,
  servers,
  {
    'GET /invitation': [{ path: '/invitation?token=x', state: 'unknown', status: 404 }],
    'GET /design': [{ path: '/design' }],
  },
].flatMap((pages: Pages) => Object.entries(pages).flatMap(([route, rows]) => rows.map(row => ({ route, ...row }))))

/** Routes for browsers that do not return a page, with the reason. */
export const NOT_PAGES: Readonly<Record<string, string>> = {
  'GET /organizations/:id': 'redirects to its members',
  'GET /first-run': 'checked in test/web/browser/first-run.test.ts, on an installation without a server',
  'GET /first-run/request': 'redirects; the page of its form is checked in test/web/browser/first-run-doors.test.ts',
  'GET /first-run/upstream': 'checked in test/web/browser/first-run-doors.test.ts',
  'GET /servers/:uuid/live': 'server-sent events',
  'GET /organizations/:id/live': 'server-sent events',
  'GET /search/options': 'the options of the palette, in a row of GET /search',
  'GET /sign-in/code': 'only during a sign-in; otherwise redirects to /sign-in',
  'GET /sign-in/external': 'redirects to the external provider',
  'GET /sign-in/external/callback': 'redirects',
  'GET /sign-in/link': 'only during a sign-in; otherwise redirects to /sign-in',
  'GET /connect/callback': 'redirects',
  'GET /connect/client.json': 'a document',
  'GET /oauth/authorize/:uid': 'redirects',
}

/** Routes of documents, streams, files and the API, which are not pages. */
export const NO_PAGES_UNDER =
  /^GET \/(?!.* for people$)(\*|api\/v1|assets|\.well-known|s\/|healthz|readyz|oauth\/jwks|oauth\/end)/
