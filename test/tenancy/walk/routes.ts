import { createHash, randomUUID } from 'node:crypto'
import { mayRole, type Permission, type Role } from '../../../src/lib/kernel/roles.ts'
import { toolkitVersion } from '../../../src/tools/toolkits.service.ts'
import { CANARY, type World } from './world.ts'

/** One status for each of ASKERS: anonymous, stranger, viewer, builder, admin, owner, tokens to read, to write, for MCP. */
type Statuses = readonly [number, number, number, number, number, number, number, number, number]

export type Row = {
  /** As Fastify prints it. */
  route: string
  statuses: Statuses
  /** The URL, created for each asker if the request deletes what it names. */
  path: (world: World) => string | Promise<string>
  body?: (world: World) => object
  /** Form fields that a page sends, instead of a JSON body. */
  form?: (world: World) => Record<string, string> | Promise<Record<string, string>>
  /** Requested with the headers of a browser. */
  isBrowser?: true
}

const everybody = (status: number): Statuses => [status, status, status, status, status, status, status, status, status]
/** The statuses of a route that requires this permission. */
const needing = (permission: Permission, done: number, byReading = 403, byWriting = done): Statuses => {
  const of = (role: Role): number => (mayRole(role, permission) ? done : 403)
  return [401, 404, of('viewer'), of('builder'), of('admin'), of('owner'), byReading, byWriting, 403]
}
const seeing = (permission: Permission): Statuses => needing(permission, 200, 200, 403)
/** What all members may see. */
const READ = seeing('read')
const build = (done: number): Statuses => needing('build', done)
/** Actions on the owner's server. */
const manage = (done: number): Statuses => needing('manage', done)
/** What every user may do with their own account. */
const OWN: Statuses = [401, 200, 200, 200, 200, 200, 200, 403, 403]
/** The URL of the owner's private server. */
const mcp = (done: number): Statuses => [401, 403, 403, 403, 403, done, 403, 403, done]

/** The same on a page, which redirects anonymous visitors to sign-in. */
const asPage = ([, ...rest]: Statuses): Statuses => [303, ...rest]

const at =
  (path: string): Row['path'] =>
  () =>
    path
const initialize = () => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'walk', version: '1' } },
})

const accounts: Row[] = [
  // Open to anyone; rejected because of invalid data.
  { route: 'POST /api/v1/signup', path: at('/api/v1/signup'), statuses: everybody(400), body: () => ({}) },
  { route: 'POST /api/v1/session', path: at('/api/v1/session'), statuses: everybody(400), body: () => ({}) },
  // A token is not a session.
  {
    route: 'GET /api/v1/session',
    path: at('/api/v1/session'),
    statuses: [401, 401, 401, 401, 401, 401, 401, 403, 403],
  },
  {
    route: 'DELETE /api/v1/session',
    path: at('/api/v1/session'),
    statuses: [401, 401, 401, 401, 401, 401, 403, 401, 403],
  },
  { route: 'GET /api/v1/me', path: at('/api/v1/me'), statuses: OWN },
  { route: 'GET /api/v1/me/deletion', path: at('/api/v1/me/deletion'), statuses: OWN },
  // None of the askers knows the password.
  {
    route: 'DELETE /api/v1/me',
    path: at('/api/v1/me'),
    statuses: [401, 403, 403, 403, 403, 403, 403, 403, 403],
    body: () => ({ password: 'a guess at the password' }),
  },
  { route: 'GET /api/v1/tokens', path: at('/api/v1/tokens'), statuses: OWN },
  {
    route: 'POST /api/v1/tokens',
    path: at('/api/v1/tokens'),
    statuses: [401, 201, 201, 201, 201, 201, 403, 201, 403],
    body: () => ({ name: 'walk' }),
  },
  {
    route: 'DELETE /api/v1/tokens/:id',
    path: async ({ spare }) => `/api/v1/tokens/${await spare.token()}`,
    statuses: [401, 404, 404, 404, 404, 204, 403, 204, 403],
  },
]

/** Requires the password or a code, which is missing. */
const unproved = (route: string): Row => ({
  route,
  path: at(route.slice(route.indexOf(' ') + 1)),
  statuses: [401, 400, 400, 400, 400, 400, 403, 400, 403],
  body: () => ({}),
})

const secondFactor: Row[] = [
  { route: 'GET /api/v1/me/second-factor', path: at('/api/v1/me/second-factor'), statuses: OWN },
  unproved('POST /api/v1/me/second-factor'),
  unproved('POST /api/v1/me/second-factor/confirmation'),
  unproved('DELETE /api/v1/me/second-factor'),
  unproved('POST /api/v1/me/recovery-codes'),
]

const identities: Row[] = [
  { route: 'GET /api/v1/me/identities', path: at('/api/v1/me/identities'), statuses: OWN },
  // Requires a browser session.
  {
    route: 'POST /api/v1/me/identities',
    path: at('/api/v1/me/identities'),
    statuses: [401, 401, 401, 401, 401, 401, 403, 401, 403],
    body: () => ({}),
  },
  {
    route: 'DELETE /api/v1/me/identities/:id',
    path: () => `/api/v1/me/identities/${randomUUID()}`,
    statuses: [401, 404, 404, 404, 404, 404, 403, 404, 403],
  },
]

const ofOrganization =
  (rest = ''): Row['path'] =>
  ({ organizationId }) =>
    `/api/v1/organizations/${organizationId}${rest}`

const organizations: Row[] = [
  { route: 'GET /api/v1/organizations', path: at('/api/v1/organizations'), statuses: OWN },
  {
    route: 'POST /api/v1/organizations',
    path: at('/api/v1/organizations'),
    statuses: [401, 201, 201, 201, 201, 201, 403, 201, 403],
    body: ({ plain }) => ({ name: plain() }),
  },
  { route: 'GET /api/v1/organizations/:id', path: ofOrganization(), statuses: READ },
  {
    route: 'PATCH /api/v1/organizations/:id',
    path: ofOrganization(),
    statuses: manage(200),
    body: ({ fresh }) => ({ name: fresh() }),
  },
  {
    route: 'DELETE /api/v1/organizations/:id',
    path: async ({ spare }) => `/api/v1/organizations/${await spare.organization()}`,
    statuses: needing('own', 204),
    body: () => ({ confirm: CANARY }),
  },
  { route: 'GET /api/v1/organizations/:id/members', path: ofOrganization('/members'), statuses: READ },
  {
    route: 'PUT /api/v1/organizations/:id/members/:userId',
    path: async ({ organizationId, spare }) =>
      `/api/v1/organizations/${organizationId}/members/${await spare.member('viewer')}`,
    statuses: manage(200),
    body: () => ({ role: 'builder' }),
  },
  {
    route: 'DELETE /api/v1/organizations/:id/members/:userId',
    path: async ({ organizationId, spare }) =>
      `/api/v1/organizations/${organizationId}/members/${await spare.member('viewer')}`,
    statuses: manage(204),
  },
  {
    route: 'GET /api/v1/organizations/:id/invitations',
    path: ofOrganization('/invitations'),
    statuses: seeing('manage'),
  },
  {
    route: 'POST /api/v1/organizations/:id/invitations',
    path: ofOrganization('/invitations'),
    statuses: manage(201),
    body: ({ fresh }) => ({ email: `${fresh()}@example.com`, role: 'viewer' }),
  },
  {
    route: 'DELETE /api/v1/organizations/:id/invitations/:invitationId',
    path: async ({ organizationId, spare }) =>
      `/api/v1/organizations/${organizationId}/invitations/${await spare.invitation()}`,
    statuses: manage(204),
  },
  // Nobody has the link of the email.
  {
    route: 'POST /api/v1/invitations/accept',
    path: at('/api/v1/invitations/accept'),
    statuses: [401, 404, 404, 404, 404, 404, 403, 404, 403],
    body: () => ({ token: 'a'.repeat(43) }),
  },
]

