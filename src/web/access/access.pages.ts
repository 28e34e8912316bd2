import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import type { IdPage } from '../../lib/http/id-paging.ts'
import { listQuery } from '../../lib/http/list-query.ts'
import { type FormPage, formText, postForm, showForm } from '../../lib/http/pages/forms.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { type Actor, assertMay } from '../../lib/kernel/actor.ts'
import { MAX_PAGE_SIZE } from '../../lib/kernel/limits.ts'
import { CreateOAuthClient } from '../../oauth/clients/oauth-clients.schema.ts'
import type { OAuthClientService } from '../../oauth/clients/oauth-clients.service.ts'
import { MAX_REDIRECTS } from '../../oauth/clients/registration.ts'
import type { GrantService } from '../../oauth/grants/grants.service.ts'
import type { AccessRequestService } from '../../servers/access/access-requests.service.ts'
import { createPublicReach } from '../../servers/access/public-reach.ts'
import { ACCESS_TIERS } from '../../servers/server.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import type { UpstreamReviews } from '../../upstreams/review/upstream-reviews.ts'
import { linesOf } from '../frame/lines-of.ts'
import { removalPage } from '../frame/removal-page.ts'
import { getServerFrame, type ServerFrame, type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { donePath, serverIdOf, serverRoute } from '../frame/server-tab.ts'
import { doneText, readList } from '../frame/user-page.ts'
import { AUTH_OPTIONS, listTiers, toClientView, toGrantRow, type Viewer } from './access.view.ts'
import { PUBLIC_STEP_VIEW, PublicStepForm, toPublicStep } from './public-step.ts'

const ItemParams = z.object({ uuid: uuidParam, id: uuidParam })
const itemRoute = { ...serverRoute, schema: { params: ItemParams } }
const PATH = '/servers/:uuid/access'

const TierForm = { access: formText, ...PublicStepForm }
const TierInput = z.object({ access: z.enum(ACCESS_TIERS, 'must be public, organization or private') })
const PersonForm = { email: formText }
const PersonInput = z.object({ email: z.string().trim().min(1, 'is empty').max(254, 'must not exceed 254 characters') })
const ClientForm = { name: formText, redirectUris: formText, tokenEndpointAuthMethod: formText }

/** The page's forms, with the name of each field as used in error messages. */
const LABELS: Readonly<Record<string, FormPage['labels']>> = {
  none: {},
  tier: { access: 'tier' },
  people: { email: 'email' },
  clients: {
    name: 'name',
    redirectUris: 'list of redirect URIs',
    tokenEndpointAuthMethod: 'type',
    ...Object.fromEntries(
      Array.from({ length: MAX_REDIRECTS }, (_, index) => [
        `redirectUris[${index}]`,
        `redirect URI in line ${index + 1}`,
      ]),
    ),
  },
}

const DONE = {
  tier: 'Tier changed. The change applies to all clients immediately.',
  allowed: 'User added. They can use the server now.',
  disallowed: 'User removed. They can no longer use the server.',
  declined: 'Request declined.',
  revoked: 'Access revoked. The client’s tokens no longer work.',
  'client-removed': 'OAuth client removed. It no longer has access to any server.',
}

export type AccessPagesParts = {
  frames: ServerFrameParts
  servers: ServerService
  accessRequests: AccessRequestService
  grants: GrantService
  oauthClients: OAuthClientService
  upstreamReviews: Pick<UpstreamReviews, 'listLiveSources'>
}

/**
 * Registers `/servers/:uuid/access`: who may use a server, the clients connected to it, and manually created OAuth
 * clients.
 */
export const accessPages: FastifyPluginAsync<AccessPagesParts> = async (
  app,
  { frames, servers, accessRequests, grants, oauthClients, upstreamReviews },
) => {
  const readPublicReach = createPublicReach({ db: frames.db, listLiveSources: upstreamReviews.listLiveSources })
  const itemOf = (request: FastifyRequest): string => ItemParams.parse(request.params).id
  const frameOf = (request: FastifyRequest): Promise<ServerFrame> =>
    getServerFrame(frames, actorOf(request), serverIdOf(request), 'access')

  const viewerOf = (actor: Actor, frame: ServerFrame): Viewer => ({
    userId: actor.userId,
    mayChangeAccess: frame.mayBuild && (frame.isOwner || frame.mayManage),
    mayBuild: frame.mayBuild,
    mayManage: frame.mayManage,
  })

  /** Loads the frame. Throws `forbidden` for users who may not change access, before their input is validated. */
  const frameForChange = async (request: FastifyRequest): Promise<ServerFrame> => {
    const frame = await frameOf(request)
    assertMay(actorOf(request), frame.organizationId, frame.isOwner ? 'build' : 'manage')
    return frame
  }

  const listGrants = async (actor: Actor, { id }: ServerFrame, viewer: Viewer, cursor: string | undefined) => {
    if (!viewer.mayBuild) return { items: [], next: undefined }
    const list = (page: IdPage) => grants.listServerGrants(actor, id, page)
    return readList({ path: serverTabPath(id, 'access'), cursor }, list, toGrantRow(viewer))
  }

  const listRequests = async (actor: Actor, { id }: ServerFrame, viewer: Viewer) => {
    if (!viewer.mayChangeAccess) return []
    const requests = await accessRequests.listRequests(actor, id, { limit: MAX_PAGE_SIZE, afterId: undefined })
    return requests.map(({ userId, email, createdAt }) => ({ userId, email, since: shownTime(createdAt) }))
  }

  const listClients = async (actor: Actor, frame: ServerFrame, viewer: Viewer) => {
    if (!viewer.mayManage) return []
    const page = { limit: MAX_PAGE_SIZE, afterId: undefined }
    return (await oauthClients.listClients(actor, frame.organizationId, page)).map(toClientView)
  }

  /** Builds the page. `form` names the submitted form, and `typed` contains its values. */
  const accessPage = async (
    request: FastifyRequest,
    frame: ServerFrame,
    form: keyof typeof LABELS = 'none',
    typed: Record<string, string> = {},
  ): Promise<FormPage> => {
    const actor = actorOf(request)
    const viewer = viewerOf(actor, frame)
    const { cursor } = listQuery.parse(request.query)
    const [connected, people, requests, clients] = await Promise.all([
      listGrants(actor, frame, viewer, cursor),
      viewer.mayBuild ? servers.listAllowedUsers(actor, frame.id) : [],
      listRequests(actor, frame, viewer),
      listClients(actor, frame, viewer),
    ])
    return {
      view: 'access/access',
      data: {
        title: `Access to ${frame.name}`,
        server: frame,
        path: serverTabPath(frame.id, 'access'),
        viewer,
        tiers: listTiers(frame, form === 'tier' ? typed.access : undefined),
        people,
        requests,
        grants: connected.items,
        next: connected.next,
        isFirst: cursor === undefined,
        clients,
        authOptions: AUTH_OPTIONS,
        form,
        typed,
        done: doneText(request, DONE),
      },
      labels: LABELS[form] ?? {},
    }
  }

  const doneAt = ({ id }: ServerFrame, done: string): string => donePath(serverTabPath(id, 'access'), done)

  app.get(PATH, serverRoute, async (request, reply) =>
    showForm(reply, await accessPage(request, await frameOf(request))),
  )

  postForm(app, `${PATH}/tier`, {
    ...serverRoute,
    fields: TierForm,
    load: frameForChange,
    page: (request, server, typed) => accessPage(request, server, 'tier', typed),
    save: async (request, server, { sure, step: button, ...typed }, reply) => {
      if (button === 'back') return serverTabPath(server.id, 'access')
      const { access } = parseInput(TierInput, typed)
      if (access === 'public' && server.tier !== 'public') {
        const pending = { server, action: `${serverTabPath(server.id, 'access')}/tier`, fields: typed, sure }
        const step = toPublicStep(pending, await readPublicReach(actorOf(request), server.id))
        if (step !== undefined) return reply.page(PUBLIC_STEP_VIEW, step)
      }
      await servers.updateServer(actorOf(request), server.id, { access })
      return doneAt(server, 'tier')
    },
  })

  postForm(app, `${PATH}/people`, {
    ...serverRoute,
    fields: PersonForm,
    load: frameForChange,
    page: (request, server, typed) => accessPage(request, server, 'people', typed),
    save: async (request, server, typed) => {
      await servers.allowUser(actorOf(request), server.id, parseInput(PersonInput, typed).email)
      return doneAt(server, 'allowed')
    },
  })

  // Open to members who cannot see this page.
  app.post(`${PATH}/requests`, serverRoute, async (request, reply) => {
    await accessRequests.requestAccess(actorOf(request), serverIdOf(request))
    return reply.redirect(donePath(serverTabPath(serverIdOf(request), 'overview'), 'asked'), 303)
  })

  app.post(`${PATH}/requests/:id/approval`, itemRoute, async (request, reply) => {
    await accessRequests.approveRequest(actorOf(request), serverIdOf(request), itemOf(request))
    return reply.redirect(donePath(serverTabPath(serverIdOf(request), 'access'), 'allowed'), 303)
  })

  app.post(`${PATH}/requests/:id/refusal`, itemRoute, async (request, reply) => {
    await accessRequests.declineRequest(actorOf(request), serverIdOf(request), itemOf(request))
    return reply.redirect(donePath(serverTabPath(serverIdOf(request), 'access'), 'declined'), 303)
  })

  app.post(`${PATH}/people/:id/removal`, itemRoute, async (request, reply) => {
    await servers.disallowUser(actorOf(request), serverIdOf(request), itemOf(request))
    return reply.redirect(donePath(serverTabPath(serverIdOf(request), 'access'), 'disallowed'), 303)
  })

  app.post(`${PATH}/grants/:id/removal`, itemRoute, async (request, reply) => {
    const server = await frameOf(request)
    await grants.removeGrant(actorOf(request), itemOf(request))
    return reply.redirect(doneAt(server, 'revoked'), 303)
  })

  postForm(app, `${PATH}/clients`, {
    ...serverRoute,
    fields: ClientForm,
    load: async request => {
      const server = await frameOf(request)
      assertMay(actorOf(request), server.organizationId, 'manage')
      return server
    },
    page: (request, server, typed) => accessPage(request, server, 'clients', typed),
    save: async (request, server, typed, reply) => {
      const input = parseInput(CreateOAuthClient, { ...typed, redirectUris: linesOf(typed.redirectUris) })
      const client = await oauthClients.createClient(actorOf(request), server.organizationId, input)
      // Do not redirect: the secret is shown only once and is not stored anywhere that another page could read it.
      const title = `${client.name} created`
      const back = serverTabPath(server.id, 'access')
      const { clientId, clientSecret, name } = client
      return reply.page('access/client-made', { title, server, back, clientId, clientSecret, name }, { status: 201 })
    },
  })

  removalPage(app, `${PATH}/clients/:id/removal`, {
    ...itemRoute,
    button: 'Remove client',
    load: async request => {
      const server = await frameOf(request)
      return { server, client: await oauthClients.getClient(actorOf(request), itemOf(request)) }
    },
    nameOf: ({ client }) => client.name,
    page: (_request, { server }) => ({
      server,
      text: 'The whole organization uses this client. It immediately loses access to every server, for every user, and its secret stops working.',
      back: serverTabPath(server.id, 'access'),
    }),
    remove: async (request, { server, client }) => {
      await oauthClients.removeClient(actorOf(request), client.id)
      return doneAt(server, 'client-removed')
    },
  })
}
