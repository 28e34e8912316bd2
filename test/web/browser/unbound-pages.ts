import { signUp } from '../../support/api-client.ts'
import { type DashboardWorld, HOSTILE_NAME } from './dashboard-world.ts'
import type { PageRow } from './page-row.ts'

/** Creates a server with a tool that got default bindings later, of the organization or of another one. */
const makeUnbound = async ({ origin, owner, organizationId }: DashboardWorld, isForeign: boolean) => {
  const author = isForeign ? await signUp(origin) : owner
  const place = isForeign ? { visibility: 'public' } : { organizationId }
  const toolkit = await author.create('/toolkits', { title: HOSTILE_NAME, ...place })
  const url = 'https://api.example.com/'
  const tool = await author.create(`/toolkits/${toolkit.id}/tools`, { name: 'track', method: 'GET', url })
  const server = await owner.create('/servers', { name: HOSTILE_NAME, organizationId })
  const use = () => owner.expectOk('PUT', `/servers/${server.id}/toolkits/${toolkit.id}`)
  await use()
  const instance = { toolId: tool.id, name: 'unbreakable_'.repeat(5) }
  const { id } = await owner.create(`/servers/${server.id}/instances`, instance)
  const key = 'unbreakable_'.repeat(6).slice(0, 64)
  const name = isForeign ? key : 'key'
  const parameters = {
    [name]: { binding: { source: 'server', key, secret: true } },
    note: { binding: { source: 'instance', value: HOSTILE_NAME.replaceAll(/[{}]/g, '') } },
  }
  await author.expectOk('PATCH', `/tools/${tool.id}`, { url: `${url}?key={{${name}}}&note={{note}}`, parameters })
  await use()
  const at = `/servers/${server.id}`
  return { source: `${at}/sources/${toolkit.id}`, instance: `${at}/tools/${id}`, tool: `/tools/${tool.id}` }
}

export const unboundSource: PageRow = {
  path: async world => (await makeUnbound(world, true)).source,
  state: 'unbound',
}

export const unboundInstance: PageRow = {
  path: async world => (await makeUnbound(world, true)).instance,
  state: 'unbound',
}

export const unboundEditor: PageRow = {
  path: async world => (await makeUnbound(world, false)).tool,
  state: 'unbound',
}
