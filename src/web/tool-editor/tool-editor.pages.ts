import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { formText, parseForm } from '../../lib/http/pages/forms.ts'
import { parseInput } from '../../lib/http/validation.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { isChangedMeanwhile } from '../../lib/kernel/conflicts.ts'
import { isCurlCommand } from '../../lib/kernel/curl-command.ts'
import { AppError, type FieldError } from '../../lib/kernel/errors.ts'
import { MAX_TOOL_DEFINITION_BYTES } from '../../lib/kernel/limits.ts'
import type { Tool, ToolDefinition } from '../../tools/tool.ts'
import { CreateTool, CreateToolkit } from '../../tools/toolkits.schema.ts'
import { isOnlyInvalid, type SaveOptions, type ToolService } from '../../tools/tools.service.ts'
import { idOf, idRoute, userRoute } from '../frame/user-page.ts'
import { readTypedSecrets } from './parameter-secrets.ts'
import { toConflictView } from './tool-conflict.view.ts'
import { createToolEditor } from './tool-editor.ts'
import { savedText } from './tool-editor.view.ts'
import { readToolForm } from './tool-editor-definition.ts'
import { errorsOf } from './tool-editor-errors.ts'
import { emptyToolForm, formOfTool, parseToolForm, type ToolForm } from './tool-editor-form.ts'
import { createEditorSubjects, type EditorSubject, type SubjectParts } from './tool-editor-subject.ts'

export type ToolPageParts = SubjectParts &
  Pick<Parameters<typeof createToolEditor>[0], 'tokenCounterFor' | 'execution' | 'toolLint' | 'globals'>

/** Maximum size of a submitted form. Form encoding can triple the size. */
export const TOOL_BODY_LIMIT = 3 * MAX_TOOL_DEFINITION_BYTES
const options = { ...idRoute, bodyLimit: TOOL_BODY_LIMIT }

const Query = z.object({ done: formText, as: formText })
const NewQuery = z.object({ server: formText })
const ToolkitInput = CreateToolkit.pick({ title: true })

/** Codes of errors that the user cannot fix in the form. */
const UNFIXABLE: ReadonlySet<string> = new Set(['internal', 'not_found', 'forbidden'])

/** The button that saves a tool although its template or a schema is invalid. */
const Anyway = { saveInvalid: formText }
const savingOf = ({ body }: FastifyRequest): SaveOptions => ({
  allowsInvalid: parseForm(Anyway, body).saveInvalid === 'yes',
})

/**
 * Reads the tool from the form. If there are errors, throws `invalid_request` with all of them; those of the template do
 * not count if the tool may be invalid.
 */
const definitionOf = (form: ToolForm, stored: Tool | undefined, { allowsInvalid }: SaveOptions): ToolDefinition => {
  const { definition, errors, templateErrors, responseErrors } = readToolForm(form, stored)
  const ignored = new Set<FieldError>(allowsInvalid === true ? templateErrors : [])
  const ofForm = errors.filter(error => !ignored.has(error))
  const all = [...ofForm, ...responseErrors, ...errorsOf(() => parseInput(CreateTool, definition))]
  if (all.length > 0) throw new AppError('invalid_request', 'This tool cannot be saved.', { errors: all })
  return parseInput(CreateTool, definition)
}

/** Returns whether a refused tool can be saved if it may be invalid. A tool that servers use must be valid. */
const mayBeSavedInvalid = (subject: EditorSubject, form: ToolForm, error: AppError): boolean => {
  const stored = subject.kind === 'tool' ? subject.tool : undefined
  const isUsed = subject.kind === 'tool' && subject.offers.length > 0
  const isReadable = errorsOf(() => definitionOf(form, stored, { allowsInvalid: true })).length === 0
  return !isUsed && isReadable && isOnlyInvalid(error)
}

