import type { FastifyReply } from 'fastify'
import { parseInput } from '../../lib/http/validation.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError, type FieldError } from '../../lib/kernel/errors.ts'
import { DEFAULT_TOOL_TIMEOUT_MS } from '../../lib/kernel/limits.ts'
import type { TokenCounter } from '../../lib/tokens/token-counter.ts'
import type { ExecutionService } from '../../runtime/execution.service.ts'
import type { DraftPreview, DraftTest, ToolDraft } from '../../runtime/try/tool-draft.ts'
import { exposedSchemaOf } from '../../servers/servers.view.ts'
import { assertDefinitionSize, checkDefinition } from '../../tools/tool-definition.ts'
import type { ToolLint, ToolLintService } from '../../tools/tool-lint.ts'
import { CreateTool } from '../../tools/toolkits.schema.ts'
import type { ToolService } from '../../tools/tools.service.ts'
import { toEditorPage } from './tool-editor.view.ts'
import { placeAdvice } from './tool-editor-advice.ts'
import { type ReadForm, readToolForm } from './tool-editor-definition.ts'
import { errorsOf, type PlacedErrors, placeErrors } from './tool-editor-errors.ts'
import type { ToolForm } from './tool-editor-form.ts'
import type { EditorHome } from './tool-editor-home.ts'
import { readArguments } from './tool-editor-parameters.ts'
import type { EditorState } from './tool-editor-state.ts'
import { toLiveView } from './tool-live.view.ts'

type Seen = NonNullable<EditorState['seen']>

/** What the model is given to read of a tool, as most clients hand it on. */
const costOf = async (
  { description }: Seen,
  { tokens, encoding }: ToolLint,
  countTokens: TokenCounter,
): Promise<EditorState['cost']> => ({ tokens, ofDescription: await countTokens(description ?? ''), encoding })

/** Values that were typed, and the example of each parameter where none was. */
const valuesOf = (form: ToolForm, { template }: ReadForm): Map<string, string> => {
  const values = new Map(form.values)
  for (const { name } of template.parameters) {
    if (!values.has(name)) values.set(name, form.parameters.get(name)?.example ?? '')
  }
  return values
}

const draftOf = (home: EditorHome, form: ToolForm, read: ReadForm, args: ToolDraft['args']): ToolDraft => ({
  definition: { ...read.definition, name: read.definition.name || 'unnamed' },
  toolkitId: home.kind === 'new' ? undefined : home.toolkit.id,
  organizationId: home.kind === 'new' ? home.organizationId : undefined,
  toolId: home.kind === 'tool' ? home.tool.id : undefined,
  serverId: form.serverId === '' ? undefined : form.serverId,
  args,
  sampleId: form.sample === '' || read.responseErrors.length > 0 ? undefined : form.sample,
})

/** Above the form: what belongs to no field, and that something was refused at all. */
const problemOf = ({ errors = [], message }: AppError, placed: PlacedErrors): string => {
  const general = placed.get('') ?? []
  if (errors.length === 0 || general.length > 0)
    return [...(errors.length === 0 ? [message] : []), ...general].join(' ')
  return 'Not done yet: see what is said beside the fields.'
}

/** What is too long to be saved is not looked into either: that takes its time, and it is asked for while one types. */
const sizeErrors = ({ definition }: ReadForm): readonly FieldError[] => {
  const { description, parameters } = definition
  return errorsOf(() => {
    parseInput(CreateTool.pick({ description: true, parameters: true }), { description, parameters })
    assertDefinitionSize(definition)
  })
}

type Looked = {
  /** What saving or sending it was refused for. */
  refused?: AppError | undefined
  test?: DraftTest | undefined
}

