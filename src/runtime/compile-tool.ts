import { newExecutionId, type Recorder } from '../history/index.ts'
import { DEFAULT_TOOL_TIMEOUT_MS } from '../kernel/index.ts'
import type { HttpClient } from '../platform/net/index.ts'
import {
  type Bindings,
  explainSecretAtRisk,
  exposedSchemaOf,
  findSecretAtRisk,
  type Instance,
  type Server,
} from '../servers/index.ts'
import {
  type CompiledDefinition,
  checkDefinition,
  createSchemaCheck,
  type ToolAnnotations,
  type ToolDefinition,
} from '../toolkits/index.ts'
import type { CompiledTool, ToolResult } from './compiled-server.ts'
import type { AnswerKeepings } from './kept/answer-keeping.ts'
import { accountOf } from './ledger/account-of.ts'
import type { Masker } from './masking.ts'
import { type CallOutcome, type CallPlan, performCall, toExecutionRecord } from './perform-call.ts'
import { type GlobalValues, planResolution } from './resolve.ts'
import { planShaping, type ShapingPlace } from './shape-by-rules.ts'

export type ExecutionParts = {
  http: HttpClient
  recorder: Recorder
  limits: { maxResponseBytes: number; maxToolTimeoutMs: number }
  keepings: Pick<AnswerKeepings, 'ofTool' | 'ofUpstreamTool'>
  shaper: ShapingPlace['shaper']
  onInternalError: (error: unknown) => void
}

/** A server's globals, opened. `version` is another with each change of any of them, and tells no value. */
export type OpenedGlobals = {
  values: GlobalValues
  secretKeys: ReadonlySet<string>
  masker: Masker
  version: () => string
}

const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD'])
const IDEMPOTENT_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])

/** What an HTTP method says of a tool (RFC 9110 §9.2), unless the builder says otherwise. */
const annotationsOf = ({ method, title, annotations }: ToolDefinition): ToolAnnotations => ({
  ...(title === undefined ? {} : { title }),
  readOnlyHint: READ_METHODS.has(method),
  ...(READ_METHODS.has(method) ? {} : { destructiveHint: method === 'DELETE' }),
  idempotentHint: IDEMPOTENT_METHODS.has(method),
  openWorldHint: true,
  ...annotations,
})

const reachOf = (tool: ToolDefinition): CallPlan['mayReach'] => {
  if (tool.allowedOrigins === undefined || tool.allowedOrigins.length === 0) return undefined
  const allowed = new Set(tool.allowedOrigins)
  return origin => allowed.has(origin)
}

/** Everything about calling a tool with these bindings that does not depend on the arguments. */
export const planCall = (
  tool: ToolDefinition,
  compiled: CompiledDefinition,
  bindings: Bindings,
  globals: OpenedGlobals,
  limits: ExecutionParts['limits'],
  place: ShapingPlace,
): CallPlan => {
  const resolution = planResolution(compiled, bindings, globals.values)
  // Refused when bound as well; here for what became dangerous later, such as an edited URL.
  const risk = findSecretAtRisk(compiled, tool, bindings, key => globals.secretKeys.has(key))
  return {
    resolution: risk === undefined ? resolution : { ...resolution, problem: explainSecretAtRisk(risk) },
    template: compiled.template,
    masker: globals.masker,
    timeoutMs: Math.min(tool.timeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS, limits.maxToolTimeoutMs),
    maxResponseBytes: limits.maxResponseBytes,
    inputCheck:
      tool.inputSchema &&
      createSchemaCheck(exposedSchemaOf(tool, compiled, bindings), 'The arguments: the whole object'),
    outputCheck: tool.outputSchema && createSchemaCheck(tool.outputSchema, 'the whole answer'),
    shaping: planShaping(tool, place, limits.maxResponseBytes),
    mayReach: reachOf(tool),
  }
}

/** What a call is planned from. */
type Recipe = { tool: ToolDefinition; bindings: Bindings }

const follow = (
  recipe: string,
  globals: OpenedGlobals,
  limits: ExecutionParts['limits'],
  place: ShapingPlace,
): CallPlan => {
  const { tool, bindings }: Recipe = JSON.parse(recipe)
  const compiled = checkDefinition(tool)
  if (!compiled.ok) throw new Error(`the tool ${tool.name} compiled before, and does not now`)
  return planCall(tool, compiled.value, bindings, globals, limits, place)
}

/**
 * Plans an instance's calls with the first of them. Until then all that is kept is one text, a tenth of what the plan
 * takes: most tools of a mounted server are never called.
 */
const planOnce = (
  { tool: { id, toolkitId, originId, createdAt, updatedAt, description, annotations, ...tool }, bindings }: Instance,
  globals: OpenedGlobals,
  limits: ExecutionParts['limits'],
  place: ShapingPlace,
): (() => CallPlan) => {
  const recipe = JSON.stringify({ tool, bindings } satisfies Recipe)
  let plan: CallPlan | undefined
  return () => {
    plan ??= follow(recipe, globals, limits, place)
    return plan
  }
}

/** What the API says that its answer is; an answer without a body is in our words. */
const answerTypeOf = ({ response, again }: CallOutcome): string | undefined => {
  if (response === undefined) return again?.contentType
  const type = response.headers['content-type']
  return response.body.length > 0 && typeof type === 'string' ? type : undefined
}

/** A tool of ours, whose results are ours as well. */
type HttpTool = Omit<CompiledTool, 'call'> & {
  call: (...call: Parameters<CompiledTool['call']>) => Promise<ToolResult>
}

/** An instance as the runtime serves it. What describes it is for its caller to keep, or to let go: `call` does not. */
export const compileTool = (
  instance: Instance,
  compiled: CompiledDefinition,
  globals: OpenedGlobals,
  { http, recorder, limits, keepings, onInternalError, shaper }: ExecutionParts,
  { compactTables }: Pick<Server, 'compactTables'>,
): HttpTool => {
  const { id: instanceId, serverId, name, tool, bindings } = instance
  const findPlan = planOnce(instance, globals, limits, { shaper, owner: serverId, compactTables })
  const isShaped = planShaping(tool, { shaper, owner: serverId, compactTables }, 0) !== undefined
  const named = { serverId, name }
  const keepingFor = keepings.ofTool(instance, compiled, () => `${globals.version()} ${compactTables}`)
  return {
    name,
    title: tool.title,
    description: instance.description ?? tool.description,
    inputSchema: exposedSchemaOf(tool, compiled, bindings),
    outputSchema: tool.outputSchema,
    annotations: annotationsOf(tool),
    isReadOnly: tool.annotations?.readOnlyHint === true,
    call: async (args, context) => {
      const { caller, client, signal } = context
      const outcome = await performCall(findPlan, http, args, signal, onInternalError, keepingFor?.(caller))
      const id = newExecutionId()
      recorder.record(
        toExecutionRecord(outcome, globals.masker, {
          id,
          serverId,
          instanceId,
          tool: name,
          userId: caller?.userId,
          client,
        }),
      )
      if (!isShaped) context.answerType = answerTypeOf(outcome)
      context.account = accountOf(id, named, isShaped ? outcome : undefined, globals.masker)
      return outcome.result
    },
  }
}
