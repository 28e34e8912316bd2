import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AppError, organizationIdsOf, serverUrl } from '../kernel/index.ts'
import type { InProcessClient } from '../mcp/index.ts'
import { addressOf, FOR_PERSON, formatCount, uuidParam } from '../platform/http/index.ts'
import { checkUserAccess, policyOf, type Server, type ServerService, serverTabPath } from '../servers/index.ts'
import { toConnectPanel } from './connect.ts'

const Params = z.object({ uuid: uuidParam })
const Query = z.object({ page: z.coerce.number().int().min(1).catch(1) })

const TOOLS_SHOWN = 100
/** Of a description, which is written for models and may be long. */
const MAX_DESCRIPTION_CHARACTERS = 600

const shorten = (text: string): string =>
  text.length <= MAX_DESCRIPTION_CHARACTERS ? text : `${text.slice(0, MAX_DESCRIPTION_CHARACTERS - 1).toWellFormed()}…`

/** What its tier says to people who came by its address. */
const TIER_WORDS: Readonly<Record<Server['access'], string>> = {
  public: 'It is public: anyone may use it, without signing in.',
  organization: 'It is for the members of its organization.',
  private: 'It is private: for its owner, and whom the owner lets in.',
}

const HOW_TO_GET_IN: Readonly<Record<Server['access'], string>> = {
  public: '',
  organization: 'Ask whoever gave you the address for an invitation to the organization.',
  private: 'Ask whoever gave you the address to let you in, by the e-mail address of your account here.',
}

export type PublicServerParts = { servers: ServerService; client: InProcessClient; baseUrl: string }

/** `GET /s/:uuid` in a browser: what the server is and how to connect, for who may use it; for others that it is there. */
export const publicServerPages =
  ({ servers, client, baseUrl }: PublicServerParts) =>
  async (app: FastifyInstance): Promise<void> => {
    const userOf = ({ actor }: FastifyRequest) =>
      actor?.scopes.has('mcp')
        ? { userId: actor.userId, organizationIds: new Set(organizationIdsOf(actor)) }
        : undefined

    const listTools = async (request: FastifyRequest, serverId: string) => {
      const connection = await client.connect(serverId, userOf(request))
      const { page } = Query.parse(request.query)
      const pages = Math.max(1, Math.ceil(connection.toolCount / TOOLS_SHOWN))
      const current = Math.min(page, pages)
      const tools = await connection.listTools(current * TOOLS_SHOWN)
      const to = (wanted: number) => addressOf(`/s/${serverId}`, { page: wanted === 1 ? undefined : String(wanted) })
      return {
        count: formatCount(connection.toolCount, 'tool'),
        tools: tools
          .slice((current - 1) * TOOLS_SHOWN, current * TOOLS_SHOWN)
          .map(({ name, title, description }) => ({ name, title, description: description && shorten(description) })),
        pager:
          pages === 1
            ? undefined
            : {
                text: `Page ${current} of ${pages}`,
                previous: current > 1 ? to(current - 1) : undefined,
                next: current < pages ? to(current + 1) : undefined,
              },
      }
    }

    app.get(
      '/s/:uuid',
      {
        constraints: FOR_PERSON,
        exposeHeadRoute: false,
        config: { access: 'anyone' },
        schema: { params: Params },
      },
      async (request, reply) => {
        reply.header('vary', 'Accept')
        const { actor } = request
        const server = await servers.findServerOfAnybody(Params.parse(request.params).uuid.toLowerCase())
        if (server === undefined) throw new AppError('not_found', 'There is no server at this address.')
        const url = serverUrl(baseUrl, server.id)
        const tier = server.access
        if (!checkUserAccess(policyOf(server), userOf(request)).ok) {
          const signInHref = `/sign-in?${new URLSearchParams({ return_to: `/s/${server.id}` })}`
          const who = { isSignedIn: actor !== undefined, email: actor?.email, signInHref }
          const data = { title: 'An MCP server', tier, url, who, about: TIER_WORDS[tier], how: HOW_TO_GET_IN[tier] }
          return reply.page('dashboard/closed-server', { ...data, width: 'narrow' }, { status: 403 })
        }
        const { id, name, description } = server
        return reply.page('dashboard/public-server', {
          title: name,
          server: { name, description, tier, about: TIER_WORDS[tier] },
          url,
          connect: toConnectPanel({ id, name, tier, url }),
          ...(await listTools(request, id)),
          dashboardHref: actor?.memberships.has(server.organizationId) ? serverTabPath(id, 'overview') : undefined,
        })
      },
    )
  }
