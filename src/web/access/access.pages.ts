import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Actor, assertMay, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../kernel/index.ts'
import {
  actorOf,
  addressOf,
  assertTypedName,
  type FormPage,
  formText,
  idPageOf,
  parseForm,
  parseInput,
  showForm,
  submitForm,
  toIdPage,
  uuidParam,
} from '../platform/http/index.ts'
import {
  ACCESS_TIERS,
  getServerFrame,
  type ServerFrame,
  type ServerFrameParts,
  type ServerService,
  serverTabPath,
} from '../servers/index.ts'
import { AUTH_OPTIONS, type Looker, listTiers, toClientView, toGrantRow } from './access.view.ts'
import type { GrantService } from './grants.service.ts'
import { CreateOAuthClient } from './oauth-clients.schema.ts'
import type { OAuthClientService } from './oauth-clients.service.ts'
import { MAX_REDIRECTS } from './registration.ts'

const config = { access: 'user' } as const
const Params = z.object({ uuid: uuidParam })
const ItemParams = Params.extend({ id: uuidParam })
const schema = { params: Params }
const itemSchema = { params: ItemParams }

const Query = z.object({ done: formText, cursor: formText })
const TierForm = { access: formText }
const TierInput = z.object({ access: z.enum(ACCESS_TIERS, 'is none of the three') })
const PersonForm = { email: formText }
const PersonInput = z.object({ email: z.string().trim().min(1, 'is empty').max(254, 'is longer than 254 characters') })
const ClientForm = { name: formText, redirectUris: formText, tokenEndpointAuthMethod: formText }
const RemovalForm = { sure: formText }

/** The page's forms, and what each calls its fields where it says what is wrong. */
const LABELS: Readonly<Record<string, FormPage['labels']>> = {
  none: {},
  tier: { access: 'tier' },
  people: { email: 'address' },
  clients: {
    name: 'name',
    redirectUris: 'list of addresses',
    tokenEndpointAuthMethod: 'kind',
    ...Object.fromEntries(
      Array.from({ length: MAX_REDIRECTS }, (_, index) => [`redirectUris[${index}]`, `address in line ${index + 1}`]),
    ),
  },
}

const DONE: ReadonlyMap<string, string> = new Map([
  ['tier', 'The tier is changed, for every client and at once.'],
  ['allowed', 'Let in. They may use the server from now on.'],
  ['disallowed', 'No longer let in, from now on.'],
  ['revoked', 'Ended: its tokens are good for nothing from now on.'],
  ['client-removed', 'The OAuth client is removed, with all that it could do.'],
])

export type AccessPagesParts = {
  frames: ServerFrameParts
  servers: ServerService
  grants: GrantService
  oauthClients: OAuthClientService
}

/** One address in each line; empty lines are none. */
const linesOf = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map(line => line.trim())
    .filter(line => line !== '')

