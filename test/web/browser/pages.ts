import { accountPages, strangerPages } from './account-pages.ts'
import { at, type PageRow } from './page-row.ts'
import { serverTabPages } from './server-tab-pages.ts'
import { upstreamAccountPages } from './upstream-account-pages.ts'

const toolkits: PageRow[] = [
  { route: 'GET /toolkits', path: at('/toolkits') },
  { route: 'GET /toolkits', path: at('/toolkits?q=zzz'), state: 'nothing-found' },
  { route: 'GET /toolkits/new', path: at('/toolkits/new') },
  {
    route: 'GET /toolkits/new',
    path: at('/toolkits/new'),
    state: 'refused',
    status: 400,
    act: async page => {
      await page.getByLabel('Title').fill('   ')
      await page.getByRole('button', { name: 'Create toolkit' }).click()
      await page.getByText('The title is empty.').waitFor()
    },
  },
  { route: 'GET /toolkits/:id', path: ({ toolkitId }) => `/toolkits/${toolkitId}` },
  { route: 'GET /toolkits/:id', path: ({ toolkitId }) => `/toolkits/${toolkitId}`, state: 'viewer', who: 'viewer' },
  { route: 'GET /toolkits/:id', path: ({ emptyToolkitId }) => `/toolkits/${emptyToolkitId}`, state: 'empty' },
  { route: 'GET /toolkits/:id', path: ({ hostileToolkitId }) => `/toolkits/${hostileToolkitId}`, state: 'hostile' },
  { route: 'GET /toolkits/:id/edit', path: ({ toolkitId }) => `/toolkits/${toolkitId}/edit` },
  {
    route: 'GET /toolkits/:id/removal',
    path: ({ hostileToolkitId }) => `/toolkits/${hostileToolkitId}/removal`,
    state: 'in-use',
  },
  { route: 'GET /toolkits/:id/removal', path: ({ emptyToolkitId }) => `/toolkits/${emptyToolkitId}/removal` },
  { route: 'GET /gallery', path: at('/gallery') },
  { route: 'GET /gallery/:id', path: ({ toolkitId }) => `/gallery/${toolkitId}` },
  { route: 'GET /gallery/:id', path: ({ toolkitId }) => `/gallery/${toolkitId}`, state: 'viewer', who: 'viewer' },
]

const forBrowsers: PageRow[] = [
  { route: 'GET /s/:uuid for people', path: ({ serverId }) => `/s/${serverId}` },
  {
    route: 'GET /s/:uuid for people',
    path: ({ longServerId }) => `/s/${longServerId}`,
    state: 'public',
    who: 'stranger',
  },
  {
    route: 'GET /s/:uuid for people',
    path: ({ serverId }) => `/s/${serverId}`,
    state: 'closed',
    who: 'stranger',
    status: 403,
  },
  {
    route: 'GET /s/:uuid for people',
    path: ({ emptyServerId }) => `/s/${emptyServerId}`,
    state: 'no-access',
    who: 'viewer',
    status: 403,
  },
]

const history: PageRow[] = [
  { route: 'GET /servers/:uuid/history', path: ({ serverId }) => `/servers/${serverId}/history` },
  {
    route: 'GET /servers/:uuid/history',
    path: ({ serverId }) => `/servers/${serverId}/history?outcome=error&from=2020-01-01&to=2020-01-02`,
    state: 'nothing-found',
  },
  {
    route: 'GET /servers/:uuid/history',
    path: ({ emptyServerId }) => `/servers/${emptyServerId}/history`,
    state: 'empty',
  },
  {
    route: 'GET /servers/:uuid/history/:id',
    path: ({ serverId, executionId }) => `/servers/${serverId}/history/${executionId}`,
  },
  {
    route: 'GET /servers/:uuid/history/:id',
    path: ({ serverId, executionId }) => `/servers/${serverId}/history/${executionId}?outcome=error`,
    state: 'other',
    act: async page => {
      await page.goto(`${page.url().split('/history/')[0]}/history?tool=book_pickup`)
      await page.getByRole('region', { name: 'Table of calls' }).getByRole('link').first().click()
      await page.getByRole('heading', { name: 'As a cURL command' }).waitFor()
    },
  },
]

