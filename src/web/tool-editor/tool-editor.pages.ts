import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { formText } from '../../lib/http/pages/forms.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { parseInput } from '../../lib/http/validation.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { MAX_TOOL_DEFINITION_BYTES } from '../../lib/kernel/limits.ts'
import type { Tool, ToolDefinition } from '../../tools/tool.ts'
import { CreateTool, CreateToolkit } from '../../tools/toolkits.schema.ts'
import type { ToolService } from '../../tools/tools.service.ts'
import { toConflictView } from './tool-conflict.view.ts'
import { createToolEditor } from './tool-editor.ts'
import { savedText } from './tool-editor.view.ts'
import { readToolForm } from './tool-editor-definition.ts'
import { errorsOf } from './tool-editor-errors.ts'
import { emptyToolForm, formOfTool, parseToolForm, type ToolForm } from './tool-editor-form.ts'
import { createEditorHomes, type EditorHome, type HomeParts } from './tool-editor-home.ts'

export type ToolPageParts = HomeParts &
  Pick<Parameters<typeof createToolEditor>[0], 'countTokens' | 'execution' | 'toolLint'>

const config = { access: 'user' } as const
/** In a form each byte of a tool may be written with three. */
export const TOOL_BODY_LIMIT = 3 * MAX_TOOL_DEFINITION_BYTES
const options = { config, bodyLimit: TOOL_BODY_LIMIT, schema: { params: uuidParams } }

const Query = z.object({ done: formText, as: formText })
const NewQuery = z.object({ server: formText })
const ToolkitInput = CreateToolkit.pick({ title: true })

const STALE = 'version'
/** What no change of the form would mend. */
const NOT_OF_THE_FORM: ReadonlySet<string> = new Set(['internal', 'not_found', 'forbidden'])

/** The tool that the form describes; throws `invalid_request` with everything that is wrong with it at once. */
const definitionOf = (form: ToolForm, stored: Tool | undefined): ToolDefinition => {
  const { definition, errors, responseErrors } = readToolForm(form, stored)
  const all = [...errors, ...responseErrors, ...errorsOf(() => parseInput(CreateTool, definition))]
  if (all.length > 0) throw new AppError('invalid_request', 'This tool cannot be saved as it is.', { errors: all })
  return parseInput(CreateTool, definition)
}

const OPTIONAL = [
  'title',
  'description',
  'body',
  'timeoutMs',
  'inputSchema',
  'outputSchema',
  'annotations',
  'allowedOrigins',
  'cacheSeconds',
  'cacheShared',
  'response',
] as const

/** A whole tool in place of the saved one: what it lacks is taken away there. */
const asPatch = (definition: ToolDefinition): Parameters<ToolService['updateTool']>[2] => ({
  ...definition,
  ...Object.fromEntries(OPTIONAL.map(field => [field, definition[field] ?? null])),
})

const versionOf = ({ version }: ToolForm): Date | undefined =>
  /^\d{1,15}$/.test(version) ? new Date(Number(version)) : undefined

const isStale = (error: unknown): boolean =>
  error instanceof AppError && error.errors?.some(({ path }) => path === STALE) === true

const isNameTaken = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'conflict' && error.errors?.some(({ path }) => path === 'name') === true