/** `/servers/:uuid/access`: who may use a server, which clients do in whose name, and OAuth clients made by hand. */
export const accessPages =
  ({ frames, servers, grants, oauthClients }: AccessPagesParts) =>
  async (app: FastifyInstance): Promise<void> => {
    const uuidOf = (request: FastifyRequest): string => Params.parse(request.params).uuid
    const itemOf = (request: FastifyRequest): string => ItemParams.parse(request.params).id
    const frameOf = (request: FastifyRequest): Promise<ServerFrame> =>
      getServerFrame(frames, actorOf(request), uuidOf(request), 'access')

    const lookerOf = (actor: Actor, frame: ServerFrame): Looker => ({
      userId: actor.userId,
      maySay: frame.mayBuild && (frame.isOwner || frame.mayManage),
      mayBuild: frame.mayBuild,
      mayManage: frame.mayManage,
    })

    /** Refuses who may not say who uses the server, before it is looked at what they sent. */
    const assertMaySay = async (request: FastifyRequest): Promise<void> => {
      const { organizationId, isOwner } = await frameOf(request)
      assertMay(actorOf(request), organizationId, isOwner ? 'build' : 'manage')
    }

    const listGrants = async (actor: Actor, frame: ServerFrame, looker: Looker, cursor: string) => {
      if (!looker.mayBuild) return { items: [], nextCursor: null }
      const page = idPageOf({ limit: DEFAULT_PAGE_SIZE, cursor: cursor === '' ? undefined : cursor })
      return toIdPage(await grants.listServerGrants(actor, frame.id, page), page, toGrantRow(looker))
    }

    const listClients = async (actor: Actor, frame: ServerFrame, looker: Looker) => {
      if (!looker.mayManage) return []
      const page = { limit: MAX_PAGE_SIZE, afterId: undefined }
      return (await oauthClients.listClients(actor, frame.organizationId, page)).map(toClientView)
    }

    /** `form`: which of the page's forms was sent, with what was typed into it. */
    const accessPage = async (
      request: FastifyRequest,
      form: keyof typeof LABELS = 'none',
      typed: Record<string, string> = {},
    ): Promise<FormPage> => {
      const actor = actorOf(request)
      const frame = await frameOf(request)
      const looker = lookerOf(actor, frame)
      const { done, cursor } = Query.parse(request.query)
      const path = serverTabPath(frame.id, 'access')
      const [connected, people, clients] = await Promise.all([
        listGrants(actor, frame, looker, cursor),
        looker.mayBuild ? servers.listAllowedUsers(actor, frame.id) : [],
        listClients(actor, frame, looker),
      ])
      return {
        view: 'oauth/access',
        data: {
          title: `Access to ${frame.name}`,
          server: frame,
          path,
          looker,
          tiers: listTiers(frame, form === 'tier' ? typed.access : undefined),
          people,
          grants: connected.items,
          next: connected.nextCursor === null ? undefined : addressOf(path, { cursor: connected.nextCursor }),
          isFirst: cursor === '',
          clients,
          authOptions: AUTH_OPTIONS,
          form,
          typed,
          done: DONE.get(done),
        },
        labels: LABELS[form] ?? {},
      }
    }

    const showDone = (request: FastifyRequest, reply: FastifyReply, done: string): FastifyReply =>
      reply.redirect(`${serverTabPath(uuidOf(request), 'access')}?done=${done}`, 303)

    app.get('/servers/:uuid/access', { config, schema }, async (request, reply) =>
      showForm(reply, await accessPage(request)),
    )

    app.post('/servers/:uuid/access/tier', { config, schema }, async (request, reply) => {
      await assertMaySay(request)
      const typed = parseForm(TierForm, request.body)
      return submitForm(reply, await accessPage(request, 'tier', typed), async () => {
        await servers.updateServer(actorOf(request), uuidOf(request), parseInput(TierInput, typed))
        return showDone(request, reply, 'tier')
      })
    })

    app.post('/servers/:uuid/access/people', { config, schema }, async (request, reply) => {
      await assertMaySay(request)
      const typed = parseForm(PersonForm, request.body)
      return submitForm(reply, await accessPage(request, 'people', typed), async () => {
        await servers.allowUser(actorOf(request), uuidOf(request), parseInput(PersonInput, typed).email)
        return showDone(request, reply, 'allowed')
      })
    })

    app.post('/servers/:uuid/access/people/:id/removal', { config, schema: itemSchema }, async (request, reply) => {
      await servers.disallowUser(actorOf(request), uuidOf(request), itemOf(request))
      return showDone(request, reply, 'disallowed')
    })

    app.post('/servers/:uuid/access/grants/:id/removal', { config, schema: itemSchema }, async (request, reply) => {
      await frameOf(request)
      await grants.removeGrant(actorOf(request), itemOf(request))
      return showDone(request, reply, 'revoked')
    })

    app.post('/servers/:uuid/access/clients', { config, schema }, async (request, reply) => {
      const server = await frameOf(request)
      assertMay(actorOf(request), server.organizationId, 'manage')
      const typed = parseForm(ClientForm, request.body)
      return submitForm(reply, await accessPage(request, 'clients', typed), async () => {
        const input = parseInput(CreateOAuthClient, { ...typed, redirectUris: linesOf(typed.redirectUris) })
        const client = await oauthClients.createClient(actorOf(request), server.organizationId, input)
        // No redirect: the secret is shown this once and kept nowhere that a page could read it from.
        const title = `${client.name} is made`
        const back = serverTabPath(server.id, 'access')
        const { clientId, clientSecret, name } = client
        return reply.page('oauth/client-made', { title, server, back, clientId, clientSecret, name }, { status: 201 })
      })
    })

    const removalPage = async (request: FastifyRequest, typed = ''): Promise<FormPage> => {
      const server = await frameOf(request)
      const { id, name } = await oauthClients.getClient(actorOf(request), itemOf(request))
      const back = serverTabPath(server.id, 'access')
      return {
        view: 'oauth/client-removal',
        data: { title: `Remove ${name}`, server, name, back, action: `${back}/clients/${id}/removal`, typed },
        labels: { sure: 'name' },
      }
    }

    app.get('/servers/:uuid/access/clients/:id/removal', { config, schema: itemSchema }, async (request, reply) =>
      showForm(reply, await removalPage(request)),
    )

    app.post('/servers/:uuid/access/clients/:id/removal', { config, schema: itemSchema }, async (request, reply) => {
      const { sure } = parseForm(RemovalForm, request.body)
      return submitForm(reply, await removalPage(request, sure), async () => {
        const actor = actorOf(request)
        const { id, name } = await oauthClients.getClient(actor, itemOf(request))
        assertTypedName(sure, name)
        await oauthClients.removeClient(actor, id)
        return showDone(request, reply, 'client-removed')
      })
    })
  }