const access: PageRow[] = [
  { route: 'GET /servers/:uuid/access', path: ({ serverId }) => `/servers/${serverId}/access` },
  {
    route: 'GET /servers/:uuid/access',
    path: ({ serverId }) => `/servers/${serverId}/access`,
    state: 'viewer',
    who: 'viewer',
  },
  {
    route: 'GET /servers/:uuid/access',
    path: ({ longServerId }) => `/servers/${longServerId}/access`,
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
    route: 'GET /servers/:uuid/access',
    path: ({ longServerId }) => `/servers/${longServerId}/access`,
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
  {
    route: 'GET /servers/:uuid/access/clients/:id/removal',
    path: ({ serverId, oauthClientId }) => `/servers/${serverId}/access/clients/${oauthClientId}/removal`,
  },
]

const settings: PageRow[] = [
  { route: 'GET /servers/:uuid/settings', path: ({ serverId }) => `/servers/${serverId}/settings` },
  {
    route: 'GET /servers/:uuid/settings',
    path: ({ serverId }) => `/servers/${serverId}/settings`,
    state: 'viewer',
    who: 'viewer',
  },
  {
    route: 'GET /servers/:uuid/settings',
    path: ({ longServerId }) => `/servers/${longServerId}/settings`,
    state: 'conflict',
    status: 409,
    act: async page => {
      await page.getByLabel('Name', { exact: true }).fill('Mine')
      await page.locator('input[name="version"]').evaluate(field => field.setAttribute('value', '2020-01-01'))
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByRole('heading', { name: 'Someone else saved changes' }).waitFor()
    },
  },
  { route: 'GET /servers/:uuid/settings/removal', path: ({ serverId }) => `/servers/${serverId}/settings/removal` },
]

const inspector: PageRow[] = [
  { route: 'GET /servers/:uuid/inspector', path: ({ serverId }) => `/servers/${serverId}/inspector` },
  {
    route: 'GET /servers/:uuid/inspector',
    path: ({ serverId }) => `/servers/${serverId}/inspector?tool=quote_rate`,
    state: 'tool',
  },
  {
    route: 'GET /servers/:uuid/inspector',
    path: ({ serverId }) => `/servers/${serverId}/inspector?tool=track_shipment`,
    state: 'answer',
    act: async page => {
      await page.getByLabel('shipment_id', { exact: true }).fill('KF-2041')
      await page.getByRole('button', { name: 'Call the tool' }).click()
      await page.getByRole('heading', { name: 'Result', exact: true }).waitFor()
      await page.locator('button:focus', { hasText: 'Call the tool' }).waitFor()
    },
  },
  {
    route: 'GET /servers/:uuid/inspector',
    path: ({ serverId }) => `/servers/${serverId}/inspector?tool=track_shipment`,
    state: 'refused',
    status: 400,
    act: async page => {
      await page.getByLabel('limit, optional').fill('1000')
      await page.getByRole('button', { name: 'Call the tool' }).click()
      await page.getByText('limit must be at most 100').waitFor()
    },
  },
  {
    route: 'GET /servers/:uuid/inspector',
    path: ({ longServerId }) => `/servers/${longServerId}/inspector?q=_0`,
    state: 'hostile',
  },
  {
    route: 'GET /servers/:uuid/inspector',
    path: ({ emptyServerId }) => `/servers/${emptyServerId}/inspector`,
    state: 'empty',
  },
  {
    route: 'GET /servers/:uuid/inspector',
    path: ({ emptyServerId }) => `/servers/${emptyServerId}/inspector`,
    state: 'no-access',
    who: 'viewer',
  },
]

const servers: PageRow[] = [
  { route: 'GET /servers', path: at('/servers') },
  { route: 'GET /servers', path: at('/servers?q=desk'), state: 'found' },
  { route: 'GET /servers', path: at('/servers?q=nothing-has-this'), state: 'none-found' },
  { route: 'GET /servers/new', path: at('/servers/new') },
  {
    route: 'GET /servers/new',
    path: at('/servers/new'),
    state: 'refused',
    status: 400,
    act: async page => {
      await page.getByRole('textbox', { name: 'Name' }).fill('   ')
      await page.getByRole('button', { name: 'Create server' }).click()
      await page.getByText('The name').waitFor()
    },
  },
  { route: 'GET /servers/:uuid', path: ({ serverId }) => `/servers/${serverId}` },
  {
    route: 'GET /servers/:uuid',
    path: ({ serverId }) => `/servers/${serverId}`,
    state: 'unfolded',
    act: async page => {
      for (const fold of await page.locator('main details > summary').all()) await fold.click()
    },
  },
  { route: 'GET /servers/:uuid', path: ({ emptyServerId }) => `/servers/${emptyServerId}`, state: 'empty' },
  { route: 'GET /servers/:uuid', path: ({ longServerId }) => `/servers/${longServerId}`, state: 'hostile' },
  { route: 'GET /servers/:uuid', path: ({ serverId }) => `/servers/${serverId}`, state: 'viewer', who: 'viewer' },
]

const organizations: PageRow[] = [
  { route: 'GET /organizations', path: at('/organizations'), who: 'viewer' },
  { route: 'GET /organizations/new', path: at('/organizations/new') },
  { route: 'GET /organizations/:id/members', path: ({ organizationId }) => `/organizations/${organizationId}/members` },
  {
    route: 'GET /organizations/:id/members',
    path: ({ organizationId }) => `/organizations/${organizationId}/members`,
    state: 'viewer',
    who: 'viewer',
  },
  {
    route: 'GET /organizations/:id/members/:userId/removal',
    path: ({ organizationId, viewer }) => `/organizations/${organizationId}/members/${viewer.userId}/removal`,
  },
  {
    route: 'GET /organizations/:id/members/:userId/removal',
    path: ({ organizationId, owner }) => `/organizations/${organizationId}/members/${owner.userId}/removal`,
    state: 'self',
  },
  {
    route: 'GET /organizations/:id/invitations',
    path: ({ organizationId }) => `/organizations/${organizationId}/invitations`,
  },
  {
    route: 'GET /organizations/:id/invitations',
    path: ({ organizationId }) => `/organizations/${organizationId}/invitations`,
    state: 'refused',
    status: 409,
    act: async page => {
      await page.getByLabel('Email').fill('viewer@kestrel.example')
      await page.getByRole('button', { name: 'Send invitation', exact: true }).click()
      await page.getByText('belongs to a member').waitFor()
    },
  },
  { route: 'GET /organizations/:id/audit', path: ({ organizationId }) => `/organizations/${organizationId}/audit` },
  {
    route: 'GET /organizations/:id/audit',
    path: ({ organizationId }) => `/organizations/${organizationId}/audit?from=yesterday`,
    state: 'refused',
    status: 400,
  },
  {
    route: 'GET /organizations/:id/settings',
    path: ({ organizationId }) => `/organizations/${organizationId}/settings`,
  },
  { route: 'GET /organizations/:id/usage', path: ({ organizationId }) => `/organizations/${organizationId}/usage` },
  {
    route: 'GET /organizations/:id/usage',
    path: ({ emptyOrganizationId }) => `/organizations/${emptyOrganizationId}/usage`,
    state: 'empty',
    who: 'viewer',
  },
  { route: 'GET /organizations/:id/removal', path: ({ organizationId }) => `/organizations/${organizationId}/removal` },
]

const operator: PageRow[] = [
  { route: 'GET /operator', path: at('/operator') },
  { route: 'GET /operator', path: at('/operator'), state: 'refused', who: 'viewer', status: 403 },
  { route: 'GET /operator/users', path: at('/operator/users') },
  { route: 'GET /operator/users', path: at('/operator/users?q=zzz'), state: 'nothing-found' },
  { route: 'GET /operator/settings', path: at('/operator/settings') },
  { route: 'GET /operator/audit', path: at('/operator/audit') },
  { route: 'GET /status', path: at('/status'), who: 'stranger' },
]

const errors: PageRow[] = [{ route: 'GET /invitation', path: at('/invitation?token=x'), state: 'unknown', status: 404 }]

const tools: PageRow[] = [
  { route: 'GET /toolkits/new-tool', path: at('/toolkits/new-tool') },
  { route: 'GET /toolkits/:id/tools/new', path: ({ toolkitId }) => `/toolkits/${toolkitId}/tools/new` },
  {
    route: 'GET /toolkits/:id/tools/new',
    path: ({ toolkitId }) => `/toolkits/${toolkitId}/tools/new`,
    state: 'refused',
    status: 400,
    act: async page => {
      await page.getByLabel('Name', { exact: true }).fill('not a name')
      await page.getByLabel('URL').fill('https://a.example/{{id')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Fix the fields marked below.').waitFor()
    },
  },
  { route: 'GET /tools/:id', path: ({ toolId }) => `/tools/${toolId}` },
  {
    route: 'GET /tools/:id',
    path: ({ toolId }) => `/tools/${toolId}`,
    state: 'sent',
    act: async page => {
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByRole('heading', { name: 'Response', exact: true }).waitFor()
    },
  },
  { route: 'GET /tools/:id', path: ({ toolId }) => `/tools/${toolId}`, state: 'viewer', who: 'viewer' },
  {
    route: 'GET /tools/:id',
    path: at('/toolkits/new-tool'),
    state: 'made',
    act: async page => {
      await page.getByLabel('Name', { exact: true }).fill(`made_${Date.now()}`)
      await page.getByLabel('URL').fill('https://a.example/{{id}}')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('heading', { name: 'Add this tool to a server' }).waitFor()
    },
  },
  {
    route: 'GET /tools/:id',
    path: ({ toolId }) => `/tools/${toolId}`,
    state: 'conflict',
    status: 409,
    act: async page => {
      await page.evaluate(`document.querySelector('[name="version"]').value = '1'`)
      await page.getByLabel('Description for the model').fill('Says where it is.')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('button', { name: 'Overwrite with mine' }).waitFor()
    },
  },
  { route: 'GET /tools/:id', path: ({ hostileToolId }) => `/tools/${hostileToolId}`, state: 'hostile' },
  { route: 'GET /tools/:id/removal', path: ({ toolId }) => `/tools/${toolId}/removal` },
]

/** All pages of the dashboard. A test fails for a page that is missing. */
export const PAGES: readonly PageRow[] = [
  ...strangerPages,
  ...accountPages,
  ...toolkits,
  ...tools,
  ...organizations,
  ...operator,
  ...forBrowsers,
  ...history,
  ...access,
  ...settings,
  ...serverTabPages,
  ...upstreamAccountPages,
  ...inspector,
  ...servers,
  ...errors,
  { route: 'GET /design', path: at('/design') },
]

/** Routes for browsers that do not return a page. */
export const NOT_PAGES: Readonly<Record<string, string>> = {
  'GET /organizations/:id': 'redirects to its members',
  'GET /first-run': 'checked in test/web/browser/first-run.test.ts, on an installation without a server',
  'GET /servers/:uuid/live': 'server-sent events',
  'GET /sign-in/code': 'only during a sign-in; otherwise redirects to /sign-in',
  'GET /sign-in/external': 'redirects to the external provider',
  'GET /sign-in/external/callback': 'redirects',
  'GET /sign-in/link': 'only during a sign-in; otherwise redirects to /sign-in',
  'GET /connect/callback': 'redirects',
  'GET /connect/client.json': 'a document',
  'GET /oauth/authorize': 'redirects to the consent page',
  'GET /oauth/authorize/:uid': 'redirects',
}

/** Documents, streams, files and the API. */
export const NO_PAGES_UNDER =
  /^GET \/(?!.* for people$)(\*|api\/v1|assets|\.well-known|s\/|healthz|readyz|oauth\/jwks|oauth\/end)/
