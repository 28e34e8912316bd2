import type { Recorder } from '../history/execution-record.ts'
import { DEFAULT_TOOL_TIMEOUT_MS } from '../lib/kernel/limits.ts'
import { once } from '../lib/kernel/once.ts'
import type { HttpClient } from '../lib/outbound/outbound-request.ts'
import type { ResponseCache } from '../results/cache/response-cache.ts'
import type { Masker } from '../results/mask/masking.ts'
import { recordCall } from '../results/mask/record-call.ts'
import { readText } from '../results/shape/shape.ts'
import { isShaped, planShaping, type ShapingContext } from '../results/shape/shape-by-rules.ts'
import { explainSecretAtRisk, findSecretAtRisk } from '../servers/bindings/bindings.ts'
import { exposedSchemaOf } from '../servers/bindings/exposed-schema.ts'
import type { Bindings, Instance } from '../servers/server.ts'
import { lintRequest } from '../tools/lint/request.ts'
import type { ToolAnnotations, ToolDefinition } from '../tools/tool.ts'
import { type CompiledDefinition, checkDefinition } from '../tools/tool-definition.ts'
import { type CallCost, MAX_COUNTED_CHARACTERS } from './call/call-cost.ts'
import type { CompiledTool, ToolOutcome } from './call/compiled-tool.ts'
import { isErrorResult, type ToolResult } from './call/tool-result.ts'
import type { OpenedGlobals } from './opened-globals.ts'
import { type CallOutcome, type CallPlan, describeOutcome, performCall } from './perform-call.ts'
import { planResolution } from './resolve.ts'

export type ExecutionParts = {
  http: HttpClient
  recorder: Pick<Recorder, 'record'>
  limits: { maxResponseBytes: number; maxToolTimeoutMs: number }
  responseCache: Pick<ResponseCache, 'ofTool' | 'ofUpstreamTool'>
  onInternalError: (error: unknown) => void
}

const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD'])
const IDEMPOTENT_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])

/** Returns a tool's annotations. The defaults depend on the HTTP method (RFC 9110 §9.2). */
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

const ARGUMENTS = { rootName: 'the arguments', schemaName: 'inputSchema' }
const RESULT = { rootName: 'the result', schemaName: 'outputSchema' }

/** Prepares the parts of a call that do not depend on its arguments. */
export const planCall = (
  tool: ToolDefinition,
  compiled: CompiledDefinition,
  bindings: Bindings,
  globals: OpenedGlobals,
  limits: ExecutionParts['limits'],
  shapingContext: ShapingContext,
): CallPlan => {
  const { createCheck } = shapingContext.schemaChecks
  const resolution = planResolution(compiled, bindings, globals.values)
  // Bindings are checked when saved, and checked again here because the URL may have been edited since.
  const risk = findSecretAtRisk(compiled, tool, bindings, key => globals.secretKeys.has(key))
  return {
    organizationId: shapingContext.group,
    resolution: risk === undefined ? resolution : { ...resolution, problem: explainSecretAtRisk(risk) },
    template: compiled.template,
    masker: globals.masker,
    timeoutMs: Math.min(tool.timeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS, limits.maxToolTimeoutMs),
    maxResponseBytes: limits.maxResponseBytes,
    inputCheck: tool.inputSchema && createCheck(exposedSchemaOf(tool, compiled, bindings), ARGUMENTS, shapingContext),
    outputCheck: tool.outputSchema && createCheck(tool.outputSchema, RESULT, shapingContext),
    shaping: planShaping(tool, shapingContext, limits.maxResponseBytes),
    mayReach: reachOf(tool),
  }
}

type PlanSource = { tool: ToolDefinition; bindings: Bindings }

/**
 * Returns a function that builds the call plan on first use. Most tools of a server are never called, so until first
 * use only a JSON string is in memory, a tenth of the plan's size.
 */
const planOnce = (
  { tool: { id, toolkitId, originId, createdAt, updatedAt, description, annotations, ...tool }, bindings }: Instance,
  globals: OpenedGlobals,
  limits: ExecutionParts['limits'],
  shapingContext: ShapingContext,
): (() => CallPlan) => {
  const source = JSON.stringify({ tool, bindings } satisfies PlanSource)
  return once(() => {
    const plain: PlanSource = JSON.parse(source)
    const compiled = checkDefinition(plain.tool)
    if (!compiled.ok) throw new Error(`the tool ${plain.tool.name} no longer compiles`)
    return planCall(plain.tool, compiled.value, plain.bindings, globals, limits, shapingContext)
  })
}

/**
 * Returns the Content-Type of the API response. Returns undefined if the response has no body, because Patchbay then
 * writes the result text itself.
 */
const contentTypeOf = ({ response, cached }: CallOutcome): string | undefined => {
  if (response === undefined) return cached?.contentType
  const type = response.headers['content-type']
  return response.body.length > 0 && typeof type === 'string' ? type : undefined
}

/**
 * Returns the API response's text with secrets masked. The ledger uses it to compute what shaping saves. Returns
 * undefined for a cached result, which has no such text, and for an error, which is not shaped.
 */
const wholeOf = ({ response, result }: CallOutcome, masker: Masker): CallCost['whole'] => {
  if (response === undefined || isErrorResult(result)) return undefined
  return () => {
    const read = readText(response)
    if (read === undefined) return undefined
    const { text } = read
    const scale = Math.max(1, text.length / MAX_COUNTED_CHARACTERS)
    return { tokens: 0, texts: [masker.text(text.slice(0, MAX_COUNTED_CHARACTERS))], scale }
  }
}

/** An HTTP tool, whose results are never refusals or upstream results. */
type HttpTool = Omit<CompiledTool, 'call'> & {
  call: (...call: Parameters<CompiledTool['call']>) => Promise<ToolOutcome<ToolResult>>
}

/** Compiles an instance. `call` does not keep the tool's descriptive members in memory. */
export const compileTool = (
  instance: Instance,
  compiled: CompiledDefinition,
  globals: OpenedGlobals,
  { http, recorder, limits, responseCache, onInternalError }: ExecutionParts,
  shapingContext: ShapingContext,
): HttpTool => {
  const { id: instanceId, serverId, name, tool, bindings } = instance
  const { masker } = globals
  const findPlan = planOnce(instance, globals, limits, shapingContext)
  const findings = lintRequest(tool, tool.originId !== undefined)
  const shapes = isShaped(tool, shapingContext.compactTables)
  const cacheFor = responseCache.ofTool(
    instance,
    compiled,
    () => `${globals.version()} ${shapingContext.compactTables}`,
  )
  return {
    name,
    title: tool.title,
    description: instance.description ?? tool.description,
    inputSchema: exposedSchemaOf(tool, compiled, bindings),
    outputSchema: tool.outputSchema,
    annotations: annotationsOf(tool),
    isReadOnly: tool.annotations?.readOnlyHint === true,
    ...(findings.length > 0 && { findings }),
    call: async (args, context) => {
      const { caller, client, signal } = context
      const outcome = await performCall(findPlan, http, args, signal, onInternalError, cacheFor?.(caller))
      const call = describeOutcome(outcome, { serverId, instanceId, tool: name, caller, client })
      const id = recordCall(recorder, masker, call)
      return {
        result: outcome.result,
        cost: { executionId: id, tool: { serverId, name }, whole: shapes ? wholeOf(outcome, masker) : undefined },
        contentType: shapes ? undefined : contentTypeOf(outcome),
      }
    },
  }
}
