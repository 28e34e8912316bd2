import type { FastifyReply } from 'fastify'
import type { Database } from '../../lib/db/client.ts'
import { actorOf } from '../../lib/http/access.ts'
import { parseInput } from '../../lib/http/validation.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { isCurlCommand } from '../../lib/kernel/curl-command.ts'
import { AppError, type FieldError } from '../../lib/kernel/errors.ts'
import { DEFAULT_TOOL_TIMEOUT_MS } from '../../lib/kernel/limits.ts'
import type { TokenCounter, TokenCounterFor } from '../../lib/tokens/token-counter.ts'
import type { ExecutionService } from '../../runtime/execution.service.ts'
import type { DraftPreview, DraftTest, ToolDraft } from '../../runtime/try/tool-draft.ts'
import { defaultBindingsOf } from '../../servers/bindings/default-bindings.ts'
import { exposedSchemaOf } from '../../servers/bindings/exposed-schema.ts'
import type { GlobalService } from '../../servers/globals/globals.service.ts'
import { lintRequest } from '../../tools/lint/request.ts'
import { assertDefinitionSize, checkDefinition } from '../../tools/tool-definition.ts'
import type { ToolLint, ToolLintService } from '../../tools/tool-lint.ts'
import { CreateTool } from '../../tools/toolkits.schema.ts'
import type { ToolService } from '../../tools/tools.service.ts'
import { type FormImport, importCurl } from './curl-import.ts'
import { toLastCalls } from './last-calls.view.ts'
import { createParameterSecrets, type TypedSecrets } from './parameter-secrets.ts'
import { toEditorPage } from './tool-editor.view.ts'
import { placeAdvice } from './tool-editor-advice.ts'
import { type ReadForm, readToolForm } from './tool-editor-definition.ts'
import { errorsOf, type PlacedErrors, placeErrors } from './tool-editor-errors.ts'
import type { ToolForm } from './tool-editor-form.ts'
import { readArguments } from './tool-editor-parameters.ts'
import type { EditorState } from './tool-editor-state.ts'
import type { EditorSubject } from './tool-editor-subject.ts'
import { toPreviewView } from './tool-preview.view.ts'
import { importUrl } from './url-import.ts'

type Seen = NonNullable<EditorState['seen']>

/** Number of calls shown. The history has the others. */
const LAST_CALLS = 5

const costOf = async (
  { description }: Seen,
  { tokens, encoding }: ToolLint,
  countTokens: TokenCounter,
): Promise<EditorState['cost']> => ({ tokens, ofDescription: await countTokens(description ?? ''), encoding })

/** Returns the entered values. Parameters without an entered value get their example. */
const valuesOf = (form: ToolForm, { template }: ReadForm): Map<string, string> => {
  const values = new Map(form.values)
  for (const { name } of template.parameters) {
    if (!values.has(name)) values.set(name, form.parameters.get(name)?.example ?? '')
  }
  return values
}

const draftOf = (subject: EditorSubject, form: ToolForm, read: ReadForm, args: ToolDraft['args']): ToolDraft => ({
  definition: { ...read.definition, name: read.definition.name || 'unnamed' },
  toolkitId: subject.kind === 'new' ? undefined : subject.toolkit.id,
  organizationId: subject.kind === 'new' ? subject.organizationId : undefined,
  toolId: subject.kind === 'tool' ? subject.tool.id : undefined,
  serverId: form.serverId === '' ? undefined : form.serverId,
  args,
  sampleId: form.sample === '' || read.responseErrors.length > 0 ? undefined : form.sample,
})

/** Returns the message above the form: the errors that belong to no field, or a note that some fields have errors. */
const problemOf = ({ errors = [], message }: AppError, placed: PlacedErrors): string => {
  const general = placed.get('') ?? []
  if (errors.length === 0 || general.length > 0)
    return [...(errors.length === 0 ? [message] : []), ...general].join(' ')
  return 'Fix the fields marked below.'
}

/** Rejects oversized input before the expensive checks, because they run on every key press. */
const sizeErrors = ({ definition }: ReadForm): readonly FieldError[] => {
  const { description, parameters } = definition
  return errorsOf(() => {
    parseInput(CreateTool.pick({ description: true, parameters: true }), { description, parameters })
    assertDefinitionSize(definition)
  })
}

