import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { signalOf } from '../../lib/http/gone.ts'
import { formLines, formText } from '../../lib/http/pages/forms.ts'
import { isFragmentRequest } from '../../lib/http/pages/views.ts'
import { isCurlCommand } from '../../lib/kernel/curl-command.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { userRoute } from '../frame/user-page.ts'
import { assertTyped, readTypedSecrets } from './parameter-secrets.ts'
import { TOOL_BODY_LIMIT, type ToolPageParts } from './tool-editor.pages.ts'
import { createToolEditor } from './tool-editor.ts'
import { parseToolForm, type ToolForm } from './tool-editor-form.ts'
import { createEditorSubjects, type EditorSubject } from './tool-editor-subject.ts'

const options = { ...userRoute, bodyLimit: TOOL_BODY_LIMIT }

/**
 * The tool or toolkit being edited, the converted URL or the proposed output schema if the user pressed their button, and
 * `curl` or `url` if the form is to be filled in from a cURL command or a URL with values.
 */
const EditorParams = z.object({
  tool: formText,
  toolkit: formText,
  placedUrl: formText,
  proposedSchema: formLines,
  import: formText,
})

/** Fills in what a button of the page offers. */
const withOffer = (form: ToolForm, { placedUrl, proposedSchema }: z.infer<typeof EditorParams>): ToolForm => ({
  ...form,
  ...(placedUrl !== '' && { url: placedUrl }),
  ...(proposedSchema !== '' && { outputSchema: proposedSchema, tab: 'response' }),
})
const Id = z.uuid()

/** The button that stores the secret of a parameter. */
const StoreButton = z.object({ storeSecret: formText })

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

  /** Runs `work`. If it is rejected, shows the form with the errors. */
  const attempt = async (
    reply: FastifyReply,
    subject: EditorSubject,
    form: ToolForm,
    work: () => Promise<FastifyReply>,
  ): Promise<FastifyReply> => {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'invalid_request') throw error
      if (isFragmentRequest(reply.request)) return editor.showPreview(reply, subject, form, { rejected: error })
      const rejection = { rejected: error, status: error.status, extra: { isUnsaved: true } }
      return editor.show(reply, subject, form, rejection)
    }
  }

  app.post('/tool-preview', options, async (request, reply) => {
    const params = EditorParams.parse(request.body ?? {})
    const { import: source } = params
    const form = withOffer(parseToolForm(request.body), params)
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
    return attempt(reply, subject, form, async () => {
      const actor = actorOf(request)
      await editor.storeSecrets(actor, subject, form, readTypedSecrets(request.body, form.serverId))
      const test = await editor.send(actor, subject, form, signalOf(reply))
      if (isFragmentRequest(request)) return editor.showPreview(reply, subject, form, { test })
      return editor.show(reply, subject, form, { test, extra: { isUnsaved: true } })
    })
  })

  /** Stores the typed secrets of the tool, which is not saved. */
  app.post('/tool-secret', options, async (request, reply) => {
    const typed = parseToolForm(request.body)
    // A pasted command is not part of the page that is shown again.
    const form = isCurlCommand(typed.url) ? { ...typed, url: '' } : typed
    const subject = await open(request, form)
    return attempt(reply, subject, form, async () => {
      const secrets = readTypedSecrets(request.body, form.serverId)
      assertTyped(StoreButton.parse(request.body).storeSecret, secrets)
      await editor.storeSecrets(actorOf(request), subject, form, secrets)
      if (isFragmentRequest(request)) return editor.showPreview(reply, subject, form)
      return editor.show(reply, subject, form, { extra: { isUnsaved: true } })
    })
  })
}
