import { createHash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { mayRole, type Permission, type Role } from '../../../src/lib/kernel/roles.ts'
import { LIMIT_SCOPES, LIMIT_UNITS } from '../../../src/limits/limit.ts'
import { toolkitVersion } from '../../../src/tools/toolkits.service.ts'
import { INITIALIZE } from '../../mcp/messages.ts'
import { CANARY, type World } from './world.ts'

/**
 * One status for each of ASKERS: anonymous, stranger, viewer, builder, named builder, admin, owner, tokens to read, to
 * write, for MCP.
 */
type Statuses = readonly [number, number, number, number, number, number, number, number, number, number]

type Spares = World['spare']
/** Names of the functions that create a spare object with a single id. */
type Spare = { [Name in keyof Spares]: Spares[Name] extends () => Promise<string> ? Name : never }[keyof Spares]

export type Row = {
  /** The route as Fastify prints it. */
  route: string
  statuses: Statuses
  /** The path to request, with the same parameters, if it differs from the route's path. */
  path?: string
  query?: string
  /** What the last parameter refers to. Created again for each asker if the request changes it. */
  spare?: Spare
  /** Ids for the last parameters, if they are not the id of one spare object. */
  id?: (world: World) => string | string[] | Promise<string | string[]>
  body?: object | ((world: World) => object)
  /** Form fields that a page sends instead of a JSON body. */
  form?: Record<string, string> | ((world: World) => Record<string, string>)
  /** Whether to send the headers of a browser. */
  isBrowser?: true
}

/** Returns the ids of the tested organization's objects, by the path segment before each id. */
const idsBySegment = (world: World): Readonly<Record<string, string>> => ({
  organizations: world.organizationId,
  toolkits: world.toolkitId,
  gallery: world.toolkitId,
  tools: world.toolId,
  servers: world.serverId,
  'mcp-servers': world.serverId,
  s: world.serverId,
  upstreams: world.upstreamId,
  instances: world.instanceId,
  executions: world.executionId,
  history: world.executionId,
  'oauth-clients': world.oauthClientId,
  clients: world.oauthClientId,
  webhooks: world.webhookId,
  deliveries: world.deliveryId,
})

/** Returns the path and query to request. Creates the object that they refer to if the row says so. */
export const makePath = async ({ route, path, query = '', spare, id }: Row, world: World): Promise<string> => {
  const pattern = path ?? route.slice(route.indexOf(' ') + 1)
  const own = [(await (spare === undefined ? id?.(world) : world.spare[spare]())) ?? []].flat()
  const known = idsBySegment(world)
  const ids = [...pattern.matchAll(/([\w-]+)\/:\w+/g)].map(([, segment = '']) => known[segment] ?? '')
  const all = [...ids.slice(0, ids.length - own.length), ...own]
  return all.reduce((text, one) => text.replace(/:\w+/, one), pattern) + query
}

const everybody = (status: number): Statuses => [
  status,
  status,
  status,
  status,
  status,
  status,
  status,
  status,
  status,
  status,
]
/** Returns the statuses of a route that requires this permission. */
const needing = (permission: Permission, done: number, byReading = 403, byWriting = done): Statuses => {
  const of = (role: Role): number => (mayRole(role, permission) ? done : 403)
  return [401, 404, of('viewer'), of('builder'), of('builder'), of('admin'), of('owner'), byReading, byWriting, 403]
}
/**
 * Returns the statuses of a route of the owner's private server that requires this permission. Viewers and builders who
 * are not named have no access to it.
 */
const within = (permission: Permission, done: number, byReading = 403, byWriting = done): Statuses => {
  const [nobody, stranger, , , ...others] = needing(permission, done, byReading, byWriting)
  return [nobody, stranger, 403, 403, ...others]
}
const seeing = (permission: Permission): Statuses => needing(permission, 200, 200, 403)
/** Statuses of a route that all members may read. */
const READ = seeing('read')
const build = (done: number): Statuses => needing('build', done)
/** The same for routes of the private server. */
const seeingWithin = (permission: Permission): Statuses => within(permission, 200, 200, 403)
const READ_WITHIN = seeingWithin('read')
const buildWithin = (done: number): Statuses => within('build', done)
/** Returns the statuses of a route that requires the permission `manage`. */
const manage = (done: number): Statuses => needing('manage', done)
/** Statuses of a route on which every user may read something of their own account. */
const OWN: Statuses = [401, 200, 200, 200, 200, 200, 200, 200, 403, 403]
/** Returns the statuses of the URL of the owner's private server. */
const mcp = (done: number): Statuses => [401, 403, 403, 403, done, done, done, 403, 403, done]

/** Returns the statuses of asking for access to the private server. Those who have it are refused. */
const askers = (done: number): Statuses => [401, 404, done, done, 409, 409, 409, 403, 409, 403]

/** Returns the statuses of a change that every user may make in their own account. Tokens need the scope `write`. */
const own = (done: number): Statuses => [401, done, done, done, done, done, done, 403, done, 403]
/** Returns the statuses of a change to something in the owner's account that nobody else can find. */
const ofOwner = (done: number): Statuses => [401, 404, 404, 404, 404, 404, done, 403, done, 403]

const accounts: Row[] = [
  // Open to anyone, but rejected because of invalid data.
  { route: 'POST /api/v1/signup', statuses: everybody(400), body: {} },
  { route: 'POST /api/v1/session', statuses: everybody(400), body: {} },
  // A token is not a session.
  { route: 'GET /api/v1/session', statuses: [401, 401, 401, 401, 401, 401, 401, 401, 403, 403] },
  { route: 'DELETE /api/v1/session', statuses: [401, 401, 401, 401, 401, 401, 401, 403, 401, 403] },
  { route: 'GET /api/v1/me', statuses: OWN },
  { route: 'GET /api/v1/me/deletion', statuses: OWN },
  // None of the askers knows the password.
  {
    route: 'DELETE /api/v1/me',
    statuses: [401, 403, 403, 403, 403, 403, 403, 403, 403, 403],
    body: { password: 'a guess at the password' },
  },
  { route: 'GET /api/v1/tokens', statuses: OWN },
  { route: 'POST /api/v1/tokens', statuses: own(201), body: { name: 'walk' } },
  { route: 'DELETE /api/v1/tokens/:id', spare: 'token', statuses: ofOwner(204) },
]

/** Returns the row of a route that requires the password or a code, which is missing. */
const unproved = (route: string): Row => ({
  route,
  statuses: own(400),
  body: {},
})

const secondFactor: Row[] = [
  { route: 'GET /api/v1/me/second-factor', statuses: OWN },
  unproved('POST /api/v1/me/second-factor'),
  unproved('POST /api/v1/me/second-factor/confirmation'),
  unproved('DELETE /api/v1/me/second-factor'),
  unproved('POST /api/v1/me/recovery-codes'),
]

const identities: Row[] = [
  { route: 'GET /api/v1/me/identities', statuses: OWN },
  // Requires a browser session.
  { route: 'POST /api/v1/me/identities', statuses: [401, 401, 401, 401, 401, 401, 401, 403, 401, 403], body: {} },
  { route: 'DELETE /api/v1/me/identities/:id', id: () => randomUUID(), statuses: own(404) },
]

let limitsMade = 0
/** Returns a limit that the organization does not have yet. */
const newLimit = (): { scope: string; unit: string; period: string; amount: number } => {
  const made = limitsMade++
  const kinds = LIMIT_SCOPES.flatMap(scope =>
    LIMIT_UNITS.flatMap(unit => ['day', 'month'].map(period => ({ scope, unit, period, amount: 1_000_000 }))),
  )
  const kind = kinds[made]
  if (kind === undefined) throw new Error('there are no more kinds of limits')
  return kind
}

const organizations: Row[] = [
  { route: 'GET /api/v1/organizations', statuses: OWN },
  { route: 'POST /api/v1/organizations', statuses: own(201), body: ({ plain }) => ({ name: plain() }) },
  { route: 'GET /api/v1/organizations/:id', statuses: READ },
  { route: 'PATCH /api/v1/organizations/:id', statuses: manage(200), body: ({ fresh }) => ({ name: fresh() }) },
  {
    route: 'DELETE /api/v1/organizations/:id',
    spare: 'organization',
    statuses: needing('own', 204),
    body: { confirm: CANARY },
  },
  { route: 'GET /api/v1/organizations/:id/members', statuses: READ },
  {
    route: 'PUT /api/v1/organizations/:id/members/:userId',
    spare: 'member',
    statuses: manage(200),
    body: { role: 'builder' },
  },
  { route: 'DELETE /api/v1/organizations/:id/members/:userId', spare: 'member', statuses: manage(204) },
  { route: 'GET /api/v1/organizations/:id/invitations', statuses: seeing('manage') },
  {
    route: 'POST /api/v1/organizations/:id/invitations',
    statuses: manage(201),
    body: ({ fresh }) => ({ email: `${fresh()}@example.com`, role: 'viewer' }),
  },
  { route: 'DELETE /api/v1/organizations/:id/invitations/:invitationId', spare: 'invitation', statuses: manage(204) },
  { route: 'GET /api/v1/organizations/:id/limits', statuses: seeing('manage') },
  { route: 'POST /api/v1/organizations/:id/limits', statuses: manage(201), body: newLimit },
  { route: 'GET /api/v1/organizations/:id/limits/:limitId', spare: 'limit', statuses: seeing('manage') },
  {
    route: 'PATCH /api/v1/organizations/:id/limits/:limitId',
    spare: 'limit',
    statuses: manage(200),
    body: { amount: 2_000_000 },
  },
  { route: 'DELETE /api/v1/organizations/:id/limits/:limitId', spare: 'limit', statuses: manage(204) },
  // Nobody has the link from the email.
  { route: 'POST /api/v1/invitations/accept', statuses: own(404), body: { token: 'a'.repeat(43) } },
]

const organizationPages: Row[] = [
  // All askers except the stranger belong to two organizations and see a list. The stranger is redirected.
  { route: 'GET /organizations', statuses: [303, 303, 200, 200, 200, 200, 200, 200, 403, 403] },
  { route: 'GET /organizations/new', statuses: OWN },
  { route: 'POST /organizations/new', statuses: own(303), form: ({ plain }) => ({ name: plain() }) },
  { route: 'GET /organizations/:id', statuses: [303, 404, 303, 303, 303, 303, 303, 303, 403, 403] },
  { route: 'GET /organizations/:id/members', statuses: READ },
  {
    route: 'POST /organizations/:id/members/:userId/role',
    spare: 'member',
    statuses: manage(303),
    form: { role: 'builder' },
  },
  { route: 'GET /organizations/:id/members/:userId/removal', spare: 'member', statuses: seeing('manage') },
  { route: 'POST /organizations/:id/members/:userId/removal', spare: 'member', statuses: manage(303), form: {} },
  { route: 'GET /organizations/:id/invitations', statuses: seeing('manage') },
  {
    route: 'POST /organizations/:id/invitations',
    statuses: manage(303),
    form: ({ plain }) => ({ email: `${plain()}@example.com`, role: 'viewer' }),
  },
  { route: 'POST /organizations/:id/invitations/:invitationId/renewal', spare: 'invitation', statuses: manage(303) },
  { route: 'POST /organizations/:id/invitations/:invitationId/removal', spare: 'invitation', statuses: manage(303) },
  { route: 'GET /organizations/:id/usage', statuses: READ },
  { route: 'GET /organizations/:id/limits', statuses: seeing('manage') },
  {
    route: 'POST /organizations/:id/limits',
    statuses: manage(303),
    form: () => {
      const { scope, unit, period, amount } = newLimit()
      return { count: `${unit} ${period}`, target: scope, amount: String(amount) }
    },
  },
  { route: 'GET /organizations/:id/limits/:limitId', spare: 'limit', statuses: seeing('manage') },
  {
    route: 'POST /organizations/:id/limits/:limitId',
    spare: 'limit',
    statuses: manage(303),
    form: { amount: '2,000,000' },
  },
  { route: 'POST /organizations/:id/limits/:limitId/removal', spare: 'limit', statuses: manage(303), form: {} },
  { route: 'GET /organizations/:id/audit', statuses: seeing('manage') },
  { route: 'GET /organizations/:id/settings', statuses: seeing('manage') },
  { route: 'POST /organizations/:id/settings', statuses: manage(303), form: ({ fresh }) => ({ name: fresh() }) },
  {
    route: 'POST /organizations/:id/owner',
    spare: 'organization',
    statuses: needing('own', 303),
    form: ({ adminId }) => ({ userId: adminId }),
  },
  { route: 'GET /organizations/:id/removal', statuses: seeing('own') },
  {
    route: 'POST /organizations/:id/removal',
    spare: 'organization',
    statuses: needing('own', 303),
    form: { sure: CANARY },
  },
]

const toolkits: Row[] = [
  { route: 'GET /api/v1/gallery', statuses: OWN },
  { route: 'GET /api/v1/toolkits', statuses: OWN },
  {
    route: 'POST /api/v1/toolkits',
    statuses: build(201),
    body: ({ organizationId, fresh }) => ({ title: fresh(), organizationId }),
  },
  { route: 'GET /api/v1/toolkits/:id', statuses: READ },
  { route: 'PATCH /api/v1/toolkits/:id', statuses: build(200), body: ({ fresh }) => ({ title: fresh() }) },
  { route: 'DELETE /api/v1/toolkits/:id', spare: 'toolkit', statuses: build(204) },
  {
    route: 'POST /api/v1/toolkits/:id/transfer',
    spare: 'toolkit',
    statuses: manage(200),
    body: ({ elsewhereId }) => ({ organizationId: elsewhereId }),
  },
  { route: 'GET /api/v1/toolkits/:id/tools', statuses: READ },
  {
    route: 'POST /api/v1/toolkits/:id/tools',
    statuses: build(201),
    body: ({ tool, fresh }) => ({ ...tool, name: fresh() }),
  },
  { route: 'GET /api/v1/tools/:id', statuses: READ },
  { route: 'GET /api/v1/tools/:id/lint', statuses: READ },
  { route: 'PATCH /api/v1/tools/:id', statuses: build(200), body: ({ fresh }) => ({ title: fresh() }) },
  { route: 'DELETE /api/v1/tools/:id', spare: 'tool', statuses: build(204) },
  {
    route: 'POST /api/v1/tools/:id/test',
    statuses: buildWithin(200),
    body: ({ serverId }) => ({ arguments: {}, serverId }),
  },
  { route: 'GET /api/v1/toolkits/:id/source', spare: 'sourcedToolkit', statuses: seeing('build') },
  {
    route: 'PUT /api/v1/toolkits/:id/source',
    spare: 'sourcedToolkit',
    statuses: build(200),
    body: { url: 'https://api.example.com/openapi.json', checkEvery: 'day' },
  },
  { route: 'DELETE /api/v1/toolkits/:id/source', spare: 'sourcedToolkit', statuses: build(204) },
  { route: 'POST /api/v1/toolkits/:id/source/check', spare: 'sourcedToolkit', statuses: build(200) },
  { route: 'GET /api/v1/toolkits/:id/imports', statuses: seeing('build') },
  {
    route: 'POST /api/v1/toolkits/:id/imports',
    spare: 'roomForImports',
    statuses: build(202),
    body: { text: 'curl https://api.example.com/' },
  },
  { route: 'GET /api/v1/imports/:id', spare: 'review', statuses: seeing('build') },
  { route: 'GET /api/v1/imports/:id/items', spare: 'review', statuses: seeing('build') },
  { route: 'PATCH /api/v1/imports/:id', spare: 'review', statuses: build(200), body: { select: { filter: {} } } },
  { route: 'DELETE /api/v1/imports/:id', spare: 'review', statuses: build(204) },
  { route: 'GET /api/v1/imports/:id/changes', spare: 'review', statuses: seeing('build') },
  { route: 'POST /api/v1/imports/:id/apply', spare: 'review', statuses: build(200) },
  {
    route: 'POST /api/v1/imports/:id/items/:key/test',
    id: async ({ spare }) => [await spare.review(), encodeURIComponent('GET /orders')],
    statuses: build(200),
    body: {},
  },
]

const PLAIN_VERSION = toolkitVersion({ title: 'Plain', description: undefined, visibility: 'private' })
/** Starting an import for each asker would exceed the limit of imports; without a URL the page asks for the source. */
const toolkitWithoutUrl = async ({ spare, askers }: World): Promise<string> => {
  const toolkitId = await spare.sourcedToolkit()
  await askers.owner.expectOk('PUT', `/toolkits/${toolkitId}/source`, { url: null, checkEvery: null })
  return toolkitId
}

const toolkitPages: Row[] = [
  { route: 'GET /toolkits', statuses: OWN },
  { route: 'GET /toolkits/new', statuses: OWN },
  {
    route: 'POST /toolkits/new',
    statuses: build(303),
    form: ({ organizationId }) => ({ title: 'Plain', visibility: 'private', organizationId }),
  },
  { route: 'GET /toolkits/:id', statuses: READ },
  { route: 'POST /toolkits/:id/undo', statuses: build(303) },
  { route: 'GET /toolkits/:id/source', spare: 'sourcedToolkit', statuses: seeing('build') },
  { route: 'POST /toolkits/:id/source', spare: 'sourcedToolkit', statuses: build(303), form: { url: '' } },
  { route: 'POST /toolkits/:id/source/check', spare: 'sourcedToolkit', statuses: build(303), form: {} },
  { route: 'POST /toolkits/:id/source/import', id: toolkitWithoutUrl, statuses: build(303), form: {} },
  { route: 'GET /toolkits/:id/edit', statuses: seeing('build') },
  {
    route: 'POST /toolkits/:id/edit',
    spare: 'plainToolkit',
    statuses: build(303),
    form: { title: 'Saved', visibility: 'private', version: PLAIN_VERSION },
  },
  {
    route: 'POST /toolkits/:id/transfer',
    spare: 'toolkit',
    statuses: manage(303),
    form: ({ elsewhereId }) => ({ organizationId: elsewhereId }),
  },
  { route: 'GET /toolkits/:id/removal', statuses: seeing('build') },
  { route: 'POST /toolkits/:id/removal', spare: 'plainToolkit', statuses: build(303), form: { sure: 'Plain' } },
  { route: 'GET /gallery', statuses: OWN },
  // Nobody can find a private toolkit in the gallery.
  { route: 'GET /gallery/:id', statuses: [303, 404, 404, 404, 404, 404, 404, 404, 403, 403] },
  { route: 'POST /gallery/:id/use', statuses: own(404), form: ({ serverId }) => ({ serverId }) },
]

const connections: Row[] = [
  { route: 'GET /api/v1/servers/:uuid/tokens', statuses: READ_WITHIN },
  { route: 'GET /api/v1/servers/:uuid/lint', statuses: READ_WITHIN },
  { route: 'GET /api/v1/servers/:uuid/grants', statuses: [401, 404, 403, 403, 200, 200, 200, 200, 403, 403] },
  { route: 'DELETE /api/v1/grants/:id', spare: 'grant', statuses: manage(204) },
  { route: 'GET /api/v1/me/applications', statuses: OWN },
  { route: 'DELETE /api/v1/me/applications/:id', spare: 'grant', statuses: ofOwner(204) },
  { route: 'GET /account/applications', statuses: OWN },
  { route: 'POST /account/applications/:id/removal', spare: 'grant', statuses: ofOwner(303) },
  { route: 'GET /api/v1/organizations/:id/oauth-clients', statuses: seeing('manage') },
  {
    route: 'POST /api/v1/organizations/:id/oauth-clients',
    statuses: manage(201),
    body: ({ fresh }) => ({ name: fresh(), redirectUris: ['https://app.example.com/callback'] }),
  },
  { route: 'GET /api/v1/oauth-clients/:id', statuses: seeing('manage') },
  { route: 'PATCH /api/v1/oauth-clients/:id', statuses: manage(200), body: ({ fresh }) => ({ name: fresh() }) },
  { route: 'DELETE /api/v1/oauth-clients/:id', spare: 'oauthClient', statuses: manage(204) },
]

const webhooks: Row[] = [
  { route: 'GET /api/v1/organizations/:id/webhooks', statuses: seeing('manage') },
  {
    route: 'POST /api/v1/organizations/:id/webhooks',
    statuses: manage(201),
    body: { url: 'https://hooks.example.com/', events: ['limit.reached'] },
  },
  { route: 'GET /api/v1/webhooks/:id', statuses: seeing('manage') },
  { route: 'PATCH /api/v1/webhooks/:id', statuses: manage(200), body: ({ fresh }) => ({ description: fresh() }) },
  { route: 'DELETE /api/v1/webhooks/:id', spare: 'webhook', statuses: manage(204) },
  { route: 'POST /api/v1/webhooks/:id/secret', statuses: manage(200) },
  { route: 'POST /api/v1/webhooks/:id/test', statuses: manage(202) },
  { route: 'GET /api/v1/webhooks/:id/deliveries', statuses: seeing('manage') },
  { route: 'GET /api/v1/deliveries/:id', statuses: seeing('manage') },
  { route: 'POST /api/v1/deliveries/:id/replay', statuses: manage(202) },
  { route: 'GET /api/v1/organizations/:id/event-emails', statuses: seeing('manage') },
  {
    route: 'PUT /api/v1/organizations/:id/event-emails',
    statuses: manage(200),
    body: { events: ['limit.reached'] },
  },
  {
    route: 'POST /organizations/:id/event-emails',
    statuses: manage(303),
    form: { events: 'limit.reached' },
  },
  { route: 'POST /organizations/:id/error-rate', statuses: manage(303), form: { errorRatePercent: '30' } },
  { route: 'GET /organizations/:id/webhooks', statuses: seeing('manage') },
  {
    route: 'POST /organizations/:id/webhooks',
    statuses: manage(200),
    form: { url: 'https://hooks.example.com/', description: '', events: 'limit.reached' },
  },
  { route: 'GET /webhooks/:id', statuses: seeing('manage') },
  {
    route: 'POST /webhooks/:id',
    statuses: manage(303),
    form: ({ fresh }) => ({ url: '', description: fresh(), events: 'limit.reached' }),
  },
  { route: 'POST /webhooks/:id/state', spare: 'webhook', statuses: manage(303) },
  { route: 'POST /webhooks/:id/test', statuses: manage(303) },
  { route: 'POST /webhooks/:id/secret', statuses: manage(200) },
  { route: 'POST /deliveries/:id/replay', statuses: manage(303) },
  { route: 'GET /webhooks/:id/removal', statuses: seeing('manage') },
  { route: 'POST /webhooks/:id/removal', spare: 'webhook', statuses: manage(303), form: { sure: '' } },
]

/** Pages of the operator, who is the owner here. */
const operatorPages: Row[] = [
  '/operator',
  '/operator/users',
  '/operator/suspensions',
  '/operator/settings',
  '/operator/audit',
].map(path => ({
  route: `GET ${path}`,
  statuses: [303, 403, 403, 403, 403, 403, 200, 200, 403, 403],
}))

/** Returns the statuses of a change that only the operator may make, who is the owner here. */
const byOperator = (done: number): Statuses => [401, 403, 403, 403, 403, 403, done, 403, done, 403]
const readByOperator: Statuses = [401, 403, 403, 403, 403, 403, 200, 200, 403, 403]
const suspensions: Row[] = [
  ...['users', 'suspensions/users', 'suspensions/organizations', 'suspensions/servers', 'blocked-origins'].map(
    path => ({
      route: `GET /api/v1/${path}`,
      statuses: readByOperator,
    }),
  ),
  ...['users/:id', 'organizations/:id', 'servers/:uuid'].flatMap(path => [
    {
      route: `PUT /api/v1/${path}/suspension`,
      id: () => randomUUID(),
      body: { reason: 'walk' },
      statuses: byOperator(404),
    },
    { route: `DELETE /api/v1/${path}/suspension`, id: () => randomUUID(), statuses: byOperator(404) },
  ]),
  {
    route: 'POST /api/v1/blocked-origins',
    body: { origin: 'https://blocked.example.com', reason: 'walk' },
    statuses: byOperator(201),
  },
  { route: 'DELETE /api/v1/blocked-origins/:id', id: () => randomUUID(), statuses: byOperator(404) },
  {
    route: 'POST /operator/suspensions',
    form: { kind: 'user', target: 'nobody@example.com', reason: 'walk' },
    statuses: byOperator(400),
  },
  {
    route: 'POST /operator/suspensions/:kind/:id/restoration',
    path: '/operator/suspensions/user/:id/restoration',
    id: () => randomUUID(),
    form: {},
    statuses: byOperator(404),
  },
  {
    route: 'POST /operator/blocked-origins',
    form: { origin: 'https://blocked.example.com', reason: 'walk' },
    statuses: byOperator(303),
  },
  {
    route: 'POST /operator/blocked-origins/:id/removal',
    id: () => randomUUID(),
    form: {},
    statuses: byOperator(404),
  },
]

const audit: Row[] = [
  // Open only to the operator, who is the owner here.
  { route: 'GET /api/v1/audit', statuses: [401, 403, 403, 403, 403, 403, 200, 200, 403, 403] },
  { route: 'GET /api/v1/me/audit', statuses: OWN },
  { route: 'GET /api/v1/organizations/:id/audit', statuses: seeing('manage') },
]

const servers: Row[] = [
  { route: 'GET /api/v1/servers', statuses: OWN },
  {
    route: 'POST /api/v1/servers',
    statuses: build(201),
    body: ({ organizationId, fresh }) => ({ name: fresh(), organizationId }),
  },
  // Other members see its name and owner.
  { route: 'GET /api/v1/servers/:uuid', statuses: READ },
  { route: 'PATCH /api/v1/servers/:uuid', statuses: buildWithin(200), body: ({ fresh }) => ({ description: fresh() }) },
  { route: 'DELETE /api/v1/servers/:uuid', spare: 'server', statuses: manage(204) },
  {
    route: 'POST /api/v1/servers/:uuid/transfer',
    spare: 'server',
    statuses: manage(200),
    body: ({ elsewhereId }) => ({ organizationId: elsewhereId }),
  },
  { route: 'GET /api/v1/servers/:uuid/access-requests', statuses: seeing('manage') },
  { route: 'POST /api/v1/servers/:uuid/access-requests', statuses: askers(204) },
  {
    route: 'DELETE /api/v1/servers/:uuid/access-requests/:userId',
    spare: 'accessRequest',
    statuses: manage(204),
  },
  { route: 'GET /api/v1/servers/:uuid/toolkits', statuses: READ_WITHIN },
  { route: 'PUT /api/v1/servers/:uuid/toolkits/:id', statuses: buildWithin(204) },
  { route: 'DELETE /api/v1/servers/:uuid/toolkits/:id', spare: 'usedToolkit', statuses: buildWithin(204) },
  { route: 'GET /api/v1/servers/:uuid/globals', statuses: READ_WITHIN },
  {
    route: 'PUT /api/v1/servers/:uuid/globals/:key',
    spare: 'global',
    statuses: buildWithin(200),
    body: ({ fresh }) => ({ value: fresh() }),
  },
  { route: 'DELETE /api/v1/servers/:uuid/globals/:key', spare: 'global', statuses: buildWithin(204) },
  { route: 'GET /api/v1/servers/:uuid/instances', statuses: READ_WITHIN },
  {
    route: 'POST /api/v1/servers/:uuid/instances',
    statuses: buildWithin(201),
    body: ({ toolId, fresh }) => ({ toolId, name: fresh() }),
  },
  { route: 'GET /api/v1/servers/:uuid/upstreams', statuses: READ_WITHIN },
  {
    route: 'POST /api/v1/servers/:uuid/upstreams',
    statuses: buildWithin(201),
    body: ({ fresh }) => ({ name: fresh(), transport: 'http', url: 'https://mcp.example.com/mcp' }),
  },
  { route: 'GET /api/v1/upstreams/:id', statuses: READ_WITHIN },
  { route: 'PATCH /api/v1/upstreams/:id', statuses: buildWithin(200), body: ({ fresh }) => ({ description: fresh() }) },
  // A successful request needs an upstream that may be contacted. This upstream may not be.
  { route: 'POST /api/v1/upstreams/:id/refresh', spare: 'disabledUpstream', statuses: buildWithin(409) },
  { route: 'GET /api/v1/upstreams/:id/changes', statuses: READ_WITHIN },
  // Another test covers decisions, with a server that reviews changes. This server does not.
  ...['approve', 'reject'].map(decision => ({
    route: `POST /api/v1/upstreams/:id/${decision}`,
    statuses: buildWithin(409),
    body: ({ fresh }: { fresh: () => string }) => ({ version: fresh() }),
  })),
  { route: 'DELETE /api/v1/upstreams/:id', spare: 'upstream', statuses: buildWithin(204) },
  { route: 'GET /api/v1/servers/:uuid/bindings', statuses: READ_WITHIN },
  { route: 'GET /api/v1/servers/:uuid/executions', statuses: READ_WITHIN },
  { route: 'GET /api/v1/servers/:uuid/executions/charts', statuses: READ_WITHIN },
  { route: 'GET /api/v1/servers/:uuid/executions/export', query: '?format=csv', statuses: READ_WITHIN },
  { route: 'DELETE /api/v1/servers/:uuid/executions', query: '?tool=none', statuses: within('manage', 200) },
  { route: 'GET /api/v1/organizations/:id/executions', statuses: READ },
  { route: 'GET /api/v1/organizations/:id/executions/charts', statuses: READ },
  { route: 'GET /api/v1/organizations/:id/executions/export', query: '?format=json', statuses: READ },
  { route: 'DELETE /api/v1/organizations/:id/executions', query: '?tool=none', statuses: manage(200) },
  // The sums do not tell whose calls they count.
  {
    route: 'GET /api/v1/servers/:uuid/executions/tokens',
    statuses: [401, 404, 403, 403, 403, 200, 200, 200, 403, 403],
  },
  { route: 'GET /api/v1/instances/:id', statuses: READ_WITHIN },
  { route: 'PATCH /api/v1/instances/:id', statuses: buildWithin(200), body: ({ fresh }) => ({ description: fresh() }) },
  { route: 'DELETE /api/v1/instances/:id', spare: 'instance', statuses: buildWithin(204) },
  { route: 'POST /api/v1/instances/:id/call', statuses: buildWithin(200), body: { arguments: {} } },
  // The owner's call.
  { route: 'GET /api/v1/executions/:id', statuses: [401, 404, 403, 403, 404, 200, 200, 200, 403, 403] },
]

const mcpRow = (method: string, rest: string, done: number, body?: Row['body']): Row => ({
  route: `${method} /s/:uuid${rest}`,
  statuses: mcp(done),
  ...(body === undefined ? {} : { body }),
})
const notAllowed = (rest: string, methods: readonly string[]): Row[] => methods.map(method => mcpRow(method, rest, 405))

const runtime: Row[] = [
  mcpRow('POST', '', 200, () => INITIALIZE()),
  // These requests do not name a session.
  mcpRow('GET', '', 400),
  mcpRow('DELETE', '', 400),
  mcpRow('GET', '/sse', 200),
  mcpRow('POST', '/messages', 400, () => INITIALIZE()),
  ...notAllowed('', ['HEAD', 'PUT', 'PATCH']),
  ...notAllowed('/sse', ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']),
  ...notAllowed('/messages', ['HEAD', 'GET', 'PUT', 'PATCH', 'DELETE']),
  // This is not a passthrough server. Fastify prints the star without the slash before it.
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map(method => ({
    route: `${method} /s/:uuid*`,
    path: '/s/:uuid/more',
    statuses: everybody(404),
  })),
  ...['', '/sse', '/messages'].map(rest => ({ route: `OPTIONS /s/:uuid${rest}`, statuses: everybody(204) })),
]

const open: Row[] = ['/healthz', '/readyz', '/.well-known/mcp-servers', '/api/v1/openapi.json'].map(path => ({
  route: `GET ${path}`,
  statuses: everybody(200),
}))

/** The route accepts only a token of its own. */
const metrics: Row = { route: 'GET /metrics', statuses: everybody(401) }

const METADATA = '/.well-known/oauth-protected-resource'
const ENTRY = '/.well-known/mcp-servers/:uuid/server.json'
const discover = (method: string, path: string, status: number): Row => ({
  route: `${method} ${path}`,
  statuses: everybody(status),
})
/** Available to anyone who knows the server's id, but does not reveal its name. */
const discovery: Row[] = [
  discover('GET', METADATA, 404),
  discover('GET', `${METADATA}/s/:uuid`, 200),
  discover('GET', `${METADATA}/s/:uuid/sse`, 200),
  // Available only for public servers.
  discover('GET', ENTRY, 404),
  discover('OPTIONS', '/.well-known/mcp-servers', 204),
  ...[METADATA, `${METADATA}/s/:uuid`, `${METADATA}/s/:uuid/sse`, ENTRY].map(path => discover('OPTIONS', path, 204)),
]

/**
 * What browsers get at the URL of a private server: everyone learns that it exists, and users with access get the full
 * page.
 */
const forBrowsers: Row[] = [
  {
    route: 'GET /s/:uuid for people',
    path: '/s/:uuid',
    statuses: [403, 403, 403, 403, 200, 200, 200, 403, 403, 200],
    isBrowser: true,
  },
]

const history: Row[] = [
  { route: 'GET /servers/:uuid/history', statuses: READ_WITHIN },
  // The owner's call.
  { route: 'GET /servers/:uuid/history/:id', statuses: [401, 404, 403, 403, 404, 200, 200, 200, 403, 403] },
  { route: 'GET /servers/:uuid/history/removal', statuses: seeing('manage') },
  {
    route: 'POST /servers/:uuid/history/removal',
    spare: 'plainServer',
    query: '?tool=none',
    statuses: manage(303),
    form: { sure: 'Plain' },
  },
  { route: 'GET /organizations/:id/history', statuses: READ },
  {
    route: 'GET /organizations/:id/history/:callId',
    statuses: [401, 404, 403, 403, 404, 200, 200, 200, 403, 403],
    id: ({ executionId }) => executionId,
  },
  { route: 'GET /organizations/:id/history/removal', statuses: seeing('manage') },
  {
    route: 'POST /organizations/:id/history/removal',
    spare: 'organization',
    query: '?tool=none',
    statuses: manage(303),
    form: { sure: CANARY },
  },
]

const accessPages: Row[] = [
  { route: 'GET /servers/:uuid/access', statuses: READ_WITHIN },
  {
    route: 'POST /servers/:uuid/access/tier',
    spare: 'plainServer',
    statuses: manage(303),
    form: { access: 'organization' },
  },
  {
    route: 'POST /servers/:uuid/access/people',
    spare: 'plainServer',
    statuses: manage(303),
    form: ({ strangerEmail }) => ({ email: strangerEmail }),
  },
  {
    route: 'POST /servers/:uuid/access/people/:id/removal',
    id: async ({ spare }) => [await spare.plainServer(), randomUUID()],
    statuses: manage(303),
  },
  { route: 'POST /servers/:uuid/access/requests', statuses: askers(303) },
  ...['approval', 'refusal'].map(answer => ({
    route: `POST /servers/:uuid/access/requests/:id/${answer}`,
    spare: 'accessRequest' as const,
    statuses: manage(303),
  })),
  { route: 'POST /servers/:uuid/access/grants/:id/removal', spare: 'grant', statuses: manage(303) },
  {
    route: 'POST /servers/:uuid/access/clients',
    statuses: manage(201),
    form: ({ plain }) => ({
      name: plain(),
      redirectUris: 'https://app.example.com/callback',
      tokenEndpointAuthMethod: 'none',
    }),
  },
  { route: 'GET /servers/:uuid/access/clients/:id/removal', statuses: seeing('manage') },
  {
    route: 'POST /servers/:uuid/access/clients/:id/removal',
    spare: 'plainClient',
    statuses: manage(303),
    form: { sure: 'Plain' },
  },
]

const settings: Row[] = [
  { route: 'GET /servers/:uuid/settings', statuses: READ_WITHIN },
  {
    route: 'POST /servers/:uuid/settings',
    spare: 'plainServer',
    statuses: buildWithin(303),
    form: { name: 'Saved', description: '', maxResponseTokens: '1000', presentation: 'grouped' },
  },
  {
    route: 'POST /servers/:uuid/settings/transfer',
    spare: 'plainServer',
    statuses: manage(303),
    form: ({ elsewhereId }) => ({ organizationId: elsewhereId }),
  },
  { route: 'GET /servers/:uuid/settings/masking', statuses: READ_WITHIN },
  {
    route: 'POST /servers/:uuid/settings/masking',
    spare: 'plainServer',
    statuses: buildWithin(303),
    form: { email: 'on', patterns: 'EMP-\\d{6}' },
  },
  { route: 'GET /servers/:uuid/settings/removal', statuses: seeing('manage') },
  {
    route: 'POST /servers/:uuid/settings/removal',
    spare: 'plainServer',
    statuses: manage(303),
    form: { sure: 'Plain' },
  },
]

/** Creates a server that a request may change. Returns its id and the id of one of its instances. */
const wiredInstance: Row['id'] = async ({ spare }) => {
  const { serverId, instanceId } = await spare.wiredServer()
  return [serverId, instanceId]
}
const wiredToolkit: Row['id'] = async ({ spare }) => {
  const { serverId, toolkitId } = await spare.wiredServer()
  return [serverId, toolkitId]
}
const wiredGlobal: Row['id'] = async ({ spare }) => [(await spare.wiredServer()).serverId, 'plain']
const plainUpstream: Row['id'] = async ({ spare }) => {
  const { serverId, id } = await spare.plainUpstream()
  return [serverId, id]
}
const plainReviewedUpstream: Row['id'] = async ({ spare }) => {
  const { serverId, id } = await spare.plainReviewedUpstream()
  return [serverId, id]
}
const REMOTE = { transport: 'http', url: 'https://mcp.example.com/mcp' }

const connecting: Row[] = [
  { route: 'GET /api/v1/me/upstream-accounts', statuses: OWN },
  { route: 'DELETE /api/v1/me/upstream-accounts/:id', id: () => randomUUID(), statuses: own(404) },
  { route: 'DELETE /api/v1/upstreams/:id/account', spare: 'oauthUpstream', statuses: buildWithin(204) },
  { route: 'GET /connect/:upstreamId', spare: 'oauthUpstream', statuses: seeingWithin('build') },
  { route: 'POST /connect/:upstreamId', spare: 'oauthUpstream', statuses: buildWithin(503), form: {} },
  { route: 'POST /connect/:upstreamId/disconnection', spare: 'oauthUpstream', statuses: buildWithin(303), form: {} },
  // No authorization server has redirected the user here.
  {
    route: 'GET /connect/callback',
    query: '?state=none',
    statuses: [303, 400, 400, 400, 400, 400, 400, 400, 403, 403],
  },
  // Not available without https.
  { route: 'GET /connect/client.json', statuses: everybody(404) },
  { route: 'GET /account/upstreams', statuses: OWN },
  { route: 'POST /account/upstreams/:id/removal', id: () => randomUUID(), statuses: own(404), form: {} },
]

const upstreamPages: Row[] = [
  { route: 'GET /servers/:uuid/sources/upstreams/new', statuses: seeingWithin('build') },
  {
    route: 'POST /servers/:uuid/sources/upstreams/new',
    statuses: buildWithin(303),
    form: ({ fresh }) => ({ ...REMOTE, name: fresh(), anyway: 'on' }),
  },
  { route: 'GET /servers/:uuid/sources/upstreams/:upstreamId', id: plainUpstream, statuses: READ_WITHIN },
  {
    route: 'POST /servers/:uuid/sources/upstreams/:upstreamId',
    id: plainUpstream,
    statuses: buildWithin(303),
    form: { ...REMOTE, name: 'plain' },
  },
  {
    route: 'GET /servers/:uuid/sources/upstreams/:upstreamId/tool',
    id: plainUpstream,
    query: '?name=echo',
    statuses: seeingWithin('build'),
  },
  {
    route: 'POST /servers/:uuid/sources/upstreams/:upstreamId/tool',
    id: plainUpstream,
    query: '?name=echo',
    statuses: buildWithin(303),
    form: { responseTokens: '500', dropFields: 'a.b' },
  },
  // The tool was never fetched, so nothing is called.
  {
    route: 'POST /servers/:uuid/sources/upstreams/:upstreamId/tool/call',
    id: plainUpstream,
    query: '?name=echo',
    statuses: buildWithin(200),
    form: { args: '{}' },
  },
  {
    route: 'POST /servers/:uuid/sources/upstreams/:upstreamId/tool/preview',
    id: plainUpstream,
    query: '?name=echo',
    statuses: buildWithin(200),
    form: { sample: '{"a": 1}', dropFields: 'a' },
  },
  // Nothing responds at the upstream's URL, and the page says so.
  {
    route: 'POST /servers/:uuid/sources/upstreams/:upstreamId/refresh',
    id: plainUpstream,
    statuses: buildWithin(303),
    form: {},
  },
  {
    route: 'POST /servers/:uuid/sources/upstreams/:upstreamId/switch',
    id: plainUpstream,
    statuses: buildWithin(303),
    form: { enabled: '' },
  },
  // The upstream was never fetched, so there is nothing to decide.
  ...['approve', 'reject'].map(decision => ({
    route: `POST /servers/:uuid/sources/upstreams/:upstreamId/${decision}`,
    id: plainReviewedUpstream,
    statuses: buildWithin(303),
    form: { version: createHash('sha256').digest('base64url') },
  })),
  {
    route: 'GET /servers/:uuid/sources/upstreams/:upstreamId/remove',
    id: plainUpstream,
    statuses: seeingWithin('build'),
  },
  {
    route: 'POST /servers/:uuid/sources/upstreams/:upstreamId/remove',
    id: plainUpstream,
    statuses: buildWithin(303),
    form: { sure: 'plain' },
  },
]

const serverTabs: Row[] = [
  ...connecting,
  ...upstreamPages,
  ...['tools', 'sources', 'bindings', 'globals'].map(tab => ({
    route: `GET /servers/:uuid/${tab}`,
    statuses: READ_WITHIN,
  })),
  ...['tools', 'sources'].map(tab => ({ route: `GET /servers/:uuid/${tab}/new`, statuses: seeingWithin('build') })),
  { route: 'POST /servers/:uuid/tools/new', statuses: buildWithin(303), form: ({ toolId }) => ({ tool: toolId }) },
  { route: 'GET /servers/:uuid/tools/removal', statuses: seeingWithin('build') },
  {
    route: 'POST /servers/:uuid/tools/removal',
    path: '/servers/:uuid/tools/removal?tool=:tool',
    id: wiredInstance,
    statuses: buildWithin(303),
    form: { sure: 'Plain' },
  },
  ...['disable', 'enable'].map(action => ({
    route: `POST /servers/:uuid/tools/${action}`,
    statuses: buildWithin(303),
    form: ({ instanceId }: World) => ({ tool: instanceId }),
  })),
  { route: 'POST /servers/:uuid/tools/undo', statuses: buildWithin(303) },
  { route: 'GET /servers/:uuid/tools/values', statuses: seeingWithin('build') },
  { route: 'POST /servers/:uuid/tools/values', statuses: buildWithin(303), form: {} },
  { route: 'GET /servers/:uuid/tools/:instanceId', id: wiredInstance, statuses: READ_WITHIN },
  {
    route: 'POST /servers/:uuid/tools/:instanceId',
    id: wiredInstance,
    statuses: buildWithin(303),
    form: ({ fresh }) => ({ name: fresh(), 'source:key': 'exposed' }),
  },
  { route: 'POST /servers/:uuid/tools/:instanceId/preview', id: wiredInstance, statuses: buildWithin(200), form: {} },
  {
    route: 'POST /servers/:uuid/tools/:instanceId/switch',
    id: wiredInstance,
    statuses: buildWithin(303),
    form: { enabled: '' },
  },
  { route: 'GET /servers/:uuid/tools/:instanceId/remove', id: wiredInstance, statuses: seeingWithin('build') },
  {
    route: 'POST /servers/:uuid/tools/:instanceId/remove',
    id: wiredInstance,
    statuses: buildWithin(303),
    form: { sure: 'plain' },
  },
  {
    route: 'POST /servers/:uuid/sources/new',
    statuses: buildWithin(303),
    form: ({ toolkitId }) => ({ toolkit: toolkitId }),
  },
  { route: 'GET /servers/:uuid/sources/:toolkitId', id: wiredToolkit, statuses: READ_WITHIN },
  { route: 'POST /servers/:uuid/sources/:toolkitId', id: wiredToolkit, statuses: buildWithin(303), form: {} },
  { route: 'GET /servers/:uuid/sources/:toolkitId/remove', id: wiredToolkit, statuses: seeingWithin('build') },
  {
    route: 'POST /servers/:uuid/sources/:toolkitId/remove',
    id: wiredToolkit,
    statuses: buildWithin(303),
    form: { sure: 'Plain' },
  },
  {
    route: 'POST /servers/:uuid/bindings',
    statuses: buildWithin(303),
    form: ({ instanceId }) => ({ cell: `${instanceId}:key`, from: 'global', global: 'key' }),
  },
  {
    route: 'POST /servers/:uuid/globals',
    statuses: buildWithin(303),
    form: ({ fresh }) => ({ key: fresh(), value: 'v' }),
  },
  { route: 'GET /servers/:uuid/globals/:key', id: wiredGlobal, statuses: READ_WITHIN },
  { route: 'POST /servers/:uuid/globals/:key', id: wiredGlobal, statuses: buildWithin(303), form: { value: 'w' } },
  { route: 'GET /servers/:uuid/globals/:key/remove', id: wiredGlobal, statuses: seeingWithin('build') },
  {
    route: 'POST /servers/:uuid/globals/:key/remove',
    id: wiredGlobal,
    statuses: buildWithin(303),
    form: { sure: 'plain' },
  },
]

/** The inspector uses the owner's private server from its page. Tokens need the scope for using servers. */
const inspector: Row[] = [
  { route: 'GET /servers/:uuid/inspector', statuses: [303, 404, 403, 403, 200, 200, 200, 403, 403, 200] },
  {
    route: 'POST /servers/:uuid/inspector',
    query: `?tool=${CANARY}_tool`,
    statuses: [303, 404, 403, 403, 200, 200, 200, 403, 403, 200],
  },
]

const LINKS = ['verify-email', 'forgot-password', 'reset-password', 'stop-event-emails']

const ownAccount: Row[] = [
  // Rejected without a valid link, whoever asks.
  ...['POST email-verifications', 'PUT password-resets', 'POST password-resets'].map(route => ({
    route: route.replace(' ', ' /api/v1/'),
    statuses: everybody(400),
    body: { token: 'x' },
  })),
  { route: 'POST /api/v1/email-changes', statuses: own(400), body: { token: 'x' } },
  { route: 'GET /change-email', statuses: OWN },
  { route: 'POST /change-email', statuses: own(400) },
  { route: 'POST /api/v1/me/email-verification', statuses: own(202) },
  ...['email', 'password'].map(name => ({ route: `PUT /api/v1/me/${name}`, statuses: own(400), body: {} })),
  { route: 'GET /api/v1/me/sessions', statuses: OWN },
  { route: 'DELETE /api/v1/me/sessions', statuses: own(204) },
  { route: 'DELETE /api/v1/me/sessions/:id', spare: 'session', statuses: ofOwner(204) },
  ...LINKS.flatMap(name => [
    { route: `GET /${name}`, statuses: everybody(200) },
    { route: `POST /${name}`, statuses: everybody(400) },
  ]),
  { route: 'GET /account', statuses: OWN },
  ...['security', 'tokens', 'sessions', 'organizations', 'deletion'].map(tab => ({
    route: `GET /account/${tab}`,
    statuses: OWN,
  })),
  // The form does not say what happens to organizations without another owner.
  { route: 'POST /account/deletion', statuses: own(400) },
  { route: 'POST /account/tokens', statuses: own(200), form: { name: 'Plain', scopes: 'write', expiresInDays: '7' } },
  {
    route: 'GET /account/tokens/:id/removal',
    spare: 'token',
    statuses: [303, 404, 404, 404, 404, 404, 200, 200, 403, 403],
  },
  { route: 'POST /account/tokens/:id/removal', spare: 'plainToken', statuses: ofOwner(303), form: { sure: 'Plain' } },
  ...['', '/confirmation', '/removal', '/recovery-codes'].map(rest => ({
    route: `POST /account/second-factor${rest}`,
    statuses: own(400),
  })),
  { route: 'GET /account/identities', statuses: OWN },
  { route: 'POST /account/identities', statuses: own(400) },
  { route: 'POST /account/identities/:id/removal', id: () => randomUUID(), statuses: own(404) },
  { route: 'POST /account/email-verification', statuses: own(303) },
  { route: 'POST /account/email', statuses: own(400) },
  { route: 'POST /account/password', statuses: own(400) },
  { route: 'POST /account/sessions/end', statuses: own(303) },
  { route: 'POST /account/sessions/:id/end', spare: 'session', statuses: ofOwner(303) },
]

const TOOL_FORM = { method: 'GET', url: 'https://api.example.com/' }
/** Creates a tool in a toolkit of its own, and returns the IDs of both. */
const toolIn = async ({ spare, askers }: World, name: string): Promise<string[]> => {
  const toolkitId = await spare.plainToolkit()
  return [toolkitId, (await askers.owner.create(`/toolkits/${toolkitId}/tools`, { ...TOOL_FORM, name })).id]
}
const plainToolIn: Row['id'] = world => toolIn(world, 'plain')
const freshToolIn: Row['id'] = world => toolIn(world, world.plain())
/** Returns the ids of a toolkit and of the review of an import into it. */
const reviewIn = async ({ spare, askers }: World): Promise<string[]> => {
  const id = await spare.review()
  const { body } = await askers.owner.expectOk('GET', `/imports/${id}`)
  return [z.object({ toolkitId: z.string() }).parse(body).toolkitId, id]
}
const plainToolOf = async ({ spare, askers }: World): Promise<string> => {
  const toolkitId = await spare.plainToolkit()
  return (await askers.owner.create(`/toolkits/${toolkitId}/tools`, { ...TOOL_FORM, name: 'plain' })).id
}

const toolPages: Row[] = [
  { route: 'GET /toolkits/new-tool', statuses: OWN },
  {
    route: 'POST /toolkits/new-tool',
    statuses: build(303),
    form: ({ organizationId, fresh }) => ({ ...TOOL_FORM, name: fresh(), toolkitTitle: 'Mine', organizationId }),
  },
  { route: 'GET /toolkits/:id/tools/new', statuses: seeing('build') },
  {
    route: 'POST /toolkits/:id/tools/new',
    statuses: build(303),
    form: ({ fresh }) => ({ ...TOOL_FORM, name: fresh() }),
  },
  { route: 'GET /toolkits/:id/tools/removal', statuses: seeing('build') },
  {
    route: 'POST /toolkits/:id/tools/removal',
    path: '/toolkits/:id/tools/removal?tool=:tool',
    id: plainToolIn,
    statuses: build(303),
    form: { sure: 'Plain' },
  },
  { route: 'GET /toolkits/:id/tools/move', statuses: seeing('build') },
  {
    route: 'POST /toolkits/:id/tools/move',
    path: '/toolkits/:id/tools/move?tool=:tool',
    id: freshToolIn,
    statuses: build(303),
    form: ({ toolkitId }) => ({ target: toolkitId }),
  },
  { route: 'GET /toolkits/:id/imports', statuses: seeing('build') },
  {
    route: 'POST /toolkits/:id/imports',
    spare: 'roomForImports',
    statuses: build(303),
    form: { text: 'curl https://api.example.com/' },
  },
  { route: 'GET /toolkits/:id/imports/:importId', id: reviewIn, statuses: seeing('build') },
  { route: 'POST /toolkits/:id/imports/:importId', id: reviewIn, statuses: build(303), form: { bulk: 'none' } },
  { route: 'POST /toolkits/:id/imports/:importId/apply', id: reviewIn, statuses: build(303), form: {} },
  {
    route: 'POST /toolkits/:id/imports/:importId/operation',
    id: reviewIn,
    query: '?open=GET%20/orders',
    statuses: build(303),
    form: { name: 'plain' },
  },
  {
    route: 'POST /toolkits/:id/imports/:importId/test',
    id: reviewIn,
    query: '?open=GET%20/orders',
    statuses: build(200),
    form: {},
  },
  { route: 'POST /toolkits/:id/imports/:importId/again', id: reviewIn, statuses: build(409), form: {} },
  { route: 'POST /toolkits/:id/imports/:importId/fetch', id: reviewIn, statuses: build(303), form: {} },
  { route: 'POST /toolkits/:id/imports/:importId/removal', id: reviewIn, statuses: build(303), form: {} },
  { route: 'GET /tools/:id', statuses: READ },
  {
    route: 'POST /tools/:id',
    spare: 'tool',
    statuses: build(303),
    form: ({ fresh }) => ({ ...TOOL_FORM, name: fresh() }),
  },
  { route: 'GET /tools/:id/removal', statuses: seeing('build') },
  { route: 'POST /tools/:id/removal', id: plainToolOf, statuses: build(303), form: { sure: 'plain' } },
  { route: 'POST /tools/:id/duplicate', spare: 'tool', statuses: build(303) },
  {
    route: 'POST /tools/:id/offer',
    spare: 'tool',
    statuses: buildWithin(303),
    form: ({ serverId }) => ({ server: serverId }),
  },
  {
    route: 'POST /tool-secret',
    statuses: buildWithin(200),
    form: ({ toolkitId, serverId }) => ({
      ...TOOL_FORM,
      headers: 'Authorization: Bearer {{token}}',
      toolkit: toolkitId,
      serverId,
      [`secret:${serverId}:token`]: 'value',
      storeSecret: 'token',
    }),
  },
  // Nothing is sent, because a required parameter has no value.
  ...['preview', 'send'].map(what => ({
    route: `POST /tool-${what}`,
    statuses: buildWithin(200),
    form: ({ toolkitId, serverId }: World) => ({
      ...TOOL_FORM,
      url: 'https://api.example.com/{{missing}}',
      toolkit: toolkitId,
      serverId,
    }),
  })),
]

const pages: Row[] = [
  { route: 'POST /theme', statuses: everybody(303) },
  { route: 'GET /search', statuses: OWN, query: '?q=cana' },
  { route: 'GET /search/options', statuses: OWN, query: '?q=cana' },
  { route: 'GET /shortcuts', statuses: OWN },
  { route: 'POST /shortcuts', statuses: own(303) },
  { route: 'GET /status', statuses: everybody(200) },
  { route: 'GET /design', statuses: everybody(200) },
  // This is /assets/*, but Fastify prints only the end of it.
  { route: 'GET /*', path: '/assets/css/patchbay.css', statuses: everybody(200) },
  { route: 'GET /', statuses: everybody(200) },
  // There are servers, so the first run is over.
  { route: 'GET /first-run', statuses: [303, 303, 303, 303, 303, 303, 303, 303, 403, 403] },
  { route: 'POST /first-run', statuses: own(303) },
  ...['sample', 'request', 'upstream', 'end'].map(name => ({ route: `POST /first-run/${name}`, statuses: own(303) })),
  { route: 'GET /first-run/request', statuses: [303, 303, 303, 303, 303, 303, 303, 303, 403, 403] },
  { route: 'GET /first-run/upstream', statuses: [303, 303, 303, 303, 303, 303, 303, 303, 403, 403] },
  { route: 'GET /servers', statuses: OWN },
  { route: 'GET /servers/new', statuses: OWN },
  // Every user may build in some organization, but the name is missing.
  { route: 'POST /servers/new', statuses: own(400) },
  { route: 'POST /servers/sample', statuses: own(303) },
  // Members without access to the private server see its name and owner.
  { route: 'GET /servers/:uuid', statuses: READ },
  { route: 'GET /servers/:uuid/live', statuses: READ_WITHIN },
  { route: 'GET /organizations/:id/live', statuses: READ },
  { route: 'GET /servers/:uuid/sample/removal', spare: 'sample', statuses: seeing('manage') },
  { route: 'POST /servers/:uuid/sample/removal', spare: 'sample', statuses: manage(303), form: {} },
  { route: 'GET /sign-in', statuses: everybody(200) },
  { route: 'POST /sign-in', statuses: everybody(400) },
  { route: 'GET /sign-up', statuses: everybody(200) },
  { route: 'POST /sign-up', statuses: everybody(400) },
  // No sign-in is waiting for a code.
  { route: 'GET /sign-in/code', statuses: everybody(303) },
  { route: 'POST /sign-in/code', statuses: everybody(303) },
  // No external provider is configured.
  { route: 'GET /sign-in/external', statuses: everybody(404) },
  { route: 'GET /sign-in/external/callback', statuses: everybody(400) },
  { route: 'GET /sign-in/link', statuses: everybody(303) },
  { route: 'POST /sign-in/link', statuses: everybody(303) },
  { route: 'POST /sign-out', statuses: everybody(303) },
  // The link from the email is missing. Joining also requires a signed-in user.
  { route: 'GET /invitation', statuses: everybody(404) },
  { route: 'POST /invitation', statuses: own(404) },
  { route: 'POST /invitation/sign-up', statuses: everybody(404) },
]

const METADATA_DOCUMENTS = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']
const NO_ONE = '0190a0a0-0000-7000-8000-000000000000'
/** The authorization server rejects these requests because of invalid data, whoever asks. */
const oauth: Row[] = [
  ...METADATA_DOCUMENTS.flatMap(path => [
    { route: `GET ${path}`, statuses: everybody(200) },
    { route: `OPTIONS ${path}`, statuses: everybody(204) },
  ]),
  { route: 'GET /oauth/jwks', statuses: everybody(200) },
  { route: 'POST /oauth/token', statuses: everybody(400) },
  { route: 'POST /oauth/revoke', statuses: everybody(400) },
  { route: 'POST /oauth/register', statuses: everybody(400), body: {} },
  ...['register', 'token', 'revoke', 'jwks'].map(name => ({
    route: `OPTIONS /oauth/${name}`,
    statuses: everybody(204),
  })),
  { route: 'GET /oauth/authorize', statuses: everybody(400) },
  { route: 'GET /oauth/authorize/:uid', id: () => 'none', statuses: everybody(400) },
  { route: 'GET /oauth/interaction/:uid', id: () => NO_ONE, statuses: everybody(400) },
  { route: 'POST /oauth/interaction/:uid', id: () => NO_ONE, statuses: everybody(400) },
]

const rows: readonly Row[] = [
  ...open,
  metrics,
  ...discovery,
  ...pages,
  ...oauth,
  ...accounts,
  ...ownAccount,
  ...audit,
  ...operatorPages,
  ...suspensions,
  ...secondFactor,
  ...identities,
  // These rows must run before another row creates an organization.
  ...organizationPages,
  ...organizations,
  ...connections,
  ...webhooks,
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

const isPage = ({ route }: Row): boolean => !/^\w+ \/(api|s|metrics)\b/.test(route)
/** Where the API and MCP respond with 401, a page sends visitors to sign in. */
const withSignIn = (row: Row): Row => {
  const [nobody, ...others] = row.statuses
  return isPage(row) && nobody === 401 ? { ...row, statuses: [303, ...others] } : row
}

/** Every route of the application, with the status for each asker. */
export const ROUTES: readonly Row[] = rows.map(withSignIn)
