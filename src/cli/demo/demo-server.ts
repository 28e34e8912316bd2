import type { IdPage } from '../../lib/http/id-paging.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { MAX_PAGE_SIZE } from '../../lib/kernel/limits.ts'
import type { AccessTier, Server } from '../../servers/server.ts'
import type { Services } from '../../services.ts'
import type { Toolkit } from '../../tools/tool.ts'

const SERVER_NAME = 'Patchbay demo'

/** Returns the first wanted item of a list, reading page by page. */
const findIn = async <T extends { id: string }>(
  list: (page: IdPage) => Promise<readonly T[]>,
  isWanted: (item: T) => boolean,
): Promise<T | undefined> => {
  for (let afterId: string | undefined; ; ) {
    const items = await list({ limit: MAX_PAGE_SIZE, afterId })
    const found = items.find(isWanted)
    if (found !== undefined || items.length <= MAX_PAGE_SIZE) return found
    afterId = items.at(-1)?.id
  }
}

const createDemoServer = async (
  { servers, samples }: Services,
  actor: Actor,
  { id: toolkitId, organizationId }: Toolkit,
): Promise<Server> => {
  const server = await servers.createServer(actor, {
    name: SERVER_NAME,
    description: 'Sample API tools to try out.',
    access: 'public',
    presentation: 'flat',
    allowedUsers: [],
    organizationId,
  })
  await samples.noteSample(actor, server.id, toolkitId)
  return server
}

/** The demo's server. Until somebody signs up, its owner is the demo account. */
export type DemoServer = { id: string; access: AccessTier; owner: Actor }

/**
 * Returns the demo's server. Creates what is missing, so an interrupted run can be repeated. A new server is public; it
 * becomes private when the first account takes it over.
 */
export const ensureDemoServer = async (services: Services): Promise<DemoServer> => {
  const { accounts, toolkits, tools, servers, instances, sample } = services
  const actor = await accounts.getDemoActor()
  const [organizationId] = actor.memberships.keys()
  const toolkit =
    (await findIn(
      page => toolkits.listToolkits(actor, page),
      ({ title }) => title === sample.title,
    )) ??
    (await toolkits.createToolkit(actor, {
      title: sample.title,
      description: 'A currency table, an address book and an echo, served by Patchbay itself.',
      visibility: 'public',
      organizationId,
    }))
  const server =
    (await findIn(
      page => servers.listServers(actor, page),
      ({ name }) => name === SERVER_NAME,
    )) ?? (await createDemoServer(services, actor, toolkit))
  const names = new Set((await instances.listAllInstances(actor, server.id)).map(({ name }) => name))
  for (const definition of sample.tools.filter(({ name }) => !names.has(name))) {
    const { name } = definition
    const tool =
      (await findIn(
        page => tools.listTools(actor, toolkit.id, page),
        existing => existing.name === name,
      )) ?? (await tools.createTool(actor, toolkit.id, definition))
    await instances.createInstance(actor, server.id, { toolId: tool.id, name, bindings: {} })
  }
  return { id: server.id, access: server.access, owner: actor }
}