const withoutCommand = (form: ToolForm): ToolForm => ({ ...form, url: '' })

type Outcome = {
  /** The reason why saving or sending was rejected. */
  rejected?: AppError | undefined
  test?: DraftTest | undefined
  isCommand?: boolean | undefined
}

export const createToolEditor = ({
  db,
  execution,
  tools,
  toolLint,
  tokenCounterFor,
  globals,
}: {
  db: Database
  execution: ExecutionService
  tools: Pick<ToolService, 'maxTimeoutMs'>
  toolLint: Pick<ToolLintService, 'lintShown'>
  tokenCounterFor: TokenCounterFor
  globals: Pick<GlobalService, 'listAllGlobals' | 'putGlobal'>
}) => {
  const secrets = createParameterSecrets({ db, globals })

  const listGlobals = async (actor: Actor, { servers }: EditorSubject, serverId: string) => {
    const isKnown = servers.some(({ value }) => value === serverId)
    return isKnown ? await globals.listAllGlobals(actor, serverId) : []
  }

  const lint = (subject: EditorSubject, { definition }: ReadForm, seen: Seen): Promise<ToolLint> =>
    toolLint.lintShown(
      subject.userId,
      { ...seen, outputSchema: definition.outputSchema },
      {
        toolkitId: subject.kind === 'new' ? undefined : subject.toolkit.id,
        toolId: subject.kind === 'tool' ? subject.tool.id : undefined,
      },
    )

  /** Returns the errors in the parameters and the template, or the definition that the model would see. */
  const check = (read: ReadForm): { errors: readonly FieldError[]; seen: Seen | undefined } => {
    if (read.errors.length > 0 || read.definition.url === '') return { errors: read.errors, seen: undefined }
    const tooLong = sizeErrors(read)
    if (tooLong.length > 0) return { errors: tooLong, seen: undefined }
    const checked = checkDefinition(read.definition)
    if (!checked.ok) return { errors: checked.error, seen: undefined }
    const { name, description } = read.definition
    const bindings = defaultBindingsOf(read.definition)
    return {
      errors: [],
      seen: { name, description, inputSchema: exposedSchemaOf(read.definition, checked.value, bindings) },
    }
  }

  const buildState = async (
    actor: Actor,
    subject: EditorSubject,
    typed: ToolForm,
    { rejected, test, isCommand = false }: Outcome,
  ): Promise<EditorState> => {
    // Previews use the latest response, and none before it.
    const form = test === undefined ? typed : { ...typed, sample: test.sampleId ?? '' }
    const read = readToolForm(form, subject.kind === 'tool' ? subject.tool : undefined)
    const values = valuesOf(form, read)
    const { args, faults } = readArguments(read.template.parameters, values)
    const { errors, seen: definition } = check(read)
    const isReadable = subject.mayBuild && definition !== undefined
    const preview: DraftPreview | undefined = isReadable
      ? await execution.previewDraft(actor, draftOf(subject, form, read, args))
      : undefined
    const seen = preview === undefined ? definition : preview.seen
    const linted = seen && (await lint(subject, read, seen))
    const ofSaved = subject.kind === 'tool' ? lintRequest(subject.tool, false) : []
    const findings = subject.mayBuild ? [...ofSaved, ...(linted?.findings ?? [])] : []
    const known = await listGlobals(actor, subject, form.serverId)
    const use = await secrets.findUse(subject, form.serverId)
    return {
      subject,
      form,
      read,
      advice: placeAdvice(findings, {
        hasOwnSchema: read.definition.inputSchema !== undefined,
        isNamed: read.definition.name !== '',
      }),
      placed: placeErrors([...errors, ...read.responseErrors, ...(rejected?.errors ?? [])], read.headerLines),
      values,
      valueFaults: faults,
      preview,
      seen,
      cost: seen && linted && (await costOf(seen, linted, tokenCounterFor(actor.userId))),
      globals: known.map(({ key, isSecret }) => ({ key, isSecret })),
      use,
      secrets: secrets.findPlaces(subject, form.serverId, read.definition, known, use),
      test,
      isCommand,
      maxTimeoutMs: tools.maxTimeoutMs,
      defaultTimeoutMs: DEFAULT_TOOL_TIMEOUT_MS,
    }
  }

  /** Returns undefined for a tool that is not on a server of the user. */
  const listLastCalls = async (subject: EditorSubject) => {
    if (subject.kind !== 'tool' || subject.offers.length === 0) return undefined
    return toLastCalls(await execution.listLastCalls(subject.offers, LAST_CALLS), subject.offers)
  }

  const show = async (
    reply: FastifyReply,
    subject: EditorSubject,
    form: ToolForm,
    more: Outcome & { status?: number; extra?: Record<string, unknown> } = {},
  ): Promise<FastifyReply> => {
    const state = await buildState(actorOf(reply.request), subject, form, more)
    const problem = more.rejected && problemOf(more.rejected, state.placed)
    return reply.page(
      'tool-editor/tool',
      {
        ...toEditorPage(state, more.extra?.isUnsaved === true),
        lastCalls: await listLastCalls(subject),
        problem,
        ...more.extra,
      },
      { status: more.status ?? 200 },
    )
  }

  const showFilledIn = (reply: FastifyReply, subject: EditorSubject, imported: FormImport): Promise<FastifyReply> => {
    const isServed = subject.kind === 'tool' && subject.offers.length > 0
    return show(reply, subject, imported.form, { extra: { isUnsaved: true, imported: { ...imported, isServed } } })
  }

  return {
    show,

    /** Shows the form with parameters in place of the values of its URL, or as it is if there are none. */
    showUrlImport: (reply: FastifyReply, subject: EditorSubject, form: ToolForm): Promise<FastifyReply> => {
      const imported = importUrl(form)
      if (imported !== undefined) return showFilledIn(reply, subject, imported)
      return show(reply, subject, form, { extra: { isUnsaved: true } })
    },

    /**
     * Shows the form filled in from the cURL command in its URL field. If the command cannot be read, shows the error
     * with this status, and the form without the command.
     */
    showImport: (
      reply: FastifyReply,
      subject: EditorSubject,
      form: ToolForm,
      status: number,
    ): Promise<FastifyReply> => {
      const imported = importCurl(form)
      if (imported.ok) return showFilledIn(reply, subject, imported.value)
      const rejected = new AppError('invalid_request', 'This cURL command cannot be read.', {
        errors: [imported.error],
      })
      return show(reply, subject, withoutCommand(form), { rejected, status, extra: { isUnsaved: true } })
    },

    showPreview: async (
      reply: FastifyReply,
      subject: EditorSubject,
      typed: ToolForm,
      more: Outcome = {},
    ): Promise<FastifyReply> => {
      const isCommand = isCurlCommand(typed.url)
      const form = isCommand ? withoutCommand(typed) : typed
      const state = await buildState(actorOf(reply.request), subject, form, { ...more, isCommand })
      return reply.fragment('tool-editor/tool-preview', toPreviewView(state))
    },

    /** Stores typed values of secrets on the chosen server. */
    storeSecrets: (actor: Actor, subject: EditorSubject, form: ToolForm, typed: TypedSecrets): Promise<void> => {
      const { definition } = readToolForm(form, subject.kind === 'tool' ? subject.tool : undefined)
      return secrets.store(actor, subject, form.serverId, definition, typed)
    },

    /** Sends the request. If errors prevent this, throws `invalid_request` with the errors. */
    send: async (actor: Actor, subject: EditorSubject, form: ToolForm, signal: AbortSignal): Promise<DraftTest> => {
      const read = readToolForm(form, subject.kind === 'tool' ? subject.tool : undefined)
      const { args, faults } = readArguments(read.template.parameters, valuesOf(form, read))
      const errors = [
        ...read.errors,
        ...read.responseErrors,
        ...(read.definition.url === '' ? [{ path: 'url', message: 'is empty' }] : []),
      ]
      if (errors.length > 0 || faults.size > 0)
        throw new AppError('invalid_request', 'This request cannot be sent.', { errors })
      return execution.sendDraft(actor, draftOf(subject, form, read, args), signal)
    },
  }
}
