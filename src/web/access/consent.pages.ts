import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Client } from 'oidc-provider'
import { z } from 'zod'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { MCP_SCOPES, type McpScope } from '../../lib/kernel/mcp-scopes.ts'
import { toParameters } from '../../oauth/authorization-request.ts'
import { formTargetOf } from '../../oauth/clients/redirects.ts'
import { cleanName } from '../../oauth/clients/registration.ts'
import type { Engine } from '../../oauth/engine.ts'
import type { LoadEngine } from '../../oauth/forward-to-library.ts'
import { type Consents, mayUseServer } from '../../oauth/grants/consents.ts'
import { AUTHORIZE_PATH, INTERACTION_PATH } from '../../oauth/paths.ts'
import type { ResourceServer } from '../../oauth/resource-servers.store.ts'
import type { Resources } from '../../oauth/resources.ts'
import { toConsentView } from './consent.view.ts'

export type ConsentPageParts = {
  loadEngine: LoadEngine
  resources: Resources
  consents: Consents
  findResourceServer: (id: string) => Promise<ResourceServer | undefined>
  browserUserOf: (request: FastifyRequest) => Actor | undefined
}

type Interaction = NonNullable<Awaited<ReturnType<Engine['findInteraction']>>>

const ANYONE = { access: 'anyone' } as const
const Params = z.object({ uid: z.string() })
/** Anything but "yes" counts as "no". */
const Answer = z.object({ answer: z.enum(['yes', 'no']).catch('no') }).catch({ answer: 'no' })

/** The parameters of the authorization request, already validated by the OAuth library. */
const Request = z.object({ client_id: z.string(), redirect_uri: z.string(), resource: z.string(), scope: z.string() })
type Request = z.infer<typeof Request>

const DENIED = { error: 'access_denied', error_description: 'the user refused' }
const NO_ACCESS = { error: 'access_denied', error_description: 'the user may not use this server' }

const scopesOf = ({ scope }: Request): McpScope[] => {
  const named = scope.split(' ')
  return MCP_SCOPES.filter(known => named.includes(known))
}

/** Returns the client's name for the audit log, cleaned because a metadata document may contain any text. */
const nameOf = ({ clientName = '', clientId }: Client): string => cleanName(clientName) || clientId

const over = () =>
  new AppError('invalid_request', 'This connection request has expired. Start again from the application.')

/** Registers the page that asks whether an application may use a server, and handles the decision. */
export const consentPages: FastifyPluginAsync<ConsentPageParts> = async (
  app,
  { loadEngine, resources, consents, findResourceServer, browserUserOf },
) => {
  const getInteraction = async ({ raw, params }: FastifyRequest, reply: FastifyReply): Promise<Interaction> => {
    const { findInteraction } = await loadEngine()
    const interaction = await findInteraction(raw, reply.raw)
    // The library checks only the cookie, which may belong to the interaction of another page.
    if (interaction?.uid === Params.parse(params).uid) return interaction
    throw over()
  }

  /** Restarts the authorization because the signed-in user has changed in the meantime. */
  const restart = (reply: FastifyReply, { params }: Interaction): FastifyReply =>
    reply.redirect(`${AUTHORIZE_PATH}?${toParameters(params)}`, 303)

  const finish = async (reply: FastifyReply, result: Parameters<Engine['finishInteraction']>[2]) => {
    const { finishInteraction } = await loadEngine()
    return reply.redirect(await finishInteraction(reply.request.raw, reply.raw, result), 303)
  }

  const readRequest = async (params: unknown) => {
    const request = Request.parse(params)
    const { findClient } = await loadEngine()
    const client = await findClient(request.client_id)
    const serverId = resources.findServerId(request.resource)
    const server = serverId === undefined ? undefined : await findResourceServer(serverId)
    if (client === undefined || server === undefined) throw over()
    return { request, client, server }
  }

  const show = async (reply: FastifyReply, actor: Actor, interaction: Interaction): Promise<FastifyReply> => {
    const { request, client, server } = await readRequest(interaction.params)
    const view = toConsentView({
      action: `${INTERACTION_PATH}/${interaction.uid}`,
      returnTo: `${AUTHORIZE_PATH}?${toParameters(interaction.params)}`,
      client,
      redirectUri: request.redirect_uri,
      server: mayUseServer(actor, server) ? server : undefined,
      serverUrl: resources.urlOf(server.id),
      scopes: scopesOf(request),
      email: actor.email,
    })
    return reply.page('access/consent', view, { formTargets: [formTargetOf(request.redirect_uri)] })
  }

  const agree = async (actor: Actor, params: unknown) => {
    const { request, client, server } = await readRequest(params)
    const grantId = await consents.give(actor, {
      clientId: client.clientId,
      clientName: nameOf(client),
      serverId: server.id,
      scopes: scopesOf(request),
    })
    return grantId === undefined ? NO_ACCESS : { consent: { grantId } }
  }

  app.get(`${INTERACTION_PATH}/:uid`, { config: ANYONE, exposeHeadRoute: false }, async (request, reply) => {
    const interaction = await getInteraction(request, reply)
    const actor = browserUserOf(request)
    if (actor === undefined) return restart(reply, interaction)
    if (interaction.prompt.name === 'login') return finish(reply, { login: { accountId: actor.userId } })
    if (interaction.session?.accountId !== actor.userId) return restart(reply, interaction)
    return show(reply, actor, interaction)
  })

  app.post(`${INTERACTION_PATH}/:uid`, { config: ANYONE }, async (request, reply) => {
    const actor = browserUserOf(request)
    const interaction = await getInteraction(request, reply)
    if (actor === undefined || interaction.session?.accountId !== actor.userId) {
      throw new AppError('forbidden', 'This request was made for another user. Start again from the application.')
    }
    if (interaction.prompt.name !== 'consent') throw over()
    const { answer } = Answer.parse(request.body)
    return finish(reply, answer === 'yes' ? await agree(actor, interaction.params) : DENIED)
  })
}