/** Created for the pages: its name is repeated in rejected forms, so it may be visible. */
const onPage =
  (rest: string): Row['path'] =>
  ({ organizationId }) =>
    `/organizations/${organizationId}${rest}`

const organizationPages: Row[] = [
  // All askers except the stranger belong to two organizations and get a list; the stranger is redirected.
  {
    route: 'GET /organizations',
    path: at('/organizations'),
    statuses: [303, 303, 200, 200, 200, 200, 200, 403, 403],
  },
  { route: 'GET /organizations/new', path: at('/organizations/new'), statuses: asPage(OWN) },
  {
    route: 'POST /organizations/new',
    path: at('/organizations/new'),
    statuses: [303, 303, 303, 303, 303, 303, 403, 303, 403],
    form: ({ plain }) => ({ name: plain() }),
  },
  { route: 'GET /organizations/:id', path: onPage(''), statuses: [303, 404, 303, 303, 303, 303, 303, 403, 403] },
  { route: 'GET /organizations/:id/members', path: onPage('/members'), statuses: asPage(READ) },
  {
    route: 'POST /organizations/:id/members/:userId/role',
    path: async ({ organizationId, spare }) =>
      `/organizations/${organizationId}/members/${await spare.member('viewer')}/role`,
    statuses: asPage(manage(303)),
    form: () => ({ role: 'builder' }),
  },
  {
    route: 'GET /organizations/:id/members/:userId/removal',
    path: async ({ organizationId, spare }) =>
      `/organizations/${organizationId}/members/${await spare.member('viewer')}/removal`,
    statuses: asPage(seeing('manage')),
  },
  {
    route: 'POST /organizations/:id/members/:userId/removal',
    path: async ({ organizationId, spare }) =>
      `/organizations/${organizationId}/members/${await spare.member('viewer')}/removal`,
    statuses: asPage(manage(303)),
    form: () => ({}),
  },
  { route: 'GET /organizations/:id/invitations', path: onPage('/invitations'), statuses: asPage(seeing('manage')) },
  {
    route: 'POST /organizations/:id/invitations',
    path: onPage('/invitations'),
    statuses: asPage(manage(303)),
    form: ({ plain }) => ({ email: `${plain()}@example.com`, role: 'viewer' }),
  },
  {
    route: 'POST /organizations/:id/invitations/:invitationId/renewal',
    path: async ({ organizationId, spare }) =>
      `/organizations/${organizationId}/invitations/${await spare.invitation()}/renewal`,
    statuses: asPage(manage(303)),
  },
  {
    route: 'POST /organizations/:id/invitations/:invitationId/removal',
    path: async ({ organizationId, spare }) =>
      `/organizations/${organizationId}/invitations/${await spare.invitation()}/removal`,
    statuses: asPage(manage(303)),
  },
  { route: 'GET /organizations/:id/usage', path: onPage('/usage'), statuses: asPage(READ) },
  { route: 'GET /organizations/:id/audit', path: onPage('/audit'), statuses: asPage(seeing('manage')) },
  { route: 'GET /organizations/:id/settings', path: onPage('/settings'), statuses: asPage(seeing('manage')) },
  {
    route: 'POST /organizations/:id/settings',
    path: onPage('/settings'),
    statuses: asPage(manage(303)),
    form: ({ fresh }) => ({ name: fresh() }),
  },
  {
    route: 'POST /organizations/:id/owner',
    path: async ({ spare }) => `/organizations/${await spare.organization()}/owner`,
    statuses: asPage(needing('own', 303)),
    form: ({ adminId }) => ({ userId: adminId }),
  },
  {
    route: 'GET /organizations/:id/removal',
    path: onPage('/removal'),
    statuses: [303, 404, 403, 403, 403, 200, 200, 403, 403],
  },
  {
    route: 'POST /organizations/:id/removal',
    path: async ({ spare }) => `/organizations/${await spare.organization()}/removal`,
    statuses: asPage(needing('own', 303)),
    form: () => ({ sure: CANARY }),
  },
]

const toolkits: Row[] = [
  { route: 'GET /api/v1/gallery', path: at('/api/v1/gallery'), statuses: OWN },
  { route: 'GET /api/v1/toolkits', path: at('/api/v1/toolkits'), statuses: OWN },
  {
    route: 'POST /api/v1/toolkits',
    path: at('/api/v1/toolkits'),
    statuses: build(201),
    body: ({ organizationId, fresh }) => ({ title: fresh(), organizationId }),
  },
  { route: 'GET /api/v1/toolkits/:id', path: ({ toolkitId }) => `/api/v1/toolkits/${toolkitId}`, statuses: READ },
  {
    route: 'PATCH /api/v1/toolkits/:id',
    path: ({ toolkitId }) => `/api/v1/toolkits/${toolkitId}`,
    statuses: build(200),
    body: ({ fresh }) => ({ title: fresh() }),
  },
  {
    route: 'DELETE /api/v1/toolkits/:id',
    path: async ({ spare }) => `/api/v1/toolkits/${await spare.toolkit()}`,
    statuses: build(204),
  },
  {
    route: 'POST /api/v1/toolkits/:id/transfer',
    path: async ({ spare }) => `/api/v1/toolkits/${await spare.toolkit()}/transfer`,
    statuses: manage(200),
    body: ({ elsewhereId }) => ({ organizationId: elsewhereId }),
  },
  {
    route: 'GET /api/v1/toolkits/:id/tools',
    path: ({ toolkitId }) => `/api/v1/toolkits/${toolkitId}/tools`,
    statuses: READ,
  },
  {
    route: 'POST /api/v1/toolkits/:id/tools',
    path: ({ toolkitId }) => `/api/v1/toolkits/${toolkitId}/tools`,
    statuses: build(201),
    body: ({ tool, fresh }) => ({ ...tool, name: fresh() }),
  },
  { route: 'GET /api/v1/tools/:id', path: ({ toolId }) => `/api/v1/tools/${toolId}`, statuses: READ },
  {
    route: 'GET /api/v1/tools/:id/lint',
    path: ({ toolId }) => `/api/v1/tools/${toolId}/lint`,
    statuses: READ,
  },
  {
    route: 'PATCH /api/v1/tools/:id',
    path: ({ toolId }) => `/api/v1/tools/${toolId}`,
    statuses: build(200),
    body: ({ fresh }) => ({ title: fresh() }),
  },
  {
    route: 'DELETE /api/v1/tools/:id',
    path: async ({ spare }) => `/api/v1/tools/${await spare.tool()}`,
    statuses: build(204),
  },
  {
    route: 'POST /api/v1/tools/:id/test',
    path: ({ toolId }) => `/api/v1/tools/${toolId}/test`,
    statuses: build(200),
    body: ({ serverId }) => ({ arguments: {}, serverId }),
  },
]

