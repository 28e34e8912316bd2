import type { JsonValue } from '../../lib/kernel/json.ts'
import type { TokenCounter } from '../../lib/tokens/token-counter.ts'
import type { DefaultBinding, ParameterMeta } from '../../templates/check-value.ts'
import type { DraftVariable, IsSecret } from '../../tools/import/draft-parameters.ts'
import type { ImportedRequest } from '../../tools/import/imported-request.ts'
import { noteUnsearched, reasonOf } from '../../tools/import/read-pasted.ts'
import { type RequestDraft, toToolDraft } from '../../tools/import/to-tool-draft.ts'
import { hasVariables } from '../../tools/import/variable-marks.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import { MAX_TOOL_TEXT_CHARS } from '../limits.ts'
import { checkTool } from '../openapi/check-tool.ts'
import type { ImportedOperation, OperationSource, RefusedOperation } from '../openapi/imported-operation.ts'
import { toolNameOf } from '../openapi/names.ts'
import { plainText } from '../openapi/texts.ts'
import type { Hiding } from './hide-secrets.ts'
import type { ProposedGlobals } from './proposed-globals.ts'

const MAX_TITLE_CHARS = 120
const MAX_TAG_CHARS = 100

/** A request of a source. Its texts contain marks for what becomes a parameter. */
export type CollectedRequest = OperationSource & {
  description?: string | undefined
  request: ImportedRequest
  /** Metadata of the parameters, by `written` of their variables. */
  metas: ReadonlyMap<string, ParameterMeta>
  /** Where the request goes, if that is a parameter. */
  baseUrl?: string | undefined
  /** Kinds of authentication that the tool cannot use. */
  unsupportedSecurity?: readonly string[] | undefined
  isSecret: IsSecret
}

/** Without the request, of which a large source has thousands. */
export type DraftedRequest = Omit<CollectedRequest, 'request' | 'isSecret'> & {
  draft: RequestDraft
  /** What was left out of the request, as sentences. */
  notes: readonly string[]
  /** Values of the credentials of the request. */
  credentials: readonly string[]
}

/** Returns the credentials that a request has apart from its headers, without those that are variables. */
export const credentialsOf = ({ auth, cookies }: ImportedRequest): readonly string[] => {
  const ofAuth = auth.kind === 'bearer' ? [auth.token] : auth.kind === 'basic' ? [auth.password] : []
  return [...ofAuth, ...cookies.map(({ value }) => value)].filter(value => !hasVariables(value))
}

const sourceOf = ({ key, method, path, operationId, summary, tags, deprecated }: OperationSource): OperationSource => ({
  key,
  method,
  path,
  operationId,
  summary,
  tags,
  deprecated,
})

/** Drafts the tool for a request, or returns the operation with the reason why there is none. */
export const draftOrRefuse = <Collected extends CollectedRequest>({
  request,
  isSecret,
  ...collected
}: Collected): (Omit<Collected, 'request' | 'isSecret'> & DraftedRequest) | RefusedOperation => {
  const draft = toToolDraft(request, isSecret)
  if (!draft.ok) return { ...sourceOf(collected), reason: `It cannot become a tool: ${reasonOf(draft.error)}.` }
  return { ...collected, draft: draft.value, notes: request.notes, credentials: credentialsOf(request) }
}

/** What the operations of a source share. */
export type OperationContext<Drafted extends DraftedRequest> = {
  globals: ProposedGlobals
  /** Returns the binding of a variable, or undefined if its value comes from the model. */
  bindingOf: (variable: DraftVariable, drafted: Drafted) => DefaultBinding | undefined
  /** Hides the secrets, which no operation may contain. */
  hiding: Hiding
  count: TokenCounter
}

/**
 * Creates a function that turns drafts into operations, and returns those without a tool. They contain none of the secrets.
 */
