import { type HostedServer, instanceOf, type Send } from './patchbay.ts'

export type PageToMeasure = { title: string; path: string; isLarge?: boolean }

const TABS = ['', '/tools', '/sources', '/bindings', '/globals', '/inspector', '/access', '/history', '/settings']

/** Calls that the history of each server shows. */
const CALLS = 60

/** Fills the history of a server. */
export const callTools = async (send: Send, { instances }: HostedServer): Promise<void> => {
  const [instance] = instances.values()
  if (instance === undefined) throw new Error('the server has no tools')
  for (let call = 0; call < CALLS; call++) {
    await send('POST', `/instances/${instance.id}/call`, { arguments: { id: `u${call}` } })
  }
}

/** Returns the pages of a server, its first tool and its toolkit. */
const pagesOfServer = ({ uuid, toolkitId, instances }: HostedServer, isLarge: boolean): PageToMeasure[] => {
  const size = isLarge ? `, ${instances.size} tools` : ''
  const [instance] = instances.values()
  return [
    ...TABS.map(tab => ({ title: `server${tab}${size}`, path: `/servers/${uuid}${tab}`, isLarge })),
    { title: `server/tools/tool${size}`, path: `/servers/${uuid}/tools/${instance?.id}`, isLarge },
    { title: `server/tools/new${size}`, path: `/servers/${uuid}/tools/new`, isLarge },
    { title: `toolkit${size}`, path: `/toolkits/${toolkitId}`, isLarge },
    { title: `tool${size}`, path: `/tools/${instance?.toolId}`, isLarge },
  ]
}

/** Returns the pages to open, which exist for the owner of these servers. */
export const listPages = (server: HostedServer, large: HostedServer): PageToMeasure[] => [
  { title: 'servers', path: '/servers' },
  ...pagesOfServer(server, false),
  { title: 'tool, response', path: `/tools/${instanceOf(server, 'get_user').toolId}?tab=response` },
  { title: 'new tool', path: '/toolkits/new-tool' },
  { title: 'toolkits', path: '/toolkits' },
  { title: 'organizations', path: '/organizations' },
  { title: 'account', path: '/account' },
  { title: 'operator', path: '/operator' },
  { title: 'search', path: '/search?q=user' },
  ...pagesOfServer(large, true),
]
