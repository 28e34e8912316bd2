import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { listQuery } from '../../lib/http/list-query.ts'
import { formText } from '../../lib/http/pages/forms.ts'
import type { Page } from '../../lib/http/paging.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { formTargetOf } from '../../oauth/clients/redirects.ts'
import { mayUseServer } from '../../oauth/grants/consents.ts'
import { ANSWER_PARAMETER, AUTHORIZE_PATH } from '../../oauth/paths.ts'
import type { AuthorizationOutcome } from '../../oauth/pending-authorizations.ts'
import type { ResourceServer, UsableQuery, UsableServer } from '../../oauth/resource-servers.store.ts'
import type { Resources } from '../../oauth/resources.ts'
import { toServerChoiceView } from './server-choice.view.ts'

export type ServerChoiceParts = {
  resources: Resources
  findResourceServer: (id: string) => Promise<ResourceServer | undefined>
  listUsableServers: (actor: Actor, query: UsableQuery) => Promise<Page<UsableServer>>
}

/** Servers per page of the list. */
const PAGE_SIZE = 20

/** What the page's forms add to the authorization request. */
const ChoiceQuery = listQuery.extend({ server: formText, [ANSWER_PARAMETER]: formText })

const Id = z.uuid()
const toId = (text: string): string | undefined => Id.safeParse(text).data?.toLowerCase()

/** Why a choice is refused. The same for a server that does not exist and one that the user may not use. */
const NOTHING_CHOSEN = { status: 400, text: 'Choose a server.' }
const NOT_USABLE = { status: 404, text: 'There is no such server, or you may not use it. Choose another one.' }

/**
 * Returns a function that asks the user which server a client may use that sent no resource. The page's forms lead back
 * to the authorization endpoint, which checks the client's request again. A chosen server becomes the resource of the
 * request, so that the grant, the code and all tokens are for that server.
 */
export const createServerChoice = ({ resources, findResourceServer, listUsableServers }: ServerChoiceParts) => {
  const isUsable = async (actor: Actor, id: string): Promise<boolean> => {
    const server = await findResourceServer(id)
    return server !== undefined && mayUseServer(actor, server)
  }

  return async (
    { query }: Pick<FastifyRequest, 'query'>,
    reply: FastifyReply,
    actor: Actor,
    { parameters, client }: Extract<AuthorizationOutcome, { kind: 'choose_server' }>,
  ): Promise<FastifyReply> => {
    const { q: search, cursor, server, [ANSWER_PARAMETER]: answer } = ChoiceQuery.parse(query)
    const chosen = toId(server)
    if (chosen !== undefined && (await isUsable(actor, chosen))) {
      parameters.set('resource', resources.urlOf(chosen))
      return reply.redirect(`${AUTHORIZE_PATH}?${parameters}`, 303)
    }
    const refusal = server === '' ? NOTHING_CHOSEN : NOT_USABLE
    const { status, text: error } = answer === '' ? { status: 200, text: undefined } : refusal
    const redirectUri = parameters.get('redirect_uri') ?? ''
    const id = resources.findServerId(search) ?? toId(search)
    const view = toServerChoiceView({
      parameters: Object.fromEntries(parameters),
      client,
      redirectUri,
      email: actor.email,
      search,
      servers: await listUsableServers(actor, { search, id, cursor, limit: PAGE_SIZE }),
      urlOf: resources.urlOf,
      error,
    })
    return reply.page('access/server-choice', view, { status, formTargets: [formTargetOf(redirectUri)] })
  }
}
