import { makeServer } from '../../support/api-client.ts'
import { type DashboardWorld, HOSTILE_NAME } from './dashboard-world.ts'
import type { Pages } from './page-row.ts'

/** Suspends a server with a hostile name and reason, and blocks an origin, for the operator's page. */
const onSuspensions = async ({ app, owner, organizationId }: DashboardWorld): Promise<string> => {
  const { suspensionService } = app.services
  const { id } = await owner.create('/servers', { name: HOSTILE_NAME, organizationId })
  const reason = `${'Unbreakable'.repeat(9)} ${HOSTILE_NAME}`
  await suspensionService.suspend(undefined, 'server', id, { reason })
  await suspensionService.blockOrigin(undefined, {
    origin: `https://${'a-rather-long-label.'.repeat(9)}kestrel.example`,
    reason,
  })
  return '/operator/suspensions'
}

/** Suspends a server of the owner, and returns its path. */
export const onSuspendedServer = async ({ app, owner, organizationId }: DashboardWorld): Promise<string> => {
  const { id } = await owner.create('/servers', { name: 'Suspended desk', organizationId, access: 'organization' })
  await app.services.suspensionService.suspend(undefined, 'server', id, { reason: HOSTILE_NAME })
  return `/servers/${id}`
}

/** Calls of a tool in a row after which its API counts as failing. */
const MANY_CALLS = 10

/** Calls an API that refuses connections, until it counts as failing. */
const withFailingApi = async ({ owner, organizationId }: DashboardWorld): Promise<string> => {
  const tool = { name: 'unreachable', method: 'GET', url: 'http://127.0.0.1:1/' }
  const { instanceIds } = await makeServer(owner, [tool], { organizationId })
  const path = `/instances/${instanceIds.unreachable}/call`
  for (let count = 0; count < MANY_CALLS; count++) await owner.expectOk('POST', path, { arguments: {} })
  return '/operator'
}

export const operatorPages: Pages = {
  'GET /operator/suspensions': [
    { path: '/operator/suspensions?kind=user&target=ada@example.com' },
    { path: onSuspensions, state: 'suspended' },
    {
      path: '/operator/suspensions',
      state: 'refused',
      status: 400,
      act: async page => {
        await page.getByLabel('Name', { exact: true }).fill('nobody@example.com')
        await page.getByRole('region', { name: 'Suspend', exact: true }).getByLabel('Reason').fill('Spam')
        await page.getByRole('button', { name: 'Suspend', exact: true }).click()
        await page.getByText('The name is not the id or email address of a user.').waitFor()
      },
    },
    {
      path: '/operator/suspensions',
      state: 'origin-refused',
      status: 400,
      act: async page => {
        await page.getByLabel('Origin').fill('example')
        await page.getByRole('region', { name: 'Block a destination' }).getByLabel('Reason').fill('Spam')
        await page.getByRole('button', { name: 'Block destination' }).click()
        await page.getByText('The origin must be an origin such as').waitFor()
      },
    },
  ],

  'GET /operator': [
    { path: '/operator' },
    { path: '/operator', state: 'refused', who: 'viewer', status: 403 },
    {
      path: withFailingApi,
      state: 'failing-api',
      act: async page => page.getByRole('region', { name: 'APIs that keep failing' }).waitFor(),
    },
  ],
  'GET /operator/users': [{ path: '/operator/users' }, { path: '/operator/users?q=zzz', state: 'nothing-found' }],
  'GET /operator/settings': [{ path: '/operator/settings' }],
  'GET /operator/audit': [{ path: '/operator/audit' }],
  'GET /status': [{ path: '/status', who: 'stranger' }],
}
