import Sqlite from 'better-sqlite3'
import { z } from 'zod'
import type { Scope } from '../../../src/lib/kernel/actor.ts'
import type { Role } from '../../../src/lib/kernel/roles.ts'
import type { Services } from '../../../src/services.ts'
import { descriptionOf } from '../../imports/reading.ts'
import { storeReview } from '../../imports/reviews.ts'
import { insertGrant } from '../../oauth/support/tokens.ts'
import { type ApiClient, createApiClient, makeServer, signUp } from '../../support/api-client.ts'

/** Part of every name in the tested organization, to detect leaks to users without access. */
export const CANARY = 'canary'
/** A secret sent by the organization's tool. No user may ever see it. */
export const SECRET = 'sk-9f3b "never" shown'

/**
 * The requesting users: anonymous, from another organization, each role, a builder whom the owner allows on the private
 * servers, and the owner with single-scope tokens.
 */
export const ASKERS = [
  'nobody',
  'stranger',
  'viewer',
  'builder',
  'named builder',
  'admin',
  'owner',
  'reading token',
  'writing token',
  'mcp token',
] as const
export type Asker = (typeof ASKERS)[number]

const Token = z.object({ token: z.string() })
const Executions = z.object({ items: z.array(z.object({ id: z.string() })) })

/** Columns that change without a request: when a token was used, since when an MCP server is down, deliveries. */
const CHANGING: Partial<Record<string, readonly string[]>> = {
  AccessToken: ['lastUsedAt', 'updatedAt'],
  Upstream: ['downSince', 'updatedAt'],
  Webhook: ['dueAt', 'leasedUntil', 'lease', 'failingSince', 'updatedAt'],
  Delivery: [
    'state',
    'attempts',
    'nextAt',
    'triedAt',
    'lastMs',
    'lastStatus',
    'lastError',
    'lastResponse',
    'updatedAt',
  ],
}

const CHANGEABLE = [
  'BlockedOrigin',
  'User',
  'Organization',
  'Membership',
  'Invitation',
  'Toolkit',
  'Tool',
  'Server',
  'ServerUser',
  'AccessRequest',
  'Instance',
  'Binding',
  'Global',
  'Upstream',
  'ToolkitUse',
  'Session',
  'OAuthClient',
  'OAuthArtifact',
  'AccessToken',
  'Webhook',
  'Delivery',
]

