import { signUp } from '../../support/api-client.ts'
import { type DashboardWorld, HOSTILE_NAME } from './dashboard-world.ts'
import { type PageRow, type Pages, saveOutdated } from './page-row.ts'
import { unboundInstance, unboundSource } from './unbound-pages.ts'
import { upstreamStatePages } from './upstream-pages.ts'

/** Selects all tools of the server with hostile names. */
const hostileTools = async ({ longServerId, app }: DashboardWorld): Promise<string> => {
  const found = await app.services.db.instance.findMany({ where: { serverId: longServerId }, select: { id: true } })
  return `/servers/${longServerId}/tools/removal?${found.map(({ id }) => `tool=${id}`).join('&')}`
}

const hostileInstance = async ({ longServerId, app }: DashboardWorld): Promise<string> => {
  const { id } = await app.services.db.instance.findFirstOrThrow({ where: { serverId: longServerId } })
  return `/servers/${longServerId}/tools/${id}`
}

/** Creates a server with hostile tools, of which one is disabled. */
const onDisabled = async ({ owner, organizationId }: DashboardWorld, path = '') => {
  const toolkit = await owner.create('/toolkits', { title: HOSTILE_NAME, organizationId })
  const description = HOSTILE_NAME.replaceAll(/[{}]/g, '')
  const tool = { name: 'unbreakable_'.repeat(5), description, method: 'GET', url: 'https://api.example.com/' }
  const { id: toolId } = await owner.create(`/toolkits/${toolkit.id}/tools`, tool)
  const server = await owner.create('/servers', { name: 'Partly off', organizationId, access: 'organization' })
  const add = (name: string, enabled: boolean) =>
    owner.create(`/servers/${server.id}/instances`, { toolId, name, enabled })
  await add('enabled_tool', true)
  const { id } = await add(tool.name, false)
  return `/servers/${server.id}${path.replace(':id', id)}`
}

/** Creates a server with a tool whose secret it does not have. */
const onLackingSecret = async ({ owner, organizationId }: DashboardWorld): Promise<string> => {
  const toolkit = await owner.create('/toolkits', { title: 'Lacking', organizationId })
  const tool = await owner.create(`/toolkits/${toolkit.id}/tools`, {
    name: 'lacking',
    method: 'GET',
    url: 'https://api.example.com/',
    headers: [{ name: 'Authorization', value: 'Bearer {{token}}' }],
    parameters: { token: { binding: { source: 'server', key: 'carrier_token', secret: true } } },
  })
  const server = await owner.create('/servers', { name: 'Lacking', organizationId })
  await owner.create(`/servers/${server.id}/instances`, { toolId: tool.id, name: 'lacking' })
  return `/servers/${server.id}`
}

/** Creates a server that uses a toolkit of another organization, for which an update is available. */
const withUpdate = async ({ origin, owner, organizationId }: DashboardWorld): Promise<string> => {
  const stranger = await signUp(origin)
  const toolkit = await stranger.create('/toolkits', { title: HOSTILE_NAME, visibility: 'public' })
  const add = (name: string) =>
    stranger.create(`/toolkits/${toolkit.id}/tools`, { name, method: 'GET', url: 'https://api.example.com/{{id}}' })
  const changed = await add('changed')
  const removed = await add('removed')
  const server = await owner.create('/servers', { name: 'Waiting', organizationId })
  await owner.expectOk('PUT', `/servers/${server.id}/toolkits/${toolkit.id}`)
  await owner.create(`/servers/${server.id}/instances`, { toolId: changed.id, name: 'changed_here' })
  const headers = [{ name: 'X-Note', value: HOSTILE_NAME.replaceAll(/[{}]/g, '') }]
  await stranger.expectOk('PATCH', `/tools/${changed.id}`, { url: 'https://api.example.com/v2/{{id}}', headers })
  await stranger.expectOk('DELETE', `/tools/${removed.id}`)
  await add('added')
  return `/servers/${server.id}/sources/${toolkit.id}`
}

const UPSTREAMS = {
  yard: {
    transport: 'http',
    url: 'https://mcp.yard.example.com/{{depot}}/mcp',
    headers: { Authorization: 'Bearer {{yard_token}}', 'X-Team': 'night desk' },
    description: 'Gates, ramps and what stands on them.',
    allow: ['read_*', 'list_*'],
  },
  ledger: { transport: 'sse', url: 'https://ledger.example.com/sse', enabled: false },
  files: { transport: 'stdio', command: 'npx', args: ['-y', 'a-server', '/srv/files'], env: { LOG: 'off' } },
  [`${'unbreakable_'.repeat(6)}`.slice(0, 64)]: {
    transport: 'http',
    url: `https://mcp.example.com/${'a-long-path/'.repeat(12)}`,
    headers: { 'X-Note': HOSTILE_NAME.replaceAll(/[{}]/g, '') },
    description: HOSTILE_NAME,
  },
} as const