/** The page on which tools are made and edited. */
export const toolEditorPages =
  (parts: ToolPageParts) =>
  async (app: FastifyInstance): Promise<void> => {
    const { tools } = parts
    const homes = createEditorHomes(parts)
    const editor = createToolEditor(parts)

    /** Does what the form asks for; refused, it shows the form again with everything that was typed. */
    const submit = async (
      request: { actor: Actor; reply: FastifyReply },
      home: EditorHome,
      form: ToolForm,
      work: () => Promise<FastifyReply>,
    ): Promise<FastifyReply> => {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof AppError) || NOT_OF_THE_FORM.has(error.code)) throw error
        return editor.show(request, home, form, { refused: error, status: error.status, extra: { isUnsaved: true } })
      }
    }

    app.get('/toolkits/new-tool', { config }, async (request, reply) => {
      const actor = actorOf(request)
      const { server } = NewQuery.parse(request.query)
      const home = await homes.openNew(actor, '')
      const serverId = home.servers.find(({ value }) => value === server)?.value ?? ''
      return editor.show({ actor, reply }, home, { ...emptyToolForm(), serverId })
    })

    app.post('/toolkits/new-tool', { config, bodyLimit: TOOL_BODY_LIMIT }, async (request, reply) => {
      const actor = actorOf(request)
      const form = parseToolForm(request.body)
      const home = await homes.openNew(actor, form.organizationId)
      return submit({ actor, reply }, home, form, async () => {
        const toolkitErrors = errorsOf(() => parseInput(ToolkitInput, { title: form.toolkitTitle }))
        const errors = [
          ...errorsOf(() => definitionOf(form, undefined)),
          ...toolkitErrors.map(({ message }) => ({ path: 'toolkitTitle', message })),
        ]
        if (errors.length > 0) throw new AppError('invalid_request', 'Not yet.', { errors })
        const toolkit = { title: form.toolkitTitle.trim(), organizationId: home.organizationId }
        const tool = await tools.createToolWithToolkit(actor, toolkit, definitionOf(form, undefined))
        return reply.redirect(createdPath(tool, form), 303)
      })
    })

    app.get('/toolkits/:id/tools/new', options, async (request, reply) => {
      const actor = actorOf(request)
      const home = await homes.openToolkit(actor, uuidParams.parse(request.params).id)
      return editor.show({ actor, reply }, home, emptyToolForm())
    })

    /** The tool, or the one that the same form made before. */
    const createOnce = async (actor: Actor, toolkitId: string, definition: ToolDefinition): Promise<Tool> => {
      try {
        return await tools.createTool(actor, toolkitId, definition)
      } catch (error) {
        const same = isNameTaken(error) ? await tools.findSameTool(actor, toolkitId, definition) : undefined
        if (same === undefined) throw error
        return same
      }
    }

    app.post('/toolkits/:id/tools/new', options, async (request, reply) => {
      const actor = actorOf(request)
      const home = await homes.openToolkit(actor, uuidParams.parse(request.params).id)
      const form = parseToolForm(request.body)
      return submit({ actor, reply }, home, form, async () => {
        const tool = await createOnce(actor, home.toolkit.id, definitionOf(form, undefined))
        return reply.redirect(createdPath(tool, form), 303)
      })
    })

    app.get('/tools/:id', options, async (request, reply) => {
      const actor = actorOf(request)
      const home = await homes.openTool(actor, uuidParams.parse(request.params).id)
      const { done, as } = Query.parse(request.query)
      const serverId = home.servers.find(({ value }) => value === as)?.value ?? home.offers[0]?.serverId ?? ''
      const notes: ReadonlyMap<string, string> = new Map([
        ['created', 'Saved: the tool is made.'],
        ['saved', savedText(home)],
        ['duplicated', 'This is the copy: name it as you like.'],
      ])
      const offerForm =
        done === 'created' && as !== '' && as === serverId ? { server: serverId, serverName: '' } : undefined
      const extra = { done: notes.get(done), draftsDone: doneDrafts(done, home), offerForm }
      return editor.show({ actor, reply }, home, { ...formOfTool(home.tool), serverId }, { extra })
    })

    app.post('/tools/:id', options, async (request, reply) => {
      const actor = actorOf(request)
      const { id } = uuidParams.parse(request.params)
      const home = await homes.openTool(actor, id)
      const form = parseToolForm(request.body)
      return submit({ actor, reply }, home, form, async () => {
        const definition = definitionOf(form, home.tool)
        try {
          await tools.updateTool(actor, id, asPatch(definition), { ifUnchangedSince: versionOf(form) })
        } catch (error) {
          if (!isStale(error)) throw error
          return showConflict({ actor, reply }, id, form)
        }
        return reply.redirect(`/tools/${id}?done=saved`, 303)
      })
    })

    /** Both versions; sent again from here, it is saved over the other. */
    const showConflict = async (request: { actor: Actor; reply: FastifyReply }, id: string, form: ToolForm) => {
      const home = await homes.openTool(request.actor, id)
      const conflict = toConflictView(form, home.tool)
      const newest = { ...form, version: String(home.tool.updatedAt.getTime()) }
      return editor.show(request, home, newest, { status: 409, extra: { conflict, isUnsaved: true } })
    }
  }

/** Where a new tool is shown, with the server that it was tried in chosen to offer it. */
const createdPath = ({ id }: Tool, { serverId }: ToolForm): string =>
  `/tools/${id}?${new URLSearchParams({ done: 'created', ...(serverId === '' ? {} : { as: serverId }) })}`

/** Addresses of the forms whose text is saved by now, kept drafts of which are not needed any more. */
const doneDrafts = (done: string, { tool }: EditorHome & { kind: 'tool' }): readonly string[] => {
  if (done === 'created') return [`/toolkits/${tool.toolkitId}/tools/new`, '/toolkits/new-tool']
  return done === 'saved' ? [`/tools/${tool.id}`] : []
}