/** Creates an organization with a member in each role and one object of every kind. */
export const makeWorld = async (origin: string, services: Services, databaseUrl: string, apiOrigin: string) => {
  const { db, recorder } = services
  const owner = await signUp(origin)
  const { organizationId } = await db.membership.findFirstOrThrow({ where: { userId: owner.userId } })
  const join = async (role: Role) => {
    const user = await signUp(origin)
    await db.membership.deleteMany({ where: { userId: user.userId } })
    await db.membership.create({ data: { organizationId, userId: user.userId, role } })
    return user
  }
  const withScope = async (scope: Scope): Promise<ApiClient> => {
    const { body } = await owner.expectOk('POST', '/tokens', { name: CANARY, scopes: [scope] })
    return createApiClient(origin, Token.parse(body).token)
  }
  const stranger = await signUp(origin)
  const named = await join('builder')
  const allowedUsers = [named.userId]
  const askers: Record<Asker, ApiClient> = {
    nobody: createApiClient(origin),
    stranger,
    viewer: await join('viewer'),
    builder: await join('builder'),
    'named builder': named,
    admin: await join('admin'),
    owner,
    'reading token': await withScope('read'),
    'writing token': await withScope('write'),
    'mcp token': await withScope('mcp'),
  }

  const name = `${CANARY}_tool`
  const tool = { name, method: 'POST', url: `${apiOrigin}/?key={{key?}}`, body: '{"key": {{key?}}}' }
  const server = { name: CANARY, description: CANARY, access: 'private', allowedUsers }
  const bindings = { [name]: { key: { source: 'server' } } }
  const made = await makeServer(owner, [tool], { server, bindings })
  const [instanceId = ''] = Object.values(made.instanceIds)
  const [toolId = ''] = Object.values(made.toolIds)
  const origins = [apiOrigin, 'https://mcp.example.com']
  await owner.expectOk('PUT', `/servers/${made.serverId}/globals/key`, { value: SECRET, secret: true, origins })
  await owner.expectOk('POST', `/instances/${instanceId}/call`, { arguments: {} })
  await recorder.flush()
  const upstream = { transport: 'http', url: 'https://mcp.example.com/mcp', headers: { authorization: '{{key}}' } }
  const { id: upstreamId } = await owner.create(`/servers/${made.serverId}/upstreams`, { ...upstream, name: CANARY })
  const executions = Executions.parse((await owner.expectOk('GET', `/servers/${made.serverId}/executions`)).body)
  const executionId = z.string().parse(executions.items[0]?.id)

  const joined = await db.membership.findMany({ where: { organizationId }, select: { userId: true } })
  /** Another organization in which the same members are builders. */
  const { id: elsewhereId } = await db.organization.create({
    data: { name: 'Elsewhere', memberships: { create: joined.map(({ userId }) => ({ userId, role: 'builder' })) } },
  })

  const { userId: adminId } = await db.membership.findFirstOrThrow({ where: { organizationId, role: 'admin' } })

  const ownerActor = await services.accounts.findActorByUserId(owner.userId)
  if (ownerActor === undefined) throw new Error('the owner has no account')

  const addWebhook = async (url: string): Promise<string> =>
    (await owner.create(`/organizations/${organizationId}/webhooks`, { url, events: ['limit.reached'] })).id
  const webhookId = await addWebhook(`https://hooks.example.com/${CANARY}`)
  const { id: deliveryId } = await owner.create(`/webhooks/${webhookId}/test`, undefined)

  let count = 0
  const fresh = () => `${CANARY}_${++count}`
  /** Returns a name for an object outside the tested organization. */
  const plain = () => `plain_${++count}`
  /** Functions that create objects to delete. */
  const spare = {
    toolkit: async () => (await owner.create('/toolkits', { title: fresh(), organizationId })).id,
    /** Creates a toolkit whose name may be visible. */
    plainToolkit: async () => (await owner.create('/toolkits', { title: 'Plain', organizationId })).id,
    /** Creates the review of a description with the operation `GET /orders`, in a separate toolkit. */
    review: async () => {
      const paths = { '/orders': { get: { responses: {} } } }
      const place = { toolkitId: await spare.toolkit(), userId: owner.userId }
      return storeReview(services, place, descriptionOf({ servers: [{ url: apiOrigin }], paths }))
    },
    /** Makes room for imports: an organization can have only a few. Returns a toolkit without any. */
    roomForImports: async () => {
      for (const { id } of await db.import.findMany()) await owner.expectOk('DELETE', `/imports/${id}`)
      return spare.toolkit()
    },
    /** Creates a toolkit with a source whose URL nothing answers at. */
    sourcedToolkit: async () => {
      const toolkitId = await spare.toolkit()
      const source = { kind: 'openapi', url: 'http://127.0.0.1:1/openapi.json', settings: {}, sha256: 'a' } as const
      await db.toolkitSource.create({ data: { toolkitId, ...source } })
      return toolkitId
    },
    tool: async () => (await owner.create(`/toolkits/${made.toolkitId}/tools`, { ...tool, name: fresh() })).id,
    server: async () => (await owner.create('/servers', { name: fresh(), organizationId, allowedUsers })).id,
    plainServer: async () => (await owner.create('/servers', { name: 'Plain', organizationId, allowedUsers })).id,
    /** Creates a separate server with one object of every kind, all named `plain`. */
    wiredServer: async () => {
      const serverId = await spare.plainServer()
      const toolkitId = await spare.plainToolkit()
      await owner.expectOk('PUT', `/servers/${serverId}/toolkits/${toolkitId}`)
      await owner.expectOk('PUT', `/servers/${serverId}/globals/plain`, { value: 'plain' })
      const definition = { name: 'plain', method: 'GET', url: `${apiOrigin}/?key={{key?}}` }
      const { id: plainToolId } = await owner.create(`/toolkits/${await spare.plainToolkit()}/tools`, definition)
      const instance = await owner.create(`/servers/${serverId}/instances`, { toolId: plainToolId, name: 'plain' })
      return { serverId, toolkitId, instanceId: instance.id }
    },
    /** Creates a server and a toolkit, both named `Plain`, that count as a sample. */
    sample: async () => {
      const serverId = await spare.plainServer()
      await services.samples.noteSample(ownerActor, serverId, await spare.plainToolkit())
      return serverId
    },
    instance: async () => (await owner.create(`/servers/${made.serverId}/instances`, { toolId, name: fresh() })).id,
    upstream: async () =>
      (await owner.create(`/servers/${made.serverId}/upstreams`, { ...upstream, name: fresh() })).id,
    disabledUpstream: async () => {
      const body = { ...upstream, name: fresh(), enabled: false }
      return (await owner.create(`/servers/${made.serverId}/upstreams`, body)).id
    },
    /** Creates an upstream that needs an account but cannot be contacted, because its address is private. */
    oauthUpstream: async () => {
      const body = { transport: 'http', url: 'https://10.0.0.1/mcp', auth: { type: 'oauth' }, name: 'plain' }
      return (await owner.create(`/servers/${await spare.plainServer()}/upstreams`, body)).id
    },
    /** Creates an upstream named `plain` on a separate server. */
    plainUpstream: async () => {
      const serverId = await spare.plainServer()
      const { id } = await owner.create(`/servers/${serverId}/upstreams`, { ...upstream, name: 'plain' })
      return { serverId, id }
    },
    /** Creates an upstream whose catalogue was never fetched, on a server that requires changes to be reviewed. */
    plainReviewedUpstream: async () => {
      const made = await spare.plainUpstream()
      await owner.expectOk('PATCH', `/servers/${made.serverId}`, { reviewUpstreamChanges: true })
      return made
    },
    global: async () => {
      const key = fresh()
      await owner.expectOk('PUT', `/servers/${made.serverId}/globals/${key}`, { value: CANARY })
      return key
    },
    usedToolkit: async () => {
      const id = await spare.toolkit()
      await owner.expectOk('PUT', `/servers/${made.serverId}/toolkits/${id}`)
      return id
    },
    /** Creates a token with a fixed name, so that a form can submit the same name again. */
    plainToken: async () => (await owner.create('/tokens', { name: 'Plain' })).id,
    token: async () => (await owner.create('/tokens', { name: fresh() })).id,
    session: async () => {
      const expiresAt = new Date(Date.now() + 60_000)
      return (await db.session.create({ data: { sidHash: fresh(), userId: owner.userId, data: {}, expiresAt } })).id
    },
    member: async () => {
      const memberships = { create: { organizationId, role: 'viewer' as const } }
      const user = { email: `${fresh()}@example.com`, passwordHash: '', memberships }
      return (await db.user.create({ data: user })).id
    },
    /** Creates a request for access to the private server. Returns the user who asks. */
    accessRequest: async () => {
      const userId = await spare.member()
      await db.accessRequest.create({ data: { serverId: made.serverId, userId } })
      return userId
    },
    invitation: async () => {
      const wish = { email: `${fresh()}@example.com`, role: 'viewer' }
      return (await owner.create(`/organizations/${organizationId}/invitations`, wish)).id
    },
    limit: async () => {
      const kind = { scope: 'organization', unit: 'calls', period: 'day' } as const
      return (await db.limit.create({ data: { organizationId, ...kind, amount: 1_000_000n } })).id
    },
    /** Creates a grant that belongs to the owner, for the owner's server. */
    grant: () => insertGrant(services, { origin, userId: owner.userId, serverId: made.serverId, clientId: fresh() }),
    plainClient: async () => {
      const wish = { name: 'Plain', redirectUris: ['https://app.example.com/callback'] }
      return (await owner.create(`/organizations/${organizationId}/oauth-clients`, wish)).id
    },
    oauthClient: async () => {
      const wish = { name: fresh(), redirectUris: ['https://app.example.com/callback'] }
      return (await owner.create(`/organizations/${organizationId}/oauth-clients`, wish)).id
    },
    /** Creates a webhook with a plain address, and removes others of this kind: an organization can have only a few. */
    webhook: async () => {
      await db.webhook.deleteMany({ where: { id: { not: webhookId } } })
      return addWebhook('https://hooks.example.com/')
    },
    /** Creates another organization with the same members. */
    organization: async () => {
      const members = await db.membership.findMany({ where: { organizationId }, select: { userId: true, role: true } })
      return (await db.organization.create({ data: { name: CANARY, memberships: { create: members } } })).id
    },
  }

  const { id: oauthClientId } = await owner.create(`/organizations/${organizationId}/oauth-clients`, {
    name: CANARY,
    redirectUris: ['https://app.example.com/callback'],
  })

  const file = new Sqlite(databaseUrl.replace(/^file:/, ''), { readonly: true })
  /** Returns everything that a request could change, as text. Reads the file, which is faster than the client. */
  const state = (): string =>
    JSON.stringify(
      CHANGEABLE.map(table =>
        file
          .prepare<[], Record<string, unknown>>(`SELECT * FROM "${table}" ORDER BY "id"`)
          .all()
          .map(row => Object.entries(row).filter(([name]) => !CHANGING[table]?.includes(name))),
      ),
    )
  const ids = {
    strangerEmail: stranger.email,
    organizationId,
    adminId,
    elsewhereId,
    oauthClientId,
    toolId,
    instanceId,
    upstreamId,
    executionId,
    webhookId,
    deliveryId,
    serverId: made.serverId,
    toolkitId: made.toolkitId,
  }
  return { ...ids, tool, askers, spare, fresh, plain, state, close: () => file.close() }
}
export type World = Awaited<ReturnType<typeof makeWorld>>