/** Creates a server with MCP servers of every kind. One of them refers to missing globals. */
const withUpstreams = async ({ owner, organizationId }: DashboardWorld) => {
  const { id: serverId } = await owner.create('/servers', { name: 'Behind it', organizationId, access: 'organization' })
  const ids = new Map<string, string>()
  for (const [name, upstream] of Object.entries(UPSTREAMS)) {
    ids.set(name, (await owner.create(`/servers/${serverId}/upstreams`, { name, ...upstream })).id)
  }
  return { path: `/servers/${serverId}/sources`, ids }
}
const onUpstream =
  (name: string, rest = ''): PageRow['path'] =>
  async world => {
    const { path, ids } = await withUpstreams(world)
    return `${path}/upstreams/${ids.get(name)}${rest}`
  }

const upstreams: Pages = {
  'GET /servers/:uuid/sources': [
    { path: async world => (await withUpstreams(world)).path, state: 'upstreams' },
    { path: async world => (await withUpstreams(world)).path, state: 'upstreams-viewer', who: 'viewer' },
  ],
  'GET /servers/:uuid/sources/upstreams/new': [
    { path: '/servers/:serverId/sources/upstreams/new' },
    {
      path: '/servers/:serverId/sources/upstreams/new',
      state: 'command-refused',
      status: 400,
      act: async page => {
        await page.getByLabel('Name', { exact: true }).fill('Files of the night desk')
        await page.getByLabel('A command on this machine').check()
        await page.getByLabel('Arguments').fill('"not closed')
        await page.getByText('Other settings').click()
        await page.getByLabel('Environment').fill('no pair')
        await page.getByRole('button', { name: 'Attach MCP server' }).click()
        await page.getByRole('link', { name: 'The variable number 1 must have the form NAME=value.' }).waitFor()
      },
    },
    {
      path: '/servers/:serverId/sources/upstreams/new',
      state: 'not-reached',
      status: 400,
      act: async page => {
        await page.getByLabel('Name', { exact: true }).fill('files')
        await page.getByLabel('A command on this machine').check()
        await page.getByLabel('Command', { exact: true }).fill('/nowhere/to-be-found')
        await page.getByRole('button', { name: 'Attach MCP server' }).click()
        await page.getByRole('button', { name: 'Attach anyway' }).waitFor()
      },
    },
  ],
  'GET /servers/:uuid/sources/upstreams/:upstreamId': [
    { path: onUpstream('yard') },
    { path: onUpstream('files'), state: 'command' },
    { path: onUpstream('files'), state: 'viewer', who: 'viewer' },
    { path: onUpstream('unbreakable_'.repeat(6).slice(0, 64)), state: 'hostile' },
    {
      path: onUpstream('yard'),
      state: 'conflict',
      status: 409,
      act: async page => {
        await page.getByLabel('Description, optional').fill(HOSTILE_NAME)
        await page.evaluate(`document.querySelector('[name=version]').value = '2020-01-01T00:00:00.000Z'`)
        await page.getByRole('button', { name: 'Save changes' }).click()
        await page.getByRole('heading', { name: 'Someone else saved changes' }).waitFor()
      },
    },
  ],
  'GET /servers/:uuid/sources/upstreams/:upstreamId/remove': [{ path: onUpstream('yard', '/remove') }],
}

