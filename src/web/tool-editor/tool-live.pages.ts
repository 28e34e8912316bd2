import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { signalOf } from '../../lib/http/gone.ts'
import { formText } from '../../lib/http/pages/forms.ts'
import { isFragmentRequest } from '../../lib/http/pages/views.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { TOOL_BODY_LIMIT, type ToolPageParts } from './tool-editor.pages.ts'
import { createToolEditor } from './tool-editor.ts'
import { parseToolForm, type ToolForm } from './tool-editor-form.ts'
import { createEditorHomes, type EditorHome } from './tool-editor-home.ts'

const options = { config: { access: 'user' }, bodyLimit: TOOL_BODY_LIMIT } as const

/** Which page's form was sent, and its button that turns a URL's places into ours. */
const Origin = z.object({ tool: formText, toolkit: formText, placedUrl: formText })
const Id = z.uuid()

/**
 * What follows from what is typed, and what comes of sending it, without saving it: the live half of the editor alone
 * while its script runs, the whole page with everything typed without.
 */
export const toolLivePages =
  (parts: ToolPageParts) =>
  async (app: FastifyInstance): Promise<void> => {
    const homes = createEditorHomes(parts)
    const editor = createToolEditor(parts)

    const open = (actor: Actor, { tool, toolkit }: z.infer<typeof Origin>, form: ToolForm): Promise<EditorHome> => {
      if (Id.safeParse(tool).success) return homes.openTool(actor, tool)
      if (Id.safeParse(toolkit).success) return homes.openToolkit(actor, toolkit)
      return homes.openNew(actor, form.organizationId)
    }

    app.post('/tool-preview', options, async (request, reply) => {
      const actor = actorOf(request)
      const origin = Origin.parse(request.body ?? {})
      const typed = parseToolForm(request.body)
      const form = origin.placedUrl === '' ? typed : { ...typed, url: origin.placedUrl }
      const home = await open(actor, origin, form)
      if (isFragmentRequest(request)) return editor.showLive({ actor, reply }, home, form)
      return editor.show({ actor, reply }, home, form, { extra: { isUnsaved: true } })
    })

    app.post('/tool-send', options, async (request, reply) => {
      const actor = actorOf(request)
      const origin = Origin.parse(request.body ?? {})
      const form = parseToolForm(request.body)
      const home = await open(actor, origin, form)
      try {
        const test = await editor.send(actor, home, form, signalOf(reply))
        if (isFragmentRequest(request)) return editor.showLive({ actor, reply }, home, form, { test })
        return editor.show({ actor, reply }, home, form, { test, extra: { isUnsaved: true } })
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'invalid_request') throw error
        if (isFragmentRequest(request)) return editor.showLive({ actor, reply }, home, form, { refused: error })
        const refusal = { refused: error, status: error.status, extra: { isUnsaved: true } }
        return editor.show({ actor, reply }, home, form, refusal)
      }
    })
  }