/** Pages that every user may see. */
const OWN_PAGE = asPage(OWN)
const ofToolkit =
  (rest = ''): Row['path'] =>
  ({ toolkitId }) =>
    `/toolkits/${toolkitId}${rest}`
const PLAIN_VERSION = toolkitVersion({ title: 'Plain', description: undefined, visibility: 'private' })
const toolkitPages: Row[] = [
  { route: 'GET /toolkits', path: at('/toolkits'), statuses: OWN_PAGE },
  { route: 'GET /toolkits/new', path: at('/toolkits/new'), statuses: OWN_PAGE },
  {
    route: 'POST /toolkits/new',
    path: at('/toolkits/new'),
    statuses: asPage(build(303)),
    form: ({ organizationId }) => ({ title: 'Plain', visibility: 'private', organizationId }),
  },
  { route: 'GET /toolkits/:id', path: ofToolkit(), statuses: asPage(READ) },
  { route: 'GET /toolkits/:id/edit', path: ofToolkit('/edit'), statuses: asPage(seeing('build')) },
  {
    route: 'POST /toolkits/:id/edit',
    path: async ({ spare }) => `/toolkits/${await spare.plainToolkit()}/edit`,
    statuses: asPage(build(303)),
    form: () => ({ title: 'Saved', visibility: 'private', version: PLAIN_VERSION }),
  },
  {
    route: 'POST /toolkits/:id/transfer',
    path: async ({ spare }) => `/toolkits/${await spare.toolkit()}/transfer`,
    statuses: asPage(manage(303)),
    form: ({ elsewhereId }) => ({ organizationId: elsewhereId }),
  },
  { route: 'GET /toolkits/:id/removal', path: ofToolkit('/removal'), statuses: asPage(seeing('build')) },
  {
    route: 'POST /toolkits/:id/removal',
    path: async ({ spare }) => `/toolkits/${await spare.plainToolkit()}/removal`,
    statuses: asPage(build(303)),
    form: () => ({ sure: 'Plain' }),
  },
  { route: 'GET /gallery', path: at('/gallery'), statuses: OWN_PAGE },
  // A private toolkit is not found there by anybody.
  {
    route: 'GET /gallery/:id',
    path: ({ toolkitId }) => `/gallery/${toolkitId}`,
    statuses: [303, 404, 404, 404, 404, 404, 404, 403, 403],
  },
  {
    route: 'POST /gallery/:id/use',
    path: ({ toolkitId }) => `/gallery/${toolkitId}/use`,
    statuses: [303, 404, 404, 404, 404, 404, 403, 404, 403],
    form: ({ serverId }) => ({ serverId }),
  },
]

const connections: Row[] = [
  {
    route: 'GET /api/v1/servers/:uuid/tokens',
    path: ({ serverId }) => `/api/v1/servers/${serverId}/tokens`,
    statuses: READ,
  },
  {
    route: 'GET /api/v1/servers/:uuid/lint',
    path: ({ serverId }) => `/api/v1/servers/${serverId}/lint`,
    statuses: READ,
  },
  {
    route: 'GET /api/v1/servers/:uuid/grants',
    path: ({ serverId }) => `/api/v1/servers/${serverId}/grants`,
    statuses: [401, 404, 403, 200, 200, 200, 200, 403, 403],
  },
  {
    route: 'DELETE /api/v1/grants/:id',
    path: async ({ spare }) => `/api/v1/grants/${await spare.grant()}`,
    statuses: manage(204),
  },
  { route: 'GET /api/v1/me/applications', path: at('/api/v1/me/applications'), statuses: OWN },
  {
    route: 'DELETE /api/v1/me/applications/:id',
    path: async ({ spare }) => `/api/v1/me/applications/${await spare.grant()}`,
    statuses: [401, 404, 404, 404, 404, 204, 403, 204, 403],
  },
  {
    route: 'GET /account/applications',
    path: at('/account/applications'),
    statuses: [303, 200, 200, 200, 200, 200, 200, 403, 403],
  },
  {
    route: 'POST /account/applications/:id/removal',
    path: async ({ spare }) => `/account/applications/${await spare.grant()}/removal`,
    statuses: [303, 404, 404, 404, 404, 303, 403, 303, 403],
  },
  {
    route: 'GET /api/v1/organizations/:id/oauth-clients',
    path: ofOrganization('/oauth-clients'),
    statuses: [401, 404, 403, 403, 200, 200, 200, 403, 403],
  },
  {
    route: 'POST /api/v1/organizations/:id/oauth-clients',
    path: ofOrganization('/oauth-clients'),
    statuses: manage(201),
    body: ({ fresh }) => ({ name: fresh(), redirectUris: ['https://app.example.com/callback'] }),
  },
  {
    route: 'GET /api/v1/oauth-clients/:id',
    path: ({ oauthClientId }) => `/api/v1/oauth-clients/${oauthClientId}`,
    statuses: [401, 404, 403, 403, 200, 200, 200, 403, 403],
  },
  {
    route: 'PATCH /api/v1/oauth-clients/:id',
    path: ({ oauthClientId }) => `/api/v1/oauth-clients/${oauthClientId}`,
    statuses: manage(200),
    body: ({ fresh }) => ({ name: fresh() }),
  },
  {
    route: 'DELETE /api/v1/oauth-clients/:id',
    path: async ({ spare }) => `/api/v1/oauth-clients/${await spare.oauthClient()}`,
    statuses: manage(204),
  },
]

/** The operator's pages; here the operator is the owner. */
const operatorPages: Row[] = ['/operator', '/operator/users', '/operator/settings', '/operator/audit'].map(path => ({
  route: `GET ${path}`,
  path: at(path),
  statuses: [303, 403, 403, 403, 403, 200, 200, 403, 403],
}))

const ofServer =
  (rest = ''): Row['path'] =>
  ({ serverId }) =>
    `/api/v1/servers/${serverId}${rest}`

const audit: Row[] = [
  // For the operator, who is the owner here.
  { route: 'GET /api/v1/audit', path: at('/api/v1/audit'), statuses: [401, 403, 403, 403, 403, 200, 200, 403, 403] },
  { route: 'GET /api/v1/me/audit', path: at('/api/v1/me/audit'), statuses: OWN },
  {
    route: 'GET /api/v1/organizations/:id/audit',
    path: ({ organizationId }) => `/api/v1/organizations/${organizationId}/audit`,
    statuses: [401, 404, 403, 403, 200, 200, 200, 403, 403],
  },
]