const tools: Pages = {
  'GET /servers/:uuid/tools': [
    { path: '/servers/:serverId/tools' },
    { path: '/servers/:serverId/tools?done=added&count=3', state: 'viewer', who: 'viewer' },
    { path: '/servers/:longServerId/tools', state: 'hostile' },
    { path: '/servers/:emptyServerId/tools', state: 'empty' },
    { path: world => onDisabled(world, '/tools?done=disabled'), state: 'disabled' },
    { path: world => onDisabled(world, '/tools'), state: 'disabled-viewer', who: 'viewer' },
    { path: '/servers/:serverId/tools?q=nothing+like+it', state: 'none' },
    { path: '/servers/:longServerId/tools?sort=-tokens&level=hint', state: 'hints' },
    {
      path: '/servers/:serverId/tools?sort=-model',
      state: 'selected',
      act: page => page.getByRole('checkbox', { name: 'Select quote_rate' }).check(),
    },
  ],
  'GET /servers/:uuid/tools/removal': [
    { path: '/servers/:serverId/tools/removal?tool=:instanceId' },
    { path: '/servers/:serverId/tools/removal', state: 'nothing' },
    { path: hostileTools, state: 'hostile' },
  ],
  'GET /servers/:uuid/tools/new': [
    { path: '/servers/:serverId/tools/new' },
    {
      path: '/servers/:serverId/tools/new?q=track',
      state: 'refused',
      status: 400,
      act: async page => {
        await page.getByRole('button', { name: 'Add selected tools' }).click()
        await page.getByText('Select at least one tool').waitFor()
      },
    },
  ],
  'GET /servers/:uuid/tools/values': [
    { path: '/servers/:serverId/tools/values', state: 'none' },
    { path: async world => `${await onLackingSecret(world)}/tools/values` },
  ],
  'GET /servers/:uuid/tools/:instanceId': [
    { path: '/servers/:serverId/tools/:instanceId' },
    { path: '/servers/:serverId/tools/:instanceId', state: 'viewer', who: 'viewer' },
    { path: hostileInstance, state: 'hostile' },
    unboundInstance,
    { path: world => onDisabled(world, '/tools/:id?done=off'), state: 'disabled' },
    {
      path: '/servers/:serverId/tools/:instanceId',
      state: 'refused',
      status: 400,
      act: async page => {
        await page.getByRole('group', { name: 'limit' }).getByLabel('A fixed value').check()
        await page.getByLabel('Fixed value of limit').fill(HOSTILE_NAME.replaceAll(/[{}]/g, ''))
        await page.getByRole('group', { name: 'base' }).getByLabel('From the model').check()
        await page.getByRole('button', { name: 'Save', exact: true }).click()
        await page.getByText('The value of limit must be an integer').waitFor()
      },
    },
    {
      path: '/servers/:serverId/tools/:instanceId',
      state: 'new-global',
      act: async page => {
        await page.getByRole('group', { name: 'since' }).getByLabel('From a global or a secret').check()
        await page.getByLabel('Global for since').selectOption('+')
        await page.getByRole('group', { name: 'since' }).getByLabel('Key of the new global').waitFor()
      },
    },
    {
      path: '/servers/:serverId/tools/:instanceId',
      state: 'conflict',
      status: 409,
      act: async page => {
        await page.getByLabel('Description for the model').fill(HOSTILE_NAME)
        await saveOutdated(page)
      },
    },
  ],
  'GET /servers/:uuid/tools/:instanceId/remove': [{ path: '/servers/:serverId/tools/:instanceId/remove' }],
}

const sources: Pages = {
  'GET /servers/:uuid/sources': [
    { path: '/servers/:serverId/sources' },
    { path: '/servers/:emptyServerId/sources', state: 'empty' },
    { path: async world => (await withUpdate(world)).replace(/\/[^/]*$/, ''), state: 'update' },
  ],
  'GET /servers/:uuid/sources/new': [{ path: '/servers/:emptyServerId/sources/new' }],
  'GET /servers/:uuid/sources/:toolkitId': [
    { path: '/servers/:serverId/sources/:toolkitId', who: 'viewer' },
    { path: withUpdate, state: 'update' },
    unboundSource,
  ],
  'GET /servers/:uuid/sources/:toolkitId/remove': [{ path: '/servers/:serverId/sources/:toolkitId/remove' }],
}

const bindings: Pages = {
  'GET /servers/:uuid/bindings': [
    { path: '/servers/:serverId/bindings' },
    { path: '/servers/:serverId/bindings', state: 'viewer', who: 'viewer' },
    { path: '/servers/:longServerId/bindings', state: 'hostile' },
    { path: '/servers/:emptyServerId/bindings', state: 'empty' },
    { path: '/servers/:serverId/bindings?source=missing', state: 'none' },
    {
      path: '/servers/:serverId/bindings',
      state: 'refused',
      status: 400,
      act: async page => {
        await page.getByRole('checkbox', { name: 'base' }).first().check()
        await page.getByRole('checkbox', { name: 'limit' }).first().check()
        await page.getByLabel('New source').selectOption('fixed')
        await page.getByLabel('Fixed value', { exact: true }).fill(HOSTILE_NAME.replaceAll(/[{}]/g, ''))
        await page.getByRole('button', { name: 'Apply to selection' }).click()
        await page.getByText('Nothing was changed').waitFor()
      },
    },
  ],
}

const globals: Pages = {
  'GET /servers/:uuid/globals': [
    { path: '/servers/:serverId/globals' },
    { path: '/servers/:serverId/globals', state: 'viewer', who: 'viewer' },
    { path: '/servers/:emptyServerId/globals', state: 'empty' },
    {
      path: '/servers/:serverId/globals',
      state: 'refused',
      status: 400,
      act: async page => {
        await page.getByLabel('Key').fill(HOSTILE_NAME)
        await page.getByLabel('Value', { exact: true }).fill(HOSTILE_NAME)
        await page.getByRole('button', { name: 'Add global' }).click()
        await page.getByText('must start with a letter or _').waitFor()
      },
    },
  ],
  'GET /servers/:uuid/globals/:key': [
    { path: '/servers/:serverId/globals/carrier_url' },
    { path: '/servers/:serverId/globals/carrier_token', state: 'secret' },
    { path: '/servers/:serverId/globals/carrier_url', state: 'viewer', who: 'viewer' },
  ],
  'GET /servers/:uuid/globals/:key/remove': [{ path: '/servers/:serverId/globals/carrier_token/remove' }],
}

/** Pages of a server's Tools, Sources, Bindings and Globals tabs. */
export const serverTabPages: readonly Pages[] = [tools, sources, upstreams, upstreamStatePages, bindings, globals]