const OPTIONAL = [
  'title',
  'description',
  'body',
  'timeoutMs',
  'retries',
  'callPrice',
  'inputSchema',
  'outputSchema',
  'annotations',
  'allowedOrigins',
  'cacheSeconds',
  'cacheShared',
  'response',
  'pagination',
] as const

/** Builds a patch that replaces the whole tool. Optional fields that are missing are removed. */
const toPatch = (definition: ToolDefinition): Parameters<ToolService['updateTool']>[2] => ({
  ...definition,
  ...Object.fromEntries(OPTIONAL.map(field => [field, definition[field] ?? null])),
})

const versionOf = ({ version }: ToolForm): Date | undefined =>
  /^\d{1,15}$/.test(version) ? new Date(Number(version)) : undefined

const isNameTaken = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'conflict' && error.errors?.some(({ path }) => path === 'name') === true

/** Returns the form of a new tool, with the server from whose page the editor was opened. */
const emptyFormFor = ({ query }: FastifyRequest, { servers }: EditorSubject): ToolForm => {
  const { server } = NewQuery.parse(query)
  return { ...emptyToolForm(), serverId: servers.find(({ value }) => value === server)?.value ?? '' }
}

/** Serves the page for creating and editing tools. */
export const toolEditorPages: FastifyPluginAsync<ToolPageParts> = async (app, parts) => {
  const { tools } = parts
  const subjects = createEditorSubjects(parts)
  const editor = createToolEditor(parts)

  /**
   * Stores typed secrets and runs `work`. If it is rejected, shows the form again with the user's input and the errors. A
   * cURL command is not saved, but fills in the form.
   */
  const submit = async (
    reply: FastifyReply,
    subject: EditorSubject,
    form: ToolForm,
    work: () => Promise<FastifyReply>,
  ): Promise<FastifyReply> => {
    if (isCurlCommand(form.url)) return editor.showImport(reply, subject, form, 400)
    try {
      const typed = readTypedSecrets(reply.request.body, form.serverId)
      await editor.storeSecrets(actorOf(reply.request), subject, form, typed)
      return await work()
    } catch (error) {
      if (!(error instanceof AppError) || UNFIXABLE.has(error.code)) throw error
      return editor.show(reply, subject, form, {
        rejected: error,
        status: error.status,
        extra: { isUnsaved: true, maySaveInvalid: mayBeSavedInvalid(subject, form, error) },
      })
    }
  }

  app.get('/toolkits/new-tool', userRoute, async (request, reply) => {
    const subject = await subjects.openNew(actorOf(request), '')
    return editor.show(reply, subject, emptyFormFor(request, subject))
  })

  app.post('/toolkits/new-tool', { ...userRoute, bodyLimit: TOOL_BODY_LIMIT }, async (request, reply) => {
    const actor = actorOf(request)
    const form = parseToolForm(request.body)
    const subject = await subjects.openNew(actor, form.organizationId)
    return submit(reply, subject, form, async () => {
      const toolkitErrors = errorsOf(() => parseInput(ToolkitInput, { title: form.toolkitTitle }))
      const saving = savingOf(request)
      const errors = [
        ...errorsOf(() => definitionOf(form, undefined, saving)),
        ...toolkitErrors.map(({ message }) => ({ path: 'toolkitTitle', message })),
      ]
      if (errors.length > 0) throw new AppError('invalid_request', 'This tool cannot be created.', { errors })
      const toolkit = { title: form.toolkitTitle.trim(), organizationId: subject.organizationId }
      const definition = definitionOf(form, undefined, saving)
      const tool = await tools.createToolWithToolkit(actor, toolkit, definition, saving)
      return reply.redirect(createdPath(tool, form), 303)
    })
  })

  app.get('/toolkits/:id/tools/new', options, async (request, reply) => {
    const subject = await subjects.openToolkit(actorOf(request), idOf(request))
    return editor.show(reply, subject, emptyFormFor(request, subject))
  })

  /** Creates a tool and returns it. If the same form was submitted before, returns the tool created then. */
  const createOnce = async (
    actor: Actor,
    toolkitId: string,
    definition: ToolDefinition,
    saving: SaveOptions,
  ): Promise<Tool> => {
    try {
      return await tools.createTool(actor, toolkitId, definition, saving)
    } catch (error) {
      const same = isNameTaken(error) ? await tools.findSameTool(actor, toolkitId, definition) : undefined
      if (same === undefined) throw error
      return same
    }
  }

  app.post('/toolkits/:id/tools/new', options, async (request, reply) => {
    const actor = actorOf(request)
    const subject = await subjects.openToolkit(actor, idOf(request))
    const form = parseToolForm(request.body)
    return submit(reply, subject, form, async () => {
      const saving = savingOf(request)
      const tool = await createOnce(actor, subject.toolkit.id, definitionOf(form, undefined, saving), saving)
      return reply.redirect(createdPath(tool, form), 303)
    })
  })

  app.get('/tools/:id', options, async (request, reply) => {
    const subject = await subjects.openTool(actorOf(request), idOf(request))
    const { done, as } = Query.parse(request.query)
    const serverId = subject.servers.find(({ value }) => value === as)?.value ?? subject.offers[0]?.serverId ?? ''
    const notes: ReadonlyMap<string, string> = new Map([
      ['created', 'Tool created.'],
      ['saved', savedText(subject)],
      ['duplicated', 'This is the copy. Rename it if you like.'],
    ])
    const offerForm =
      done === 'created' && as !== '' && as === serverId ? { server: serverId, serverName: '' } : undefined
    const extra = { done: notes.get(done), draftsDone: doneDrafts(done, subject), offerForm }
    return editor.show(reply, subject, { ...formOfTool(subject.tool), serverId }, { extra })
  })

  app.post('/tools/:id', options, async (request, reply) => {
    const actor = actorOf(request)
    const id = idOf(request)
    const subject = await subjects.openTool(actor, id)
    const form = parseToolForm(request.body)
    return submit(reply, subject, form, async () => {
      const saving = { ...savingOf(request), ifUnchangedSince: versionOf(form) }
      const definition = definitionOf(form, subject.tool, saving)
      try {
        await tools.updateTool(actor, id, toPatch(definition), saving)
      } catch (error) {
        if (!isChangedMeanwhile(error)) throw error
        return showConflict(reply, id, form)
      }
      return reply.redirect(`/tools/${id}?${queryOf('saved', form)}`, 303)
    })
  })

  /** Shows both versions. Saving the form there overwrites the other version. */
  const showConflict = async (reply: FastifyReply, id: string, form: ToolForm) => {
    const subject = await subjects.openTool(actorOf(reply.request), id)
    const conflict = toConflictView(form, subject.tool)
    const newest = { ...form, version: String(subject.tool.updatedAt.getTime()) }
    return editor.show(reply, subject, newest, { status: 409, extra: { conflict, isUnsaved: true } })
  }
}

const TAB = /^[a-z]{1,20}$/

/** Returns the query of the page after saving, which opens the same tab again. */
const queryOf = (done: string, { tab }: ToolForm, more: Record<string, string> = {}): string =>
  new URLSearchParams({ done, ...more, ...(TAB.test(tab) ? { tab } : {}) }).toString()

/** Returns the path of the new tool, and preselects the server that the tool was tried with. */
const createdPath = ({ id }: Tool, form: ToolForm): string =>
  `/tools/${id}?${queryOf('created', form, form.serverId === '' ? {} : { as: form.serverId })}`

/** Returns the paths of saved forms, whose drafts can be deleted. */
const doneDrafts = (done: string, { tool }: EditorSubject & { kind: 'tool' }): readonly string[] => {
  if (done === 'created') return [`/toolkits/${tool.toolkitId}/tools/new`, '/toolkits/new-tool']
  return done === 'saved' ? [`/tools/${tool.id}`] : []
}