export const createOperations = <Drafted extends DraftedRequest>(context: OperationContext<Drafted>) => {
  const { globals, bindingOf, count } = context
  const names = new Set<string>()
  const { hide, holdsSecret } = context.hiding

  /** A single word that looks random, such as an id, was judged by its place already. */
  const isOpen = (value: JsonValue | undefined): boolean => {
    if (value === undefined) return false
    if (typeof value === 'string' && /^[\w-]*$/.test(value)) return !holdsSecret(value)
    const text = JSON.stringify(value)
    return hide(text) === text
  }

  /** Leaves out a value that contains a secret. A changed one would be wrong. */
  const withoutSecrets = ({ default: preset, example, ...meta }: ParameterMeta): ParameterMeta => ({
    ...meta,
    ...(meta.description !== undefined && { description: hide(meta.description) }),
    ...(isOpen(preset) && { default: preset }),
    ...(isOpen(example) && { example }),
  })

  const parametersOf = (drafted: Drafted): ToolDefinition['parameters'] => {
    const { draft, metas, baseUrl } = drafted
    const url = baseUrl ?? draft.definition.url
    const ofVariables = draft.variables.map(variable => {
      const binding = bindingOf(variable, drafted)
      const meta = binding === undefined ? withoutSecrets(metas.get(variable.written) ?? {}) : { binding }
      return [variable.parameter, meta] as const
    })
    const ofSecrets = draft.secrets.map(found => {
      const binding: DefaultBinding = { source: 'server', key: globals.secretKey(found, url), secret: true }
      return [found.parameter, { binding }] as const
    })
    return Object.fromEntries<ParameterMeta>([...ofVariables, ...ofSecrets])
  }

  /** A path can also contain a secret percent-encoded. */
  const hideInPath = (text: string): string => (holdsSecret(hide(text)) ? '…' : hide(text))

  const toSource = (given: OperationSource): OperationSource => {
    const { key, path, summary, tags } = given
    return {
      ...sourceOf(given),
      key: hideInPath(key),
      path: hideInPath(path),
      summary: plainText(hide(summary ?? ''), MAX_TITLE_CHARS) || undefined,
      tags: tags.map(tag => plainText(hide(tag), MAX_TAG_CHARS)),
    }
  }

  const toDefinition = (drafted: Drafted, { summary, method, path }: OperationSource): ToolDefinition => {
    const { definition } = drafted.draft
    const operationId = summary === undefined ? definition.name : summary.replaceAll(/…|\[secret removed\]/g, ' ')
    const parameters = parametersOf(drafted)
    return {
      ...definition,
      name: toolNameOf({ operationId, method, path }, names),
      ...(summary !== undefined && { title: summary }),
      description: plainText(hide(drafted.description ?? ''), MAX_TOOL_TEXT_CHARS) || `${method} ${path}`,
      parameters,
    }
  }

  const globalsOf = ({ parameters }: ToolDefinition): readonly string[] => [
    ...new Set(Object.values(parameters).flatMap(({ binding }) => (binding?.source === 'server' ? [binding.key] : []))),
  ]

  return async (drafted: Drafted | RefusedOperation): Promise<ImportedOperation> => {
    if (!('draft' in drafted)) return { ...toSource(drafted), reason: drafted.reason }
    const { draft, notes, unsupportedSecurity = [] } = drafted
    const source = toSource(drafted)
    const definition = toDefinition(drafted, source)
    if (holdsSecret(JSON.stringify(definition))) {
      return { ...source, reason: 'A secret is also in a place where a tool cannot have a parameter.' }
    }
    const checked = await checkTool(definition, count)
    if (!checked.ok) return { ...source, reason: checked.error }
    const keys = globalsOf(definition)
    for (const key of keys) globals.noteUse(key, drafted.baseUrl ?? definition.url)
    return {
      ...source,
      ...checked.value,
      notes: [...new Set([...notes, ...draft.notes, ...noteUnsearched(definition)])],
      outputSchema: undefined,
      pagination: undefined,
      globals: keys,
      unsupportedSecurity,
    }
  }
}
