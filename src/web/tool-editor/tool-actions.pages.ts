import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { formText, parseForm } from '../../lib/http/pages/forms.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { type Actor, assertMay } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { CreateServer } from '../../servers/servers.schema.ts'
import type { ToolAdding } from '../../servers/tools/tool-adding.service.ts'
import { removalPage } from '../frame/removal-page.ts'
import { serverTabPath } from '../frame/server-frame.ts'
import { idOf, idRoute } from '../frame/user-page.ts'
import { listMissingSecrets, type MissingSecretsParts } from '../server-tools/missing-secrets.ts'
import { createDeletedToolUndo, toDeletedTool } from '../toolkits/deleted-tool.ts'
import type { ToolPageParts } from './tool-editor.pages.ts'
import { createToolEditor } from './tool-editor.ts'
import { formOfTool } from './tool-editor-form.ts'
import { createEditorSubjects, type EditorSubject } from './tool-editor-subject.ts'

const OfferFields = { server: formText, serverName: formText }
type OfferForm = Record<keyof typeof OfferFields, string>

type ToolSubject = EditorSubject & { kind: 'tool' }

/** Serves actions on a saved tool: adding it to a server, duplicating it and deleting it. */
export const toolActionPages: FastifyPluginAsync<
  ToolPageParts & MissingSecretsParts & { toolAdding: Pick<ToolAdding, 'addTools'>; sealing: Sealing }
> = async (app, parts) => {
  const { tools, servers, toolAdding, sealing } = parts
  const undo = createDeletedToolUndo(sealing)
  const subjects = createEditorSubjects(parts)
  const editor = createToolEditor(parts)

  const openForChange = async (request: FastifyRequest): Promise<ToolSubject> => {
    const actor = actorOf(request)
    const subject = await subjects.openTool(actor, idOf(request))
    assertMay(actor, subject.toolkit.organizationId, 'build')
    return subject
  }

  removalPage(app, '/tools/:id/removal', {
    ...idRoute,
    button: 'Delete tool',
    load: openForChange,
    nameOf: ({ tool }) => tool.name,
    page: (request, { tool, toolkit, organization, offers }) => ({
      section: 'toolkits',
      crumbs: [
        { href: '/toolkits', text: organization.text },
        { href: `/toolkits/${toolkit.id}`, text: toolkit.title },
        { href: `/tools/${tool.id}`, text: tool.name },
      ],
      text:
        offers.length > 0
          ? 'Servers use this tool. Remove it from them first:'
          : `No server uses this tool. ${undo.describe(request, { path: `/toolkits/${toolkit.id}` }, [toDeletedTool(tool)])}`,
      items: offers.map(({ serverId, serverName, name }) => ({
        href: serverTabPath(serverId, 'tools'),
        text: serverName,
        note: `as ${name}`,
      })),
      isBlocked: offers.length > 0,
      back: `/tools/${tool.id}`,
    }),
    remove: async (request, { tool, toolkit }, reply) => {
      await tools.removeTool(actorOf(request), tool.id)
      undo.keep(request, reply, { path: `/toolkits/${toolkit.id}` }, [toDeletedTool(tool)])
      return `/toolkits/${toolkit.id}?done=tool-removed`
    },
  })

  app.post('/tools/:id/duplicate', idRoute, async (request, reply) => {
    const copy = await tools.duplicateTool(actorOf(request), idOf(request))
    return reply.redirect(`/tools/${copy.id}?done=duplicated`, 303)
  })

  /** Returns the chosen server, or creates one. Submitting the form twice creates only one server. */
  const findServerId = async (actor: Actor, { toolkit, offers }: ToolSubject, form: OfferForm) => {
    if (form.server !== '' && form.server !== 'new') return form.server
    const name = form.serverName.trim()
    const existing = offers.find(offer => offer.serverName === name && offer.ownerId === actor.userId)
    if (existing !== undefined) return existing.serverId
    const { organizationId } = toolkit
    const input = parseInput(CreateServer, { name, organizationId })
    return (await servers.createServer(actor, input)).id
  }

  const offer = async (actor: Actor, subject: ToolSubject, form: OfferForm): Promise<string> => {
    const serverId = await findServerId(actor, subject, form)
    await toolAdding.addTools(actor, serverId, [{ toolId: subject.tool.id, atWork: 0 }])
    return serverId
  }

  const showOfferError = (
    reply: FastifyReply,
    subject: ToolSubject,
    form: OfferForm,
    error: AppError,
  ): Promise<FastifyReply> => {
    const isNewServer = form.server === '' || form.server === 'new'
    const [first] = error.errors ?? []
    const message = isNewServer && first?.path === 'name' ? `The name ${first.message}.` : error.message
    const offerForm = { ...form, error: message }
    return editor.show(reply, subject, formOfTool(subject.tool), { status: error.status, extra: { offerForm } })
  }

  app.post('/tools/:id/offer', idRoute, async (request, reply) => {
    const actor = actorOf(request)
    const subject = await openForChange(request)
    const form = parseForm(OfferFields, request.body)
    try {
      const serverId = await offer(actor, subject, form)
      const missing = await listMissingSecrets(parts, actor, serverId)
      const path =
        missing.length === 0
          ? `${serverTabPath(serverId, 'overview')}?done=offered`
          : `${serverTabPath(serverId, 'tools')}/values?done=added`
      return reply.redirect(path, 303)
    } catch (error) {
      if (!(error instanceof AppError) || ['internal', 'not_found', 'forbidden'].includes(error.code)) throw error
      return showOfferError(reply, subject, form, error)
    }
  })
}