export const createToolEditor = ({
  execution,
  tools,
  toolLint,
  countTokens,
}: {
  execution: ExecutionService
  tools: Pick<ToolService, 'maxTimeoutMs'>
  toolLint: Pick<ToolLintService, 'lintShown'>
  countTokens: TokenCounter
}) => {
  /** What is known to speak against it, where it is kept or would be. */
  const lint = (home: EditorHome, { definition }: ReadForm, seen: Seen): Promise<ToolLint> =>
    toolLint.lintShown(
      { ...seen, outputSchema: definition.outputSchema },
      {
        toolkitId: home.kind === 'new' ? undefined : home.toolkit.id,
        toolId: home.kind === 'tool' ? home.tool.id : undefined,
      },
    )

  /** What the parameters and the template have wrong, or what the model would be shown of them. */
  const check = (read: ReadForm): { errors: readonly FieldError[]; seen: Seen | undefined } => {
    if (read.errors.length > 0 || read.definition.url === '') return { errors: read.errors, seen: undefined }
    const tooLong = sizeErrors(read)
    if (tooLong.length > 0) return { errors: tooLong, seen: undefined }
    const checked = checkDefinition(read.definition)
    if (!checked.ok) return { errors: checked.error, seen: undefined }
    const { name, description } = read.definition
    return { errors: [], seen: { name, description, inputSchema: exposedSchemaOf(read.definition, checked.value, {}) } }
  }

  /** Everything that follows from what is typed. */
  const look = async (
    actor: Actor,
    home: EditorHome,
    typed: ToolForm,
    { refused, test }: Looked,
  ): Promise<EditorState> => {
    // What is made of answers is shown with the newest from here on.
    const form = test?.sampleId === undefined ? typed : { ...typed, sample: test.sampleId }
    const read = readToolForm(form, home.kind === 'tool' ? home.tool : undefined)
    const values = valuesOf(form, read)
    const { args, faults } = readArguments(read.template.parameters, values)
    const { errors, seen: ofAll } = check(read)
    const isReadable = home.mayBuild && ofAll !== undefined
    const preview: DraftPreview | undefined = isReadable
      ? await execution.previewDraft(actor, draftOf(home, form, read, args))
      : undefined
    const seen = preview === undefined ? ofAll : preview.seen
    const linted = seen && (await lint(home, read, seen))
    const findings = home.mayBuild ? (linted?.findings ?? []) : []
    return {
      home,
      form,
      read,
      advice: placeAdvice(findings, {
        hasOwnSchema: read.definition.inputSchema !== undefined,
        isNamed: read.definition.name !== '',
      }),
      placed: placeErrors([...errors, ...read.responseErrors, ...(refused?.errors ?? [])], read.headerLines),
      values,
      valueFaults: faults,
      preview,
      seen,
      cost: seen && linted && (await costOf(seen, linted, countTokens)),
      test,
      maxTimeoutMs: tools.maxTimeoutMs,
      defaultTimeoutMs: DEFAULT_TOOL_TIMEOUT_MS,
    }
  }

  return {
    show: async (
      request: { actor: Actor; reply: FastifyReply },
      home: EditorHome,
      form: ToolForm,
      more: Looked & { status?: number; extra?: Record<string, unknown> } = {},
    ): Promise<FastifyReply> => {
      const state = await look(request.actor, home, form, more)
      const problem = more.refused && problemOf(more.refused, state.placed)
      return request.reply.page(
        'tool-editor/tool',
        { ...toEditorPage(state), problem, ...more.extra },
        more.status === undefined ? {} : { status: more.status },
      )
    },

    showLive: async (
      request: { actor: Actor; reply: FastifyReply },
      home: EditorHome,
      form: ToolForm,
      more: Looked = {},
    ): Promise<FastifyReply> =>
      request.reply.fragment('tool-editor/tool-live', toLiveView(await look(request.actor, home, form, more))),

    /** Sends what is typed; throws `invalid_request` with what keeps it from being sent. */
    send: async (actor: Actor, home: EditorHome, form: ToolForm, signal: AbortSignal): Promise<DraftTest> => {
      const read = readToolForm(form, home.kind === 'tool' ? home.tool : undefined)
      const { args, faults } = readArguments(read.template.parameters, valuesOf(form, read))
      const errors = [
        ...read.errors,
        ...read.responseErrors,
        ...(read.definition.url === '' ? [{ path: 'url', message: 'is empty' }] : []),
      ]
      if (errors.length > 0 || faults.size > 0)
        throw new AppError('invalid_request', 'It cannot be sent yet.', { errors })
      return execution.sendDraft(actor, draftOf(home, form, read, args), signal)
    },
  }
}
