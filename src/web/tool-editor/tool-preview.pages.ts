import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { signalOf } from '../../lib/http/gone.ts'
import { formText } from '../../lib/http/pages/forms.ts'
import { isFragmentRequest } from '../../lib/http/pages/views.ts'
import { isCurlCommand } from '../../lib/kernel/curl-command.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { userRoute } from '../frame/user-page.ts'
import { TOOL_BODY_LIMIT, type ToolPageParts } from './tool-editor.pages.ts'
import { createToolEditor } from './tool-editor.ts'
import { parseToolForm, type ToolForm } from './tool-editor-form.ts'
import { createEditorSubjects, type EditorSubject } from './tool-editor-subject.ts'

const options = { ...userRoute, bodyLimit: TOOL_BODY_LIMIT }

/**
 * The tool or toolkit being edited, the converted URL if the user pressed the convert button, and `curl` or `url` if the
 * form is to be filled in from a cURL command or a URL with values.
 */
const EditorParams = z.object({ tool: formText, toolkit: formText, placedUrl: formText, import: formText })
const Id = z.uuid()

/**
 * Previews and sends a tool without saving it. Returns only the changing parts of the page if the editor's script sends
 * the request, and the whole page otherwise.
 */
export const toolPreviewPages: FastifyPluginAsync<ToolPageParts> = async (app, parts) => {
  const subjects = createEditorSubjects(parts)
  const editor = createToolEditor(parts)

  const open = (request: FastifyRequest, form: ToolForm): Promise<EditorSubject> => {
    const actor = actorOf(request)
    const { tool, toolkit } = EditorParams.parse(request.body ?? {})
    if (Id.safeParse(tool).success) return subjects.openTool(actor, tool)
    if (Id.safeParse(toolkit).success) return subjects.openToolkit(actor, toolkit)
    return subjects.openNew(actor, form.organizationId)
  }

  app.post('/tool-preview', options, async (request, reply) => {
    const { placedUrl, import: source } = EditorParams.parse(request.body ?? {})
    const typed = parseToolForm(request.body)
    const form = placedUrl === '' ? typed : { ...typed, url: placedUrl }
    const subject = await open(request, form)
    if (isCurlCommand(form.url) && (source === 'curl' || !isFragmentRequest(request))) {
      return editor.showImport(reply, subject, form, 200)
    }
    if (source === 'url') return editor.showUrlImport(reply, subject, form)
    if (isFragmentRequest(request)) return editor.showPreview(reply, subject, form)
    return editor.show(reply, subject, form, { extra: { isUnsaved: true } })
  })

  app.post('/tool-send', options, async (request, reply) => {
    const form = parseToolForm(request.body)
    const subject = await open(request, form)
    if (isCurlCommand(form.url)) {
      return isFragmentRequest(request)
        ? editor.showPreview(reply, subject, form)
        : editor.showImport(reply, subject, form, 400)
    }
    try {
      const test = await editor.send(actorOf(request), subject, form, signalOf(reply))
      if (isFragmentRequest(request)) return editor.showPreview(reply, subject, form, { test })
      return editor.show(reply, subject, form, { test, extra: { isUnsaved: true } })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'invalid_request') throw error
      if (isFragmentRequest(request)) return editor.showPreview(reply, subject, form, { rejected: error })
      const rejection = { rejected: error, status: error.status, extra: { isUnsaved: true } }
      return editor.show(reply, subject, form, rejection)
    }
  })
}
