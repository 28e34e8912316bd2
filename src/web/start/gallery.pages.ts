import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import { actorOf } from '../../lib/http/access.ts'
import { addressOf, listQuery } from '../../lib/http/list-query.ts'
import { type FormPage, formText, postForm, showForm } from '../../lib/http/pages/forms.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { type Actor, may } from '../../lib/kernel/actor.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import type { ToolkitUseService } from '../../servers/sources/toolkit-uses.service.ts'
import type { ToolkitCatalogue } from '../../tools/sharing/catalogue.service.ts'
import type { ToolkitCard } from '../../tools/tool.ts'
import { idOf, idRoute, readList, userRoute } from '../frame/user-page.ts'
import { TOOLS_PER_PAGE, toToolPage, toToolRow } from '../toolkits/tool-row.ts'

type Parts = {
  toolkitCatalogue: ToolkitCatalogue
  servers: ServerService
  toolkitUses: ToolkitUseService
  accounts: Pick<AccountService, 'getMe'>
}

const CARDS_PER_PAGE = 60
/** Maximum servers offered in the form. For any other server, users add the toolkit on that server's page. */
const MAX_SERVERS_OFFERED = 500

const Query = listQuery.extend({ after: formText, used: formText })
const UseInput = z.object({ serverId: uuidParam })

const toCard = ({ id, title, description, organizationName, tools }: ToolkitCard) => ({
  href: `/gallery/${id}`,
  title,
  description,
  organizationName,
  tools: formatNumber(tools),
})

/** Registers the gallery: the public toolkits of all organizations, and the form that adds one to a server. */
export const galleryPages: FastifyPluginAsync<Parts> = async (
  app,
  { toolkitCatalogue, servers, toolkitUses, accounts },
) => {
  app.get('/gallery', userRoute, async (request, reply) => {
    const { q, cursor } = Query.parse(request.query)
    const place = { path: '/gallery', cursor, query: { q }, limit: CARDS_PER_PAGE }
    const { items, next } = await readList(place, page => toolkitCatalogue.listPublic(q, page), toCard)
    return reply.page('start/gallery', {
      title: 'Gallery',
      section: 'toolkits',
      toolkits: items,
      search: q,
      isSearched: q !== '' || cursor !== undefined,
      next,
    })
  })

  /**
   * Returns the servers on which the user may build, as options. The options include organization names if the user has
   * several organizations.
   */
  const listOwnServers = async (actor: Actor): Promise<{ value: string; text: string }[]> => {
    const page = { limit: MAX_SERVERS_OFFERED, afterId: undefined }
    const own = (await servers.listServers(actor, page)).filter(({ organizationId }) =>
      may(actor, organizationId, 'build'),
    )
    if (actor.memberships.size <= 1) return own.map(({ id, name }) => ({ value: id, text: name }))
    const { organizations } = await accounts.getMe(actor)
    const names = new Map(organizations.map(({ id, name }) => [id, name]))
    return own.map(({ id, name, organizationId }) => ({
      value: id,
      text: `${name}, ${names.get(organizationId) ?? ''}`,
    }))
  }

  const getToolkit = (request: FastifyRequest): Promise<ToolkitCard> => toolkitCatalogue.getPublic(idOf(request))

  const toolkitPage = async (request: FastifyRequest, toolkit: ToolkitCard, typedServerId = ''): Promise<FormPage> => {
    const actor = actorOf(request)
    const { id } = toolkit
    const { q, after, used } = Query.parse(request.query)
    const page = { limit: TOOLS_PER_PAGE, after: after === '' ? undefined : after }
    const shown = toToolPage(await toolkitCatalogue.listPublicTools(id, q, page), ({ name }) => name)
    const own = await listOwnServers(actor)
    const path = `/gallery/${id}`
    return {
      view: 'start/gallery-toolkit',
      data: {
        title: toolkit.title,
        section: 'toolkits',
        path,
        toolkit: {
          title: toolkit.title,
          description: toolkit.description,
          organizationName: toolkit.organizationName,
          tools: formatCount(toolkit.tools, 'tool'),
          toolCount: toolkit.tools,
          changed: shownTime(toolkit.updatedAt),
          ownHref: actor.memberships.has(toolkit.organizationId) ? `/toolkits/${id}` : undefined,
        },
        tools: shown.items.map(tool => toToolRow(tool)),
        search: q,
        next: shown.after && addressOf(path, { q, after: shown.after }),
        servers: own,
        typedServerId,
        used: own.find(({ value }) => value === used),
      },
      labels: { serverId: 'server' },
    }
  }

  app.get('/gallery/:id', idRoute, async (request, reply) =>
    showForm(reply, await toolkitPage(request, await getToolkit(request))),
  )

  postForm(app, '/gallery/:id/use', {
    ...idRoute,
    fields: { serverId: formText },
    load: getToolkit,
    page: (request, toolkit, typed) => toolkitPage(request, toolkit, typed?.serverId),
    save: async (request, { id }, typed) => {
      const { serverId } = parseInput(UseInput, typed)
      await toolkitUses.useToolkit(actorOf(request), serverId, id)
      return addressOf(`/gallery/${id}`, { used: serverId })
    },
  })
}
