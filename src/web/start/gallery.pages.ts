import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Actor, mayRole } from '../kernel/index.ts'
import {
  actorOf,
  addressOf,
  type FormPage,
  formatCount,
  formatNumber,
  formText,
  idPageOf,
  listQuery,
  parseForm,
  parseInput,
  showForm,
  submitForm,
  timeText,
  toIdPage,
  uuidParam,
  uuidParams,
} from '../platform/http/index.ts'
import type { Server, ServerService, ToolkitUseService } from '../servers/index.ts'
import { TOOLS_PER_PAGE, type ToolkitCard, type ToolkitCatalogue, toToolPage, toToolRow } from '../toolkits/index.ts'

/** What the gallery asks of accounts: the names of one's organizations. */
type Accounts = {
  getMe: (actor: Actor) => Promise<{ organizations: readonly { id: string; name: string }[] }>
}

type Parts = {
  toolkitCatalogue: ToolkitCatalogue
  servers: ServerService
  toolkitUses: ToolkitUseService
  accounts: Accounts
}

const config = { access: 'user' } as const
const schema = { params: uuidParams }
const CARDS_PER_PAGE = 60
/** Servers to choose from; who has more adds the toolkit on the server's own page. */
const MAX_SERVERS_OFFERED = 500

const Query = listQuery.extend({ after: formText, used: formText })
const UseForm = { serverId: formText }
const UseInput = z.object({ serverId: uuidParam })

const toCard = ({ id, title, description, organizationName, tools }: ToolkitCard) => ({
  href: `/gallery/${id}`,
  title,
  description,
  organizationName,
  tools: formatNumber(tools),
})

const mayBuildIn =
  ({ memberships }: Actor) =>
  ({ organizationId }: Server): boolean => {
    const role = memberships.get(organizationId)
    return role !== undefined && mayRole(role, 'build')
  }

/** The public toolkits of all organizations, and what puts one to use in a server of one's own. */
export const galleryPages =
  ({ toolkitCatalogue, servers, toolkitUses, accounts }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    app.get('/gallery', { config }, async (request, reply) => {
      const { q, cursor } = Query.parse(request.query)
      const page = idPageOf({ limit: CARDS_PER_PAGE, cursor })
      const { items, nextCursor } = toIdPage(await toolkitCatalogue.listPublic(q, page), page, toCard)
      return reply.page('dashboard/gallery', {
        title: 'Gallery',
        section: 'toolkits',
        toolkits: items,
        search: q,
        isSearched: q !== '' || cursor !== undefined,
        next: nextCursor === null ? undefined : addressOf('/gallery', { q, cursor: nextCursor }),
      })
    })

    /** As options, with their organizations where there are several. */
    const listOwnServers = async (actor: Actor): Promise<{ value: string; text: string }[]> => {
      const page = { limit: MAX_SERVERS_OFFERED, afterId: undefined }
      const own = (await servers.listServers(actor, page)).filter(mayBuildIn(actor))
      if (actor.memberships.size <= 1) return own.map(({ id, name }) => ({ value: id, text: name }))
      const { organizations } = await accounts.getMe(actor)
      const names = new Map(organizations.map(({ id, name }) => [id, name]))
      return own.map(({ id, name, organizationId }) => ({
        value: id,
        text: `${name}, ${names.get(organizationId) ?? ''}`,
      }))
    }

    const toolkitPage = async (request: FastifyRequest, typedServerId = ''): Promise<FormPage> => {
      const actor = actorOf(request)
      const { id } = uuidParams.parse(request.params)
      const { q, after, used } = Query.parse(request.query)
      const toolkit = await toolkitCatalogue.getPublic(id)
      const page = { limit: TOOLS_PER_PAGE, after: after === '' ? undefined : after }
      const shown = toToolPage(await toolkitCatalogue.listPublicTools(id, q, page), ({ name }) => name)
      const own = await listOwnServers(actor)
      const path = `/gallery/${id}`
      return {
        view: 'dashboard/gallery-toolkit',
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
            changed: timeText(toolkit.updatedAt),
            changedAt: toolkit.updatedAt.toISOString(),
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

    app.get('/gallery/:id', { config, schema }, async (request, reply) => showForm(reply, await toolkitPage(request)))

    app.post('/gallery/:id/use', { config, schema }, async (request, reply) => {
      const typed = parseForm(UseForm, request.body)
      return submitForm(reply, await toolkitPage(request, typed.serverId), async () => {
        const { id } = uuidParams.parse(request.params)
        const { serverId } = parseInput(UseInput, typed)
        await toolkitUses.useToolkit(actorOf(request), serverId, id)
        return reply.redirect(addressOf(`/gallery/${id}`, { used: serverId }), 303)
      })
    })
  }
