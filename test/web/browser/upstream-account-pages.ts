import { type OAuthFake, startOAuthFake } from '../../upstreams/oauth-fake.ts'
import { type DashboardWorld, HOSTILE_NAME } from './dashboard-world.ts'
import type { Pages } from './page-row.ts'

/** This address is blocked because it is private. */
const PRIVATE_URL = 'https://10.0.0.1/mcp'

type Options = { auth: object; url?: string; connected?: 'good' | 'broken' }

/** Attaches an upstream that requires an account, and optionally connects an account. */
const withUpstream = async (world: DashboardWorld, { auth, url = PRIVATE_URL, connected }: Options) => {
  const { owner, organizationId, app } = world
  const server = await owner.create('/servers', { name: HOSTILE_NAME, organizationId, access: 'organization' })
  const { id } = await owner.create(`/servers/${server.id}/upstreams`, {
    name: 'parcels',
    transport: 'http',
    url,
    auth,
  })
  if (connected !== undefined) {
    const isOwn = 'per' in auth && auth.per === 'caller'
    await app.services.db.upstreamAccount.create({
      data: {
        upstreamId: id,
        holder: isOwn ? owner.userId : '',
        userId: isOwn ? owner.userId : null,
        content: '',
        keyId: app.services.sealing.keyIds[0] ?? '',
        connectedAt: new Date('2026-11-20T09:30:00Z'),
        brokenAt: connected === 'broken' ? new Date('2026-11-21T10:00:00Z') : null,
      },
    })
  }
  return { id, path: `/servers/${server.id}/sources/upstreams/${id}`, connect: `/connect/${id}` }
}

const SHARED = { type: 'oauth' }
const OWN = { type: 'oauth', per: 'caller' }
const BROUGHT = { ...SHARED, clientId: 'brought-by-hand', clientSecret: 'kept sealed', scopes: ['parcels:read'] }

const onEdit = (options: Options) => async (world: DashboardWorld) => (await withUpstream(world, options)).path
const onConnect = (options: Options) => async (world: DashboardWorld) => (await withUpstream(world, options)).connect

let fake: OAuthFake | undefined

/** Pages that show accounts at MCP servers. */
export const upstreamAccountPages: Pages = {
  'GET /servers/:uuid/sources/upstreams/:upstreamId': [
    { path: onEdit({ auth: SHARED }), state: 'no-account' },
    { path: onEdit({ auth: BROUGHT, connected: 'good' }), state: 'account' },
    { path: onEdit({ auth: SHARED, connected: 'broken' }), state: 'account-broken', who: 'viewer' },
    { path: onEdit({ auth: OWN, connected: 'good' }), state: 'own-accounts' },
  ],
  'GET /connect/:upstreamId': [
    { path: onConnect({ auth: SHARED }) },
    { path: onConnect({ auth: OWN, connected: 'broken' }), state: 'own' },
    {
      path: onConnect({ auth: SHARED }),
      state: 'refused',
      status: 503,
      act: async page => {
        await page.getByRole('button', { name: 'Connect' }).click()
        await page.getByText('10.0.0.1 is a private address').waitFor()
      },
    },
    {
      path: async world => {
        fake = await startOAuthFake()
        fake.behave({ server: () => ({ authorization_endpoint: 'https://login.example.com/authorize' }) })
        return (await withUpstream(world, { auth: OWN, url: fake.url })).connect
      },
      state: 'leaving',
      act: async page => {
        await page.getByRole('button', { name: 'Connect' }).click()
        await page.getByRole('heading', { name: 'Continue to login.example.com' }).waitFor()
        await fake?.close()
      },
    },
  ],
  'GET /account/upstreams': [
    {
      path: async world => {
        await withUpstream(world, { auth: OWN, connected: 'good' })
        await withUpstream(world, { auth: OWN, connected: 'broken' })
        return '/account/upstreams'
      },
      state: 'connected',
    },
    { path: '/account/upstreams', who: 'viewer' },
  ],
}
