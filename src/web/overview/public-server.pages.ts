import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { pageNumber, pagerOf } from '../../lib/http/pages/pager.ts'
import { FOR_PERSON } from '../../lib/http/reader.ts'
import { serverParams } from '../../lib/http/schemas.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { formatCount, shorten } from '../../lib/kernel/format.ts'
import { serverUrl } from '../../lib/kernel/server-url.ts'
import { type Suspensions, suspensionOfServer } from '../../lib/kernel/suspensions.ts'
import type { InProcessClient } from '../../mcp/in-process-client.ts'
import { checkUserAccess, policyOf } from '../../servers/access/access.ts'
import type { Server } from '../../servers/server.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import { serverTabPath } from '../frame/server-frame.ts'
import { serverIdOf } from '../frame/server-tab.ts'
import { toConnectPanel } from './connect.ts'

const Query = z.object({ page: pageNumber })

const TOOLS_SHOWN = 100
/** Maximum length of a tool description. Descriptions are written for models and can be long. */
const MAX_DESCRIPTION_CHARACTERS = 600

/** Explanations of the tiers for people who open the server's URL in a browser. */
const TIER_WORDS: Readonly<Record<Server['access'], string>> = {
  public: 'This server is public: anyone can use it without signing in.',
  organization: 'This server is for members of its organization.',
  private:
    'This server is private: only its owner, the users they allow and the admins of its organization can use it.',
}

const HOW_TO_GET_IN: Readonly<Record<Server['access'], string>> = {
  public: '',
  organization: 'To get access, ask the person who gave you the address for an invitation to the organization.',
  private:
    'To get access, ask the person who gave you the address to add your account’s email to this server’s allowed users.',
}

export type PublicServerParts = {
  servers: ServerService
  inspectorClient: InProcessClient
  suspensions: Suspensions
  baseUrl: string
}

/**
 * Registers `GET /s/:uuid` for browsers: the server's tools and how to connect, or a notice for users without access.
 */
export const publicServerPages: FastifyPluginAsync<PublicServerParts> = async (
  app,
  { servers, inspectorClient: client, suspensions, baseUrl },
) => {
  const userOf = ({ actor }: FastifyRequest) => (actor?.scopes.has('mcp') ? actor : undefined)

  const listTools = async (request: FastifyRequest, serverId: string) => {
    const connection = await client.connect(serverId, userOf(request))
    const { page } = Query.parse(request.query)
    const total = connection.toolCount
    const current = Math.min(page, Math.max(1, Math.ceil(total / TOOLS_SHOWN)))
    const shown = (await connection.listTools(current * TOOLS_SHOWN)).slice(
      (current - 1) * TOOLS_SHOWN,
      current * TOOLS_SHOWN,
    )
    const counts = { page: current, perPage: TOOLS_SHOWN, total, shown: shown.length }
    return {
      count: formatCount(total, 'tool'),
      tools: shown.map(({ name, title, description }) => ({
        name,
        title,
        description: description && shorten(description, MAX_DESCRIPTION_CHARACTERS),
      })),
      pager: pagerOf(counts, { path: `/s/${serverId}`, query: {} }),
    }
  }

  app.get(
    '/s/:uuid',
    {
      constraints: FOR_PERSON,
      exposeHeadRoute: false,
      config: { access: 'anyone' },
      schema: { params: serverParams },
    },
    async (request, reply) => {
      reply.header('vary', 'Accept')
      const { actor } = request
      const server = await servers.findServerOfAnybody(serverIdOf(request).toLowerCase())
      if (server === undefined) throw new AppError('not_found', 'There is no server at this address.')
      const url = serverUrl(baseUrl, server.id)
      const tier = server.access
      if (!checkUserAccess(policyOf(server), userOf(request)).ok) {
        const signInHref = `/sign-in?${new URLSearchParams({ return_to: `/s/${server.id}` })}`
        // Members of the organization can ask for access there.
        const askHref = actor?.memberships.has(server.organizationId) ? serverTabPath(server.id, 'overview') : undefined
        const who = { isSignedIn: actor !== undefined, email: actor?.email, signInHref, askHref }
        const data = { title: 'MCP server', tier, url, who, about: TIER_WORDS[tier], how: HOW_TO_GET_IN[tier] }
        return reply.page('overview/closed-server', { ...data, width: 'narrow' }, { status: 403 })
      }
      const { id, name, description } = server
      return reply.page('overview/public-server', {
        title: name,
        server: { name, description, tier, about: TIER_WORDS[tier] },
        url,
        suspension: suspensionOfServer(suspensions, { serverId: id, organizationId: server.organizationId }),
        connect: toConnectPanel({ id, name, tier, url }),
        ...(await listTools(request, id)),
        dashboardHref: actor?.memberships.has(server.organizationId) ? serverTabPath(id, 'overview') : undefined,
      })
    },
  )
}