const servers: Row[] = [
  { route: 'GET /api/v1/servers', path: at('/api/v1/servers'), statuses: OWN },
  {
    route: 'POST /api/v1/servers',
    path: at('/api/v1/servers'),
    statuses: build(201),
    body: ({ organizationId, fresh }) => ({ name: fresh(), organizationId }),
  },
  { route: 'GET /api/v1/servers/:uuid', path: ofServer(), statuses: READ },
  {
    route: 'PATCH /api/v1/servers/:uuid',
    path: ofServer(),
    statuses: build(200),
    body: ({ fresh }) => ({ description: fresh() }),
  },
  {
    route: 'DELETE /api/v1/servers/:uuid',
    path: async ({ spare }) => `/api/v1/servers/${await spare.server()}`,
    statuses: manage(204),
  },
  {
    route: 'POST /api/v1/servers/:uuid/transfer',
    path: async ({ spare }) => `/api/v1/servers/${await spare.server()}/transfer`,
    statuses: manage(200),
    body: ({ elsewhereId }) => ({ organizationId: elsewhereId }),
  },
  { route: 'GET /api/v1/servers/:uuid/toolkits', path: ofServer('/toolkits'), statuses: READ },
  {
    route: 'PUT /api/v1/servers/:uuid/toolkits/:id',
    path: ({ serverId, toolkitId }) => `/api/v1/servers/${serverId}/toolkits/${toolkitId}`,
    statuses: build(204),
  },
  {
    route: 'DELETE /api/v1/servers/:uuid/toolkits/:id',
    path: async ({ serverId, spare }) => `/api/v1/servers/${serverId}/toolkits/${await spare.usedToolkit()}`,
    statuses: build(204),
  },
  { route: 'GET /api/v1/servers/:uuid/globals', path: ofServer('/globals'), statuses: READ },
  {
    route: 'PUT /api/v1/servers/:uuid/globals/:key',
    path: async ({ serverId, spare }) => `/api/v1/servers/${serverId}/globals/${await spare.global()}`,
    statuses: build(200),
    body: ({ fresh }) => ({ value: fresh() }),
  },
  {
    route: 'DELETE /api/v1/servers/:uuid/globals/:key',
    path: async ({ serverId, spare }) => `/api/v1/servers/${serverId}/globals/${await spare.global()}`,
    statuses: build(204),
  },
  { route: 'GET /api/v1/servers/:uuid/instances', path: ofServer('/instances'), statuses: READ },
  {
    route: 'POST /api/v1/servers/:uuid/instances',
    path: ofServer('/instances'),
    statuses: build(201),
    body: ({ toolId, fresh }) => ({ toolId, name: fresh() }),
  },
  { route: 'GET /api/v1/servers/:uuid/upstreams', path: ofServer('/upstreams'), statuses: READ },
  {
    route: 'POST /api/v1/servers/:uuid/upstreams',
    path: ofServer('/upstreams'),
    statuses: build(201),
    body: ({ fresh }) => ({ name: fresh(), transport: 'http', url: 'https://mcp.example.com/mcp' }),
  },
  { route: 'GET /api/v1/upstreams/:id', path: ({ upstreamId }) => `/api/v1/upstreams/${upstreamId}`, statuses: READ },
  {
    route: 'PATCH /api/v1/upstreams/:id',
    path: ({ upstreamId }) => `/api/v1/upstreams/${upstreamId}`,
    statuses: build(200),
    body: ({ fresh }) => ({ description: fresh() }),
  },
  {
    // Successful requests need an upstream that may be contacted; this one may not.
    route: 'POST /api/v1/upstreams/:id/refresh',
    path: async ({ spare }) => `/api/v1/upstreams/${await spare.disabledUpstream()}/refresh`,
    statuses: build(409),
  },
  {
    route: 'GET /api/v1/upstreams/:id/changes',
    path: ({ upstreamId }) => `/api/v1/upstreams/${upstreamId}/changes`,
    statuses: READ,
  },
  {
    // Approval is tested with a server that reviews changes; this one does not.
    route: 'POST /api/v1/upstreams/:id/approve',
    path: ({ upstreamId }) => `/api/v1/upstreams/${upstreamId}/approve`,
    statuses: build(409),
    body: ({ fresh }) => ({ version: fresh() }),
  },
  {
    route: 'DELETE /api/v1/upstreams/:id',
    path: async ({ spare }) => `/api/v1/upstreams/${await spare.upstream()}`,
    statuses: build(204),
  },
  { route: 'GET /api/v1/servers/:uuid/bindings', path: ofServer('/bindings'), statuses: READ },
  { route: 'GET /api/v1/servers/:uuid/executions', path: ofServer('/executions'), statuses: READ },
  { route: 'GET /api/v1/servers/:uuid/executions/tokens', path: ofServer('/executions/tokens'), statuses: READ },
  { route: 'GET /api/v1/instances/:id', path: ({ instanceId }) => `/api/v1/instances/${instanceId}`, statuses: READ },
  {
    route: 'PATCH /api/v1/instances/:id',
    path: ({ instanceId }) => `/api/v1/instances/${instanceId}`,
    statuses: build(200),
    body: ({ fresh }) => ({ description: fresh() }),
  },
  {
    route: 'DELETE /api/v1/instances/:id',
    path: async ({ spare }) => `/api/v1/instances/${await spare.instance()}`,
    statuses: build(204),
  },
  {
    route: 'POST /api/v1/instances/:id/call',
    path: ({ instanceId }) => `/api/v1/instances/${instanceId}/call`,
    statuses: build(200),
    body: () => ({ arguments: {} }),
  },
  {
    route: 'GET /api/v1/executions/:id',
    path: ({ executionId }) => `/api/v1/executions/${executionId}`,
    statuses: READ,
  },
]

const mcpRow = (method: string, rest: string, done: number, body?: Row['body']): Row => ({
  route: `${method} /s/:uuid${rest}`,
  path: ({ serverId }) => `/s/${serverId}${rest}`,
  statuses: mcp(done),
  ...(body === undefined ? {} : { body }),
})
const notAllowed = (rest: string, methods: readonly string[]): Row[] => methods.map(method => mcpRow(method, rest, 405))

