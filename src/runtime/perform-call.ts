import type { JsonValue } from '../lib/kernel/json.ts'
import { failure, type Result } from '../lib/kernel/result.ts'
import type { StopSignal } from '../lib/kernel/stop-signal.ts'
import { type HttpClient, OutboundError, type OutboundResponse } from '../lib/outbound/outbound-request.ts'
import { type CachedResult, type CachedSend, isCached } from '../results/cache/response-cache.ts'
import { type Masker, MaskingError } from '../results/mask/masking.ts'
import type { CallToRecord } from '../results/mask/record-call.ts'
import { shapeResponse } from '../results/shape/shape.ts'
import { type PlannedShaping, shapeByRules } from '../results/shape/shape-by-rules.ts'
import type { CompiledTemplate, RenderedRequest } from '../templates/template.ts'
import type { SchemaCheck } from '../tools/schemas/schema-check.ts'
import {
  boundError,
  errorResult,
  findErrorText,
  INTERNAL_FAULT,
  isErrorResult,
  type ToolResult,
} from './call/tool-result.ts'
import { type ResolutionPlan, resolveCall } from './resolve.ts'

/** The parts of a tool call that do not depend on its arguments. */
export type CallPlan = {
  /** The organization that the request is sent for. */
  organizationId: string
  resolution: ResolutionPlan
  template: CompiledTemplate
  masker: Masker
  timeoutMs: number
  maxResponseBytes: number
  /** Undefined if the tool has no input schema of its own. */
  inputCheck: SchemaCheck | undefined
  outputCheck: SchemaCheck | undefined
  /** How results are shaped. Undefined for most tools, whose results are not shaped. */
  shaping: PlannedShaping | undefined
  mayReach: ((origin: string) => boolean) | undefined
}

/** The outcome of a call, with everything that the history and tool tests show. */
export type CallOutcome = {
  result: ToolResult
  /** Undefined if the call failed before the request was built. */
  request: RenderedRequest | undefined
  response: OutboundResponse | undefined
  /** The cached result. Defined if the result came from the cache and no request was sent. */
  cached: CachedResult | undefined
  startedAt: Date
  durationMs: number
}

/**
 * Builds the request for these arguments, or returns an error for the caller. Does not check the
 * arguments against a schema.
 */
export const renderCall = (plan: CallPlan, args: JsonValue | undefined): Result<RenderedRequest, string> => {
  // The error is not masked, because masking would confirm a guessed secret. It contains only names and declarations.
  const values = resolveCall(plan.resolution, args)
  if (!values.ok) return values
  const rendered = plan.template.render(values.value)
  return rendered.ok ? rendered : failure(`"${rendered.error.parameter}": ${rendered.error.message}`)
}

/**
 * Runs a tool: finds the plan, resolves the arguments, renders and sends the request, and shapes the result. Never
 * throws. `onInternalError` receives unexpected errors, including those thrown by `findPlan`.
 */
export const performCall = async (
  findPlan: () => CallPlan,
  http: HttpClient,
  args: JsonValue | undefined,
  signal: StopSignal | undefined,
  onInternalError: (error: unknown) => void,
  cachedSend?: CachedSend | undefined,
): Promise<CallOutcome> => {
  const startedAt = new Date()
  const startedMs = performance.now()
  let plan: CallPlan | undefined
  let request: RenderedRequest | undefined
  let response: OutboundResponse | undefined
  let cached: CachedResult | undefined
  const end = (result: ToolResult): CallOutcome => ({
    result,
    request,
    response,
    cached,
    startedAt,
    durationMs: performance.now() - startedMs,
  })
  try {
    plan = findPlan()
    const mismatch = plan.inputCheck && (await plan.inputCheck(args ?? {}, signal))
    if (mismatch !== undefined) return end(errorResult(boundError(`Wrong arguments: ${mismatch}.`)))
    const prepared = renderCall(plan, args)
    if (!prepared.ok) return end(errorResult(prepared.error))
    const rendered = prepared.value
    request = rendered
    const { organizationId, timeoutMs, maxResponseBytes, mayReach, masker, outputCheck, shaping } = plan
    const send = async (stop: StopSignal | undefined) => {
      const received = await http.send({
        ...rendered,
        organizationId,
        timeoutMs,
        maxResponseBytes,
        mayReach,
        signal: stop,
      })
      // Assigned before shaping, so that the history records the response even if shaping fails.
      response = received
      const result =
        shaping === undefined
          ? await shapeResponse(received, masker, outputCheck, stop)
          : await shapeByRules(received, masker, outputCheck, shaping, stop)
      return { result, response: received }
    }
    const sent = await (cachedSend === undefined ? send(signal) : cachedSend(rendered, signal, send))
    if (isCached(sent)) cached = sent
    return end(sent.result)
  } catch (error) {
    if (plan !== undefined && error instanceof OutboundError) {
      return end(errorResult(plan.masker.text(`The request failed: ${error.message}.`)))
    }
    if (error instanceof MaskingError) return end(errorResult(error.message))
    onInternalError(error)
    return end(errorResult(INTERNAL_FAULT))
  }
}

/** Identifies a call in the history. */
type CallIdentity = Required<Pick<CallToRecord, 'serverId' | 'instanceId' | 'tool' | 'caller' | 'client'>>

/** Returns what the history records for an outcome. */
export const describeOutcome = (
  { result, request, response, cached, startedAt, durationMs }: CallOutcome,
  { serverId, instanceId, tool, caller, client }: CallIdentity,
): CallToRecord => ({
  serverId,
  instanceId,
  tool,
  caller,
  client,
  startedAt,
  durationMs,
  request,
  cached,
  outcome: isErrorResult(result) ? 'error' : 'ok',
  status: response?.status ?? cached?.status,
  requestBytes: request?.body === undefined ? 0 : Buffer.byteLength(request.body),
  responseBytes: response?.body.length ?? cached?.responseBytes ?? 0,
  error: findErrorText(result),
})
