import type { FastifyInstance, FastifyReply } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { assertTypedName } from '../../lib/http/pages/typed-name.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { type Actor, assertMay } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { CreateServer } from '../../servers/servers.schema.ts'
import type { InstanceService } from '../../servers/tools/instances.service.ts'
import { serverTabPath } from '../frame/server-frame.ts'
import type { ToolPageParts } from './tool-editor.pages.ts'
import { createToolEditor } from './tool-editor.ts'
import { formOfTool } from './tool-editor-form.ts'
import { createEditorHomes, type EditorHome } from './tool-editor-home.ts'

const options = { config: { access: 'user' }, schema: { params: uuidParams } } as const
const RemovalForm = { sure: formText }
const OfferForm = { server: formText, serverName: formText }

type ToolHome = EditorHome & { kind: 'tool' }

/** A page to confirm it, or that says which servers have to let the tool go first. */
const removalPage = ({ tool, toolkit, organization, offers }: ToolHome, typed: string) => ({
  view: 'tool-editor/tool-removal',
  data: {
    title: `Delete ${tool.name}`,
    section: 'toolkits' as const,
    width: 'narrow' as const,
    crumbs: [
      { href: '/toolkits', text: organization.text },
      { href: `/toolkits/${toolkit.id}`, text: toolkit.title },
      { href: `/tools/${tool.id}`, text: tool.name },
    ],
    name: tool.name,
    path: `/tools/${tool.id}`,
    offers: offers.map(({ serverId, serverName, name }) => ({
      href: serverTabPath(serverId, 'tools'),
      server: serverName,
      name,
    })),
    typed,
  },
  labels: { sure: 'name' },
})

/** What is done with a saved tool as a whole: offered by a server, doubled, deleted. */
export const toolActionPages =
  (parts: ToolPageParts & { instances: InstanceService }) =>
  async (app: FastifyInstance): Promise<void> => {
    const { tools, servers, instances } = parts
    const homes = createEditorHomes(parts)
    const editor = createToolEditor(parts)

    const openForChange = async (actor: Actor, params: unknown): Promise<ToolHome> => {
      const home = await homes.openTool(actor, uuidParams.parse(params).id)
      assertMay(actor, home.toolkit.organizationId, 'build')
      return home
    }

    app.get('/tools/:id/removal', options, async (request, reply) =>
      showForm(reply, removalPage(await openForChange(actorOf(request), request.params), '')),
    )

    app.post('/tools/:id/removal', options, async (request, reply) => {
      const actor = actorOf(request)
      const home = await openForChange(actor, request.params)
      const { sure } = parseForm(RemovalForm, request.body)
      return submitForm(reply, removalPage(home, sure), async () => {
        assertTypedName(sure, home.tool.name)
        await tools.removeTool(actor, home.tool.id)
        return reply.redirect(`/toolkits/${home.toolkit.id}?done=tool-removed`, 303)
      })
    })

    app.post('/tools/:id/duplicate', options, async (request, reply) => {
      const copy = await tools.duplicateTool(actorOf(request), uuidParams.parse(request.params).id)
      return reply.redirect(`/tools/${copy.id}?done=duplicated`, 303)
    })

    /** The server that was chosen, or a new one of that name; the form sent twice makes one. */
    const findServerId = async (
      actor: Actor,
      { toolkit, offers }: ToolHome,
      form: { server: string; serverName: string },
    ) => {
      if (form.server !== '' && form.server !== 'new') return form.server
      const name = form.serverName.trim()
      const made = offers.find(offer => offer.serverName === name && offer.ownerId === actor.userId)
      if (made !== undefined) return made.serverId
      const { organizationId } = toolkit
      const input = parseInput(CreateServer, { name, organizationId })
      return (await servers.createServer(actor, input)).id
    }

    const offer = async (
      actor: Actor,
      home: ToolHome,
      form: { server: string; serverName: string },
    ): Promise<string> => {
      const serverId = await findServerId(actor, home, form)
      const isOffered = home.offers.some(known => known.serverId === serverId)
      const { id: toolId, name } = home.tool
      if (!isOffered) await instances.createInstance(actor, serverId, { toolId, name, bindings: {} })
      return serverId
    }

    const showRefusedOffer = (
      request: { actor: Actor; reply: FastifyReply },
      home: ToolHome,
      form: { server: string; serverName: string },
      error: AppError,
    ): Promise<FastifyReply> => {
      const isOfName = form.server === '' || form.server === 'new'
      const [first] = error.errors ?? []
      const message = isOfName && first?.path === 'name' ? `The name ${first.message}.` : error.message
      const offerForm = { ...form, error: message }
      return editor.show(request, home, formOfTool(home.tool), { status: error.status, extra: { offerForm } })
    }

    app.post('/tools/:id/offer', options, async (request, reply) => {
      const actor = actorOf(request)
      const home = await openForChange(actor, request.params)
      const form = parseForm(OfferForm, request.body)
      try {
        return reply.redirect(`${serverTabPath(await offer(actor, home, form), 'overview')}?done=offered`, 303)
      } catch (error) {
        if (!(error instanceof AppError) || ['internal', 'not_found', 'forbidden'].includes(error.code)) throw error
        return showRefusedOffer({ actor, reply }, home, form, error)
      }
    })
  }