const runtime: Row[] = [
  mcpRow('POST', '', 200, initialize),
  // No session is named.
  mcpRow('GET', '', 400),
  mcpRow('DELETE', '', 400),
  mcpRow('GET', '/sse', 200),
  mcpRow('POST', '/messages', 400, initialize),
  ...notAllowed('', ['HEAD', 'PUT', 'PATCH']),
  ...notAllowed('/sse', ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']),
  ...notAllowed('/messages', ['HEAD', 'GET', 'PUT', 'PATCH', 'DELETE']),
  // This server is not a passthrough server. Fastify prints the star without its slash.
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map(method => ({
    route: `${method} /s/:uuid*`,
    path: ({ serverId }: World) => `/s/${serverId}/more`,
    statuses: everybody(404),
  })),
  ...['', '/sse', '/messages'].map(rest => ({
    route: `OPTIONS /s/:uuid${rest}`,
    path: ({ serverId }: World) => `/s/${serverId}${rest}`,
    statuses: everybody(204),
  })),
]

const open: Row[] = ['/healthz', '/readyz', '/.well-known/mcp-servers', '/api/v1/openapi.json'].map(path => ({
  route: `GET ${path}`,
  path: at(path),
  statuses: everybody(200),
}))

/** Uses a token of its own. */
const metrics: Row = { route: 'GET /metrics', path: at('/metrics'), statuses: everybody(401) }

const METADATA = '/.well-known/oauth-protected-resource'
const ENTRY = '/.well-known/mcp-servers/:uuid/server.json'
const discover = (method: string, path: string, status: number): Row => ({
  route: `${method} ${path}`,
  path: ({ serverId }) => path.replace(':uuid', serverId),
  statuses: everybody(status),
})
/** Available to anyone who knows the server's id, without its name. */
const discovery: Row[] = [
  discover('GET', METADATA, 404),
  discover('GET', `${METADATA}/s/:uuid`, 200),
  discover('GET', `${METADATA}/s/:uuid/sse`, 200),
  // For public servers only.
  discover('GET', ENTRY, 404),
  ...[METADATA, `${METADATA}/s/:uuid`, `${METADATA}/s/:uuid/sse`, ENTRY].map(path => discover('OPTIONS', path, 204)),
]

/** What browsers get at the URL of a private server: that it exists, and the full page for users with access. */
const forBrowsers: Row[] = [
  {
    route: 'GET /s/:uuid for people',
    path: ({ serverId }) => `/s/${serverId}`,
    statuses: [403, 403, 403, 403, 403, 200, 403, 403, 200],
    isBrowser: true,
  },
]

const history: Row[] = [
  {
    route: 'GET /servers/:uuid/history',
    path: ({ serverId }) => `/servers/${serverId}/history`,
    statuses: asPage(READ),
  },
  {
    route: 'GET /servers/:uuid/history/:id',
    path: ({ serverId, executionId }) => `/servers/${serverId}/history/${executionId}`,
    statuses: asPage(READ),
  },
]

const ofAccess =
  (rest = ''): Row['path'] =>
  ({ serverId }) =>
    `/servers/${serverId}/access${rest}`
const accessPages: Row[] = [
  { route: 'GET /servers/:uuid/access', path: ofAccess(), statuses: asPage(READ) },
  {
    route: 'POST /servers/:uuid/access/tier',
    path: async ({ spare }) => `/servers/${await spare.plainServer()}/access/tier`,
    statuses: asPage(manage(303)),
    form: () => ({ access: 'organization' }),
  },
  {
    route: 'POST /servers/:uuid/access/people',
    path: async ({ spare }) => `/servers/${await spare.plainServer()}/access/people`,
    statuses: asPage(manage(303)),
    form: ({ strangerEmail }) => ({ email: strangerEmail }),
  },
  {
    route: 'POST /servers/:uuid/access/people/:id/removal',
    path: async ({ spare }) => `/servers/${await spare.plainServer()}/access/people/${randomUUID()}/removal`,
    statuses: asPage(manage(303)),
  },
  {
    route: 'POST /servers/:uuid/access/grants/:id/removal',
    path: async ({ serverId, spare }) => `/servers/${serverId}/access/grants/${await spare.grant()}/removal`,
    statuses: asPage(manage(303)),
  },
  {
    route: 'POST /servers/:uuid/access/clients',
    path: ofAccess('/clients'),
    statuses: asPage(manage(201)),
    form: ({ plain }) => ({
      name: plain(),
      redirectUris: 'https://app.example.com/callback',
      tokenEndpointAuthMethod: 'none',
    }),
  },
  {
    route: 'GET /servers/:uuid/access/clients/:id/removal',
    path: ({ serverId, oauthClientId }) => `/servers/${serverId}/access/clients/${oauthClientId}/removal`,
    statuses: asPage(seeing('manage')),
  },
  {
    route: 'POST /servers/:uuid/access/clients/:id/removal',
    path: async ({ serverId, spare }) => `/servers/${serverId}/access/clients/${await spare.plainClient()}/removal`,
    statuses: asPage(manage(303)),
    form: () => ({ sure: 'Plain' }),
  },
]

const settings: Row[] = [
  {
    route: 'GET /servers/:uuid/settings',
    path: ({ serverId }) => `/servers/${serverId}/settings`,
    statuses: asPage(READ),
  },
  {
    route: 'POST /servers/:uuid/settings',
    path: async ({ spare }) => `/servers/${await spare.plainServer()}/settings`,
    statuses: asPage(build(303)),
    form: () => ({ name: 'Saved', description: '' }),
  },
  {
    route: 'POST /servers/:uuid/settings/review',
    path: async ({ spare }) => `/servers/${await spare.plainServer()}/settings/review`,
    statuses: asPage(build(303)),
    form: () => ({ review: '' }),
  },
  {
    route: 'POST /servers/:uuid/settings/limits',
    path: async ({ spare }) => `/servers/${await spare.plainServer()}/settings/limits`,
    statuses: asPage(build(303)),
    form: () => ({ maxResponseTokens: '1000', cutNotice: '' }),
  },
  {
    route: 'POST /servers/:uuid/settings/tables',
    path: async ({ spare }) => `/servers/${await spare.plainServer()}/settings/tables`,
    statuses: asPage(build(303)),
    form: () => ({ tables: 'on' }),
  },
  {
    route: 'POST /servers/:uuid/settings/presentation',
    path: async ({ spare }) => `/servers/${await spare.plainServer()}/settings/presentation`,
    statuses: asPage(build(303)),
    form: () => ({ presentation: 'grouped' }),
  },
  {
    route: 'POST /servers/:uuid/settings/transfer',
    path: async ({ spare }) => `/servers/${await spare.plainServer()}/settings/transfer`,
    statuses: asPage(manage(303)),
    form: ({ elsewhereId }) => ({ organizationId: elsewhereId }),
  },
  {
    route: 'GET /servers/:uuid/settings/removal',
    path: ({ serverId }) => `/servers/${serverId}/settings/removal`,
    statuses: asPage(seeing('manage')),
  },
  {
    route: 'POST /servers/:uuid/settings/removal',
    path: async ({ spare }) => `/servers/${await spare.plainServer()}/settings/removal`,
    statuses: asPage(manage(303)),
    form: () => ({ sure: 'Plain' }),
  },
]

/** A page of a server, and its actions. */
const onServer =
  (rest: string): Row['path'] =>
  ({ serverId }) =>
    `/servers/${serverId}${rest}`
/** For a server created to be changed. */
const onInstance =
  (rest = ''): Row['path'] =>
  async ({ spare }) => {
    const { serverId, instanceId } = await spare.wiredServer()
    return `/servers/${serverId}/tools/${instanceId}${rest}`
  }
const onGlobal =
  (rest = ''): Row['path'] =>
  async ({ spare }) =>
    `/servers/${(await spare.wiredServer()).serverId}/globals/plain${rest}`
const onSource =
  (rest = ''): Row['path'] =>
  async ({ spare }) => {
    const { serverId, toolkitId } = await spare.wiredServer()
    return `/servers/${serverId}/sources/${toolkitId}${rest}`
  }

const onUpstream =
  (rest = ''): Row['path'] =>
  async ({ spare }) => {
    const { serverId, id } = await spare.plainUpstream()
    return `/servers/${serverId}/sources/upstreams/${id}${rest}`
  }
const REMOTE = { transport: 'http', url: 'https://mcp.example.com/mcp' }

const connecting: Row[] = [
  { route: 'GET /api/v1/me/upstream-accounts', path: at('/api/v1/me/upstream-accounts'), statuses: OWN },
  {
    route: 'DELETE /api/v1/me/upstream-accounts/:id',
    path: () => `/api/v1/me/upstream-accounts/${randomUUID()}`,
    statuses: [401, 404, 404, 404, 404, 404, 403, 404, 403],
  },
  {
    route: 'DELETE /api/v1/upstreams/:id/account',
    path: async ({ spare }) => `/api/v1/upstreams/${await spare.oauthUpstream()}/account`,
    statuses: build(204),
  },
  {
    route: 'GET /connect/:upstreamId',
    path: async ({ spare }) => `/connect/${await spare.oauthUpstream()}`,
    statuses: asPage(seeing('build')),
  },
  {
    route: 'POST /connect/:upstreamId',
    path: async ({ spare }) => `/connect/${await spare.oauthUpstream()}`,
    statuses: asPage(build(503)),
    form: () => ({}),
  },
  {
    route: 'POST /connect/:upstreamId/disconnection',
    path: async ({ spare }) => `/connect/${await spare.oauthUpstream()}/disconnection`,
    statuses: asPage(build(303)),
    form: () => ({}),
  },
  // No authorization server has redirected here.
  {
    route: 'GET /connect/callback',
    path: at('/connect/callback?state=none'),
    statuses: [303, 400, 400, 400, 400, 400, 400, 403, 403],
  },
  // Not available without https.
  { route: 'GET /connect/client.json', path: at('/connect/client.json'), statuses: everybody(404) },
  {
    route: 'GET /account/upstreams',
    path: at('/account/upstreams'),
    statuses: [303, 200, 200, 200, 200, 200, 200, 403, 403],
  },
  {
    route: 'POST /account/upstreams/:id/removal',
    path: () => `/account/upstreams/${randomUUID()}/removal`,
    statuses: [303, 404, 404, 404, 404, 404, 403, 404, 403],
    form: () => ({}),
  },
]

const upstreamPages: Row[] = [
  {
    route: 'GET /servers/:uuid/sources/upstreams/new',
    path: onServer('/sources/upstreams/new'),
    statuses: asPage(seeing('build')),
  },
  {
    route: 'POST /servers/:uuid/sources/upstreams/new',
    path: onServer('/sources/upstreams/new'),
    statuses: asPage(build(303)),
    form: ({ fresh }) => ({ ...REMOTE, name: fresh() }),
  },
  { route: 'GET /servers/:uuid/sources/upstreams/:upstreamId', path: onUpstream(), statuses: asPage(READ) },
  {
    route: 'POST /servers/:uuid/sources/upstreams/:upstreamId',
    path: onUpstream(),
    statuses: asPage(build(303)),
    form: () => ({ ...REMOTE, name: 'plain' }),
  },
  {
    route: 'GET /servers/:uuid/sources/upstreams/:upstreamId/tool',
    path: onUpstream('/tool?name=echo'),
    statuses: asPage(seeing('build')),
  },
  {
    route: 'POST /servers/:uuid/sources/upstreams/:upstreamId/tool',
    path: onUpstream('/tool?name=echo'),
    statuses: asPage(build(303)),
    form: () => ({ responseTokens: '500', dropFields: 'a.b' }),
  },
  {
    // For a tool that was never fetched, so nothing is called.
    route: 'POST /servers/:uuid/sources/upstreams/:upstreamId/tool/call',
    path: onUpstream('/tool/call?name=echo'),
    statuses: asPage(build(200)),
    form: () => ({ args: '{}' }),
  },
  {
    route: 'POST /servers/:uuid/sources/upstreams/:upstreamId/tool/preview',
    path: onUpstream('/tool/preview?name=echo'),
    statuses: asPage(build(200)),
    form: () => ({ sample: '{"a": 1}', dropFields: 'a' }),
  },
  {
    // Nothing responds at its URL, and the page says so.
    route: 'POST /servers/:uuid/sources/upstreams/:upstreamId/refresh',
    path: onUpstream('/refresh'),
    statuses: asPage(build(303)),
    form: () => ({}),
  },
  {
    route: 'POST /servers/:uuid/sources/upstreams/:upstreamId/switch',
    path: onUpstream('/switch'),
    statuses: asPage(build(303)),
    form: () => ({ enabled: '' }),
  },
  {
    route: 'POST /servers/:uuid/sources/upstreams/:upstreamId/approve',
    path: async ({ spare }) => {
      const { serverId, id } = await spare.plainReviewedUpstream()
      return `/servers/${serverId}/sources/upstreams/${id}/approve`
    },
    statuses: asPage(build(303)),
    // Never fetched, so it has nothing.
    form: () => ({ version: createHash('sha256').digest('base64url') }),
  },
  {
    route: 'GET /servers/:uuid/sources/upstreams/:upstreamId/remove',
    path: onUpstream('/remove'),
    statuses: asPage(seeing('build')),
  },
  {
    route: 'POST /servers/:uuid/sources/upstreams/:upstreamId/remove',
    path: onUpstream('/remove'),
    statuses: asPage(build(303)),
    form: () => ({ sure: 'plain' }),
  },
]

const serverTabs: Row[] = [
  ...connecting,
  ...upstreamPages,
  ...['tools', 'sources', 'bindings', 'globals'].map(tab => ({
    route: `GET /servers/:uuid/${tab}`,
    path: onServer(`/${tab}`),
    statuses: asPage(READ),
  })),
  ...['tools', 'sources'].map(tab => ({
    route: `GET /servers/:uuid/${tab}/new`,
    path: onServer(`/${tab}/new`),
    statuses: asPage(seeing('build')),
  })),
  {
    route: 'POST /servers/:uuid/tools/new',
    path: onServer('/tools/new'),
    statuses: asPage(build(303)),
    form: ({ toolId }) => ({ tool: toolId }),
  },
  { route: 'GET /servers/:uuid/tools/:instanceId', path: onInstance(), statuses: asPage(READ) },
  {
    route: 'POST /servers/:uuid/tools/:instanceId',
    path: onInstance(),
    statuses: asPage(build(303)),
    form: ({ fresh }) => ({ name: fresh(), 'source:key': 'exposed' }),
  },
  {
    route: 'POST /servers/:uuid/tools/:instanceId/preview',
    path: onInstance('/preview'),
    statuses: asPage(build(200)),
    form: () => ({}),
  },
  {
    route: 'GET /servers/:uuid/tools/:instanceId/remove',
    path: onInstance('/remove'),
    statuses: asPage(seeing('build')),
  },
  {
    route: 'POST /servers/:uuid/tools/:instanceId/remove',
    path: onInstance('/remove'),
    statuses: asPage(build(303)),
    form: () => ({ sure: 'plain' }),
  },
  {
    route: 'POST /servers/:uuid/sources/new',
    path: onServer('/sources/new'),
    statuses: asPage(build(303)),
    form: ({ toolkitId }) => ({ toolkit: toolkitId }),
  },
  { route: 'GET /servers/:uuid/sources/:toolkitId', path: onSource(), statuses: asPage(READ) },
  { route: 'POST /servers/:uuid/sources/:toolkitId', path: onSource(), statuses: asPage(build(303)), form: () => ({}) },
  {
    route: 'GET /servers/:uuid/sources/:toolkitId/remove',
    path: onSource('/remove'),
    statuses: asPage(seeing('build')),
  },
  {
    route: 'POST /servers/:uuid/sources/:toolkitId/remove',
    path: onSource('/remove'),
    statuses: asPage(build(303)),
    form: () => ({ sure: 'Plain' }),
  },
  {
    route: 'POST /servers/:uuid/bindings',
    path: onServer('/bindings'),
    statuses: asPage(build(303)),
    form: ({ instanceId }) => ({ cell: `${instanceId}:key`, from: 'global', global: 'key' }),
  },
  {
    route: 'POST /servers/:uuid/globals',
    path: onServer('/globals'),
    statuses: asPage(build(303)),
    form: ({ fresh }) => ({ key: fresh(), value: 'v' }),
  },
  { route: 'GET /servers/:uuid/globals/:key', path: onGlobal(), statuses: asPage(READ) },
  {
    route: 'POST /servers/:uuid/globals/:key',
    path: onGlobal(),
    statuses: asPage(build(303)),
    form: () => ({ value: 'w' }),
  },
  { route: 'GET /servers/:uuid/globals/:key/remove', path: onGlobal('/remove'), statuses: asPage(seeing('build')) },
  {
    route: 'POST /servers/:uuid/globals/:key/remove',
    path: onGlobal('/remove'),
    statuses: asPage(build(303)),
    form: () => ({ sure: 'plain' }),
  },
]

/** The owner's private server, used from its page; tokens need the scope for using servers. */
const inspector: Row[] = [
  {
    route: 'GET /servers/:uuid/inspector',
    path: ({ serverId }) => `/servers/${serverId}/inspector`,
    statuses: [303, 404, 200, 200, 200, 200, 403, 403, 200],
  },
  {
    route: 'POST /servers/:uuid/inspector',
    path: ({ serverId }) => `/servers/${serverId}/inspector?tool=${CANARY}_tool`,
    statuses: [303, 404, 403, 403, 403, 200, 403, 403, 200],
  },
]

/** What every user may change in their own account; tokens need the scope `write`. */
const own = (done: number): Statuses => [401, done, done, done, done, done, 403, done, 403]
/** The same on a page, which redirects anonymous visitors to sign-in. */
const ownPage = (done: number): Statuses => [303, done, done, done, done, done, 403, done, 403]
/** A page of the user's own account; tokens need the scope `read`. */
const SEEN_PAGE: Statuses = [303, 200, 200, 200, 200, 200, 200, 403, 403]
const LINKS = ['verify-email', 'change-email', 'forgot-password', 'reset-password']

const ownAccount: Row[] = [
  // Rejected without a valid link, whoever asks.
  ...['POST email-verifications', 'POST email-changes', 'PUT password-resets', 'POST password-resets'].map(route => ({
    route: route.replace(' ', ' /api/v1/'),
    path: at(route.replace(/^\w+ /, '/api/v1/')),
    statuses: everybody(400),
    body: () => ({ token: 'x' }),
  })),
  {
    route: 'POST /api/v1/me/email-verification',
    path: at('/api/v1/me/email-verification'),
    statuses: own(202),
  },
  ...['email', 'password'].map(name => ({
    route: `PUT /api/v1/me/${name}`,
    path: at(`/api/v1/me/${name}`),
    statuses: own(400),
    body: () => ({}),
  })),
  { route: 'GET /api/v1/me/sessions', path: at('/api/v1/me/sessions'), statuses: OWN },
  { route: 'DELETE /api/v1/me/sessions', path: at('/api/v1/me/sessions'), statuses: own(204) },
  {
    route: 'DELETE /api/v1/me/sessions/:id',
    path: async ({ spare }) => `/api/v1/me/sessions/${await spare.session()}`,
    statuses: [401, 404, 404, 404, 404, 204, 403, 204, 403],
  },
  ...LINKS.flatMap(name => [
    { route: `GET /${name}`, path: at(`/${name}`), statuses: everybody(200) },
    { route: `POST /${name}`, path: at(`/${name}`), statuses: everybody(400) },
  ]),
  { route: 'GET /account', path: at('/account'), statuses: [303, 200, 200, 200, 200, 200, 200, 403, 403] },
  ...['security', 'tokens', 'sessions', 'organizations', 'deletion'].map(tab => ({
    route: `GET /account/${tab}`,
    path: at(`/account/${tab}`),
    statuses: SEEN_PAGE,
  })),
  // The form does not say what happens to organizations without another owner.
  { route: 'POST /account/deletion', path: at('/account/deletion'), statuses: ownPage(400) },
  {
    route: 'POST /account/tokens',
    path: at('/account/tokens'),
    statuses: ownPage(200),
    form: () => ({ name: 'Plain', scopes: 'write', expiresInDays: '7' }),
  },
  {
    route: 'GET /account/tokens/:id/removal',
    path: async ({ spare }) => `/account/tokens/${await spare.token()}/removal`,
    statuses: [303, 404, 404, 404, 404, 200, 200, 403, 403],
  },
  {
    route: 'POST /account/tokens/:id/removal',
    path: async ({ spare }) => `/account/tokens/${await spare.plainToken()}/removal`,
    statuses: [303, 404, 404, 404, 404, 303, 403, 303, 403],
    form: () => ({ sure: 'Plain' }),
  },
  ...['', '/confirmation', '/removal', '/recovery-codes'].map(rest => ({
    route: `POST /account/second-factor${rest}`,
    path: at(`/account/second-factor${rest}`),
    statuses: ownPage(400),
  })),
  {
    route: 'GET /account/identities',
    path: at('/account/identities'),
    statuses: [303, 200, 200, 200, 200, 200, 200, 403, 403],
  },
  // Their addresses are not confirmed.
  { route: 'POST /account/identities', path: at('/account/identities'), statuses: ownPage(409) },
  {
    route: 'POST /account/identities/:id/removal',
    path: () => `/account/identities/${randomUUID()}/removal`,
    statuses: ownPage(404),
  },
  { route: 'POST /account/email-verification', path: at('/account/email-verification'), statuses: ownPage(303) },
  { route: 'POST /account/email', path: at('/account/email'), statuses: ownPage(400) },
  { route: 'POST /account/password', path: at('/account/password'), statuses: ownPage(400) },
  { route: 'POST /account/sessions/end', path: at('/account/sessions/end'), statuses: ownPage(303) },
  {
    route: 'POST /account/sessions/:id/end',
    path: async ({ spare }) => `/account/sessions/${await spare.session()}/end`,
    statuses: [303, 404, 404, 404, 404, 303, 403, 303, 403],
  },
]

const TOOL_FORM = { method: 'GET', url: 'https://api.example.com/' }
const plainToolOf = async ({ spare, askers }: World): Promise<string> => {
  const toolkitId = await spare.plainToolkit()
  return (await askers.owner.create(`/toolkits/${toolkitId}/tools`, { ...TOOL_FORM, name: 'plain' })).id
}

const toolPages: Row[] = [
  { route: 'GET /toolkits/new-tool', path: at('/toolkits/new-tool'), statuses: asPage(OWN) },
  {
    route: 'POST /toolkits/new-tool',
    path: at('/toolkits/new-tool'),
    statuses: asPage(build(303)),
    form: ({ organizationId, fresh }) => ({ ...TOOL_FORM, name: fresh(), toolkitTitle: 'Mine', organizationId }),
  },
  { route: 'GET /toolkits/:id/tools/new', path: ofToolkit('/tools/new'), statuses: asPage(seeing('build')) },
  {
    route: 'POST /toolkits/:id/tools/new',
    path: ofToolkit('/tools/new'),
    statuses: asPage(build(303)),
    form: ({ fresh }) => ({ ...TOOL_FORM, name: fresh() }),
  },
  { route: 'GET /tools/:id', path: ({ toolId }) => `/tools/${toolId}`, statuses: asPage(READ) },
  {
    route: 'POST /tools/:id',
    path: async ({ spare }) => `/tools/${await spare.tool()}`,
    statuses: asPage(build(303)),
    form: ({ fresh }) => ({ ...TOOL_FORM, name: fresh() }),
  },
  {
    route: 'GET /tools/:id/removal',
    path: ({ toolId }) => `/tools/${toolId}/removal`,
    statuses: asPage(seeing('build')),
  },
  {
    route: 'POST /tools/:id/removal',
    path: async world => `/tools/${await plainToolOf(world)}/removal`,
    statuses: asPage(build(303)),
    form: () => ({ sure: 'plain' }),
  },
  {
    route: 'POST /tools/:id/duplicate',
    path: async ({ spare }) => `/tools/${await spare.tool()}/duplicate`,
    statuses: asPage(build(303)),
  },
  {
    route: 'POST /tools/:id/offer',
    path: async ({ spare }) => `/tools/${await spare.tool()}/offer`,
    statuses: asPage(build(303)),
    form: ({ serverId }) => ({ server: serverId }),
  },
  // Nothing is sent, because a required parameter has no value.
  ...['preview', 'send'].map(what => ({
    route: `POST /tool-${what}`,
    path: at(`/tool-${what}`),
    statuses: asPage(build(200)),
    form: ({ toolkitId, serverId }: World) => ({
      ...TOOL_FORM,
      url: 'https://api.example.com/{{missing}}',
      toolkit: toolkitId,
      serverId,
    }),
  })),
]

const pages: Row[] = [
  { route: 'POST /theme', path: at('/theme'), statuses: everybody(303) },
  { route: 'GET /status', path: at('/status'), statuses: everybody(200) },
  { route: 'GET /design', path: at('/design'), statuses: everybody(200) },
  // /assets/*, of which Fastify prints the end only.
  { route: 'GET /*', path: at('/assets/css/patchbay.css'), statuses: everybody(200) },
  { route: 'GET /', path: at('/'), statuses: everybody(200) },
  // There are servers, so the first run is over.
  { route: 'GET /first-run', path: at('/first-run'), statuses: [303, 303, 303, 303, 303, 303, 303, 403, 403] },
  ...['sample', 'call', 'end'].map(name => ({
    route: `POST /first-run/${name}`,
    path: at(`/first-run/${name}`),
    statuses: ownPage(303),
  })),
  { route: 'GET /servers', path: at('/servers'), statuses: [303, 200, 200, 200, 200, 200, 200, 403, 403] },
  { route: 'GET /servers/new', path: at('/servers/new'), statuses: [303, 200, 200, 200, 200, 200, 200, 403, 403] },
  // The name is missing; every user may build somewhere.
  { route: 'POST /servers/new', path: at('/servers/new'), statuses: ownPage(400) },
  { route: 'POST /servers/sample', path: at('/servers/sample'), statuses: ownPage(303) },
  ...['', '/live'].map(rest => ({
    route: `GET /servers/:uuid${rest}`,
    path: ({ serverId }: World) => `/servers/${serverId}${rest}`,
    statuses: [303, 404, 200, 200, 200, 200, 200, 403, 403] as const,
  })),
  { route: 'GET /sign-in', path: at('/sign-in'), statuses: everybody(200) },
  { route: 'POST /sign-in', path: at('/sign-in'), statuses: everybody(400) },
  { route: 'GET /sign-up', path: at('/sign-up'), statuses: everybody(200) },
  { route: 'POST /sign-up', path: at('/sign-up'), statuses: everybody(400) },
  // There is no sign-in that waits for its code.
  { route: 'GET /sign-in/code', path: at('/sign-in/code'), statuses: everybody(303) },
  { route: 'POST /sign-in/code', path: at('/sign-in/code'), statuses: everybody(303) },
  // No external provider is configured.
  { route: 'GET /sign-in/external', path: at('/sign-in/external'), statuses: everybody(404) },
  { route: 'GET /sign-in/external/callback', path: at('/sign-in/external/callback'), statuses: everybody(400) },
  { route: 'GET /sign-in/link', path: at('/sign-in/link'), statuses: everybody(303) },
  { route: 'POST /sign-in/link', path: at('/sign-in/link'), statuses: everybody(303) },
  { route: 'POST /sign-out', path: at('/sign-out'), statuses: everybody(303) },
  // The link of the email is missing; joining requires a signed-in user.
  { route: 'GET /invitation', path: at('/invitation'), statuses: everybody(404) },
  {
    route: 'POST /invitation',
    path: at('/invitation'),
    statuses: [303, 404, 404, 404, 404, 404, 403, 404, 403],
  },
  { route: 'POST /invitation/sign-up', path: at('/invitation/sign-up'), statuses: everybody(404) },
]

const METADATA_DOCUMENTS = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']
const NO_ONE = '/oauth/interaction/0190a0a0-0000-7000-8000-000000000000'
/** The authorization server rejects these requests because of invalid data, whoever asks. */
const oauth: Row[] = [
  ...METADATA_DOCUMENTS.flatMap(path => [
    { route: `GET ${path}`, path: at(path), statuses: everybody(200) },
    { route: `OPTIONS ${path}`, path: at(path), statuses: everybody(204) },
  ]),
  { route: 'GET /oauth/jwks', path: at('/oauth/jwks'), statuses: everybody(200) },
  { route: 'POST /oauth/token', path: at('/oauth/token'), statuses: everybody(400) },
  { route: 'POST /oauth/revoke', path: at('/oauth/revoke'), statuses: everybody(400) },
  { route: 'POST /oauth/register', path: at('/oauth/register'), statuses: everybody(400), body: () => ({}) },
  ...['register', 'token', 'revoke', 'jwks'].map(name => ({
    route: `OPTIONS /oauth/${name}`,
    path: at(`/oauth/${name}`),
    statuses: everybody(204),
  })),
  { route: 'GET /oauth/authorize', path: at('/oauth/authorize'), statuses: everybody(400) },
  { route: 'GET /oauth/authorize/:uid', path: at('/oauth/authorize/none'), statuses: everybody(400) },
  { route: 'GET /oauth/interaction/:uid', path: at(NO_ONE), statuses: everybody(400) },
  { route: 'POST /oauth/interaction/:uid', path: at(NO_ONE), statuses: everybody(400) },
]

/** Every route of the application, and the status for each asker. */
export const ROUTES: readonly Row[] = [
  ...open,
  metrics,
  ...discovery,
  ...pages,
  ...oauth,
  ...accounts,
  ...ownAccount,
  ...audit,
  ...operatorPages,
  ...secondFactor,
  ...identities,
  // Runs before anybody creates another organization.
  ...organizationPages,
  ...organizations,
  ...connections,
  ...toolkits,
  ...toolkitPages,
  ...toolPages,
  ...servers,
  ...runtime,
  ...forBrowsers,
  ...history,
  ...accessPages,
  ...settings,
  ...serverTabs,
  ...inspector,
]
