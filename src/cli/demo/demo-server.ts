import { type Actor, MAX_PAGE_SIZE } from '../kernel/index.ts'
import type { IdPage } from '../platform/http/index.ts'
import type { Services } from '../services.ts'

const SERVER_NAME = 'Patchbay demo'

/** Looks through a list, page by page, until it finds one. */
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

type Home = { actor: Actor; organizationId: string | undefined }

const ensureToolkit = async ({ toolkits, sample }: Services, { actor, organizationId }: Home) =>
  (await findIn(
    page => toolkits.listToolkits(actor, page),
    ({ title }) => title === sample.title,
  )) ??
  toolkits.createToolkit(actor, {
    title: sample.title,
    description: 'A currency table, an address book and an echo, answered inside Patchbay.',
    visibility: 'public',
    organizationId,
  })

const ensureServer = async ({ servers }: Services, { actor, organizationId }: Home) =>
  (await findIn(
    page => servers.listServers(actor, page),
    ({ name }) => name === SERVER_NAME,
  )) ??
  servers.createServer(actor, {
    name: SERVER_NAME,
    description: 'Tools of the sample API, for the first minute.',
    access: 'public',
    presentation: 'flat',
    allowedUsers: [],
    organizationId,
  })

/** The id of the demo's server. What of it is there, from a run before or one cut short, stays; the rest is made. */
export const ensureDemoServer = async (services: Services): Promise<string> => {
  const { accounts, tools, instances, sample } = services
  const actor = await accounts.getDemoActor()
  const [organizationId] = actor.memberships.keys()
  const toolkit = await ensureToolkit(services, { actor, organizationId })
  const server = await ensureServer(services, { actor, organizationId })
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
  return server.id
}
