import type { ExecutionRecord, MaskedRequest } from '../history/index.ts'
import { failure, type JsonValue, type Result, type StopSignal } from '../kernel/index.ts'
import { type HttpClient, OutboundError, type OutboundResponse } from '../platform/net/index.ts'
import type { CompiledTemplate, RenderedRequest } from '../templates/index.ts'
import type { SchemaCheck } from '../toolkits/index.ts'
import { type BlocksResult, isLongText, type ToolResult } from './compiled-server.ts'
import { errorResult, faultText } from './faults.ts'
import { type AnswerAgain, type AnswerKeeping, isAgain } from './kept/answer-keeping.ts'
import type { Masker } from './masking.ts'
import { boundError, type ResolutionPlan, resolveCall } from './resolve.ts'
import { shapeAnswer } from './shape.ts'
import { type PlannedShaping, shapeByRules } from './shape-by-rules.ts'
import { maskBeginning, shortenRequest } from './shorten-request.ts'

/** All that is fixed about calling one tool before its arguments come. */
export type CallPlan = {
  resolution: ResolutionPlan
  template: CompiledTemplate
  masker: Masker
  timeoutMs: number
  maxResponseBytes: number
  /** Of a tool with an input schema of the builder's own. */
  inputCheck: SchemaCheck | undefined
  outputCheck: SchemaCheck | undefined
  /** What is done with answers before they are shown; undefined of most tools. */
  shaping: PlannedShaping | undefined
  mayReach: ((origin: string) => boolean) | undefined
}

/** What came of one call: the result for the caller, and what history and the test of a tool show besides. */
export type CallOutcome = {
  result: ToolResult
  /** Undefined when the call ended before there was a request. */
  request: RenderedRequest | undefined
  response: OutboundResponse | undefined
  /** Where it was answered with what was kept, and nothing was sent. */
  again: AnswerAgain | undefined
  startedAt: Date
  durationMs: number
}

const INTERNAL_FAULT = 'Patchbay failed to run this call. The operator finds the reason in its log.'

const maskAll = (text: string, masker: Masker): string => masker.text(text)

/** Hides secrets in a request that is to be shown or kept. */
export const maskRequest = (
  { method, url, headers, body }: RenderedRequest,
  masker: Masker,
  maskBody: (body: string, masker: Masker) => string = maskAll,
): MaskedRequest =>
  masker.isEmpty
    ? { method, url, headers, body }
    : {
        method,
        url: masker.text(url),
        headers: headers.map(([name, value]) => [name, masker.text(value)] as const),
        body: body === undefined ? undefined : maskBody(body, masker),
      }

/** Milliseconds to the microsecond: what lies beyond is noise. */
export const toMicroseconds = (ms: number): number => Math.round(ms * 1_000) / 1_000

/** The request that these arguments make, or why they make none. */
export const prepareRequest = (plan: CallPlan, args: JsonValue | undefined): Result<RenderedRequest, string> => {
  const mismatch = plan.inputCheck?.(args ?? {})
  if (mismatch !== undefined) return failure(boundError(`Wrong arguments: ${mismatch}.`))
  // Not masked: made of names and declarations only. A mask in it would tell who guesses that the guess is a secret.
  const values = resolveCall(plan.resolution, args)
  if (!values.ok) return values
  const rendered = plan.template.render(values.value)
  return rendered.ok ? rendered : failure(`"${rendered.error.parameter}": ${rendered.error.message}`)
}

const isFailure = (result: ToolResult): result is BlocksResult => !isLongText(result) && result.isError === true

/** Sends for whom the answer is kept. */
const sendingOf =
  (plan: CallPlan, http: HttpClient, request: RenderedRequest): Parameters<AnswerKeeping>[2] =>
  async signal => {
    const { timeoutMs, maxResponseBytes, mayReach, masker, outputCheck, shaping } = plan
    const response = await http.send({ ...request, timeoutMs, maxResponseBytes, mayReach, signal })
    const result =
      shaping === undefined
        ? await shapeAnswer(response, masker, outputCheck)
        : await shapeByRules(response, masker, outputCheck, shaping)
    return { result, response, isUsable: !isFailure(result) }
  }

/**
 * The one way a tool runs: plan, resolve, render, send, shape. Never throws; `onInternalError` hears what should not
 * happen. `findPlan` is asked inside: a plan that is made with its first call may fail as the call may.
 */
export const performCall = async (
  findPlan: () => CallPlan,
  http: HttpClient,
  args: JsonValue | undefined,
  signal: StopSignal | undefined,
  onInternalError: (error: unknown) => void,
  keeping?: AnswerKeeping | undefined,
): Promise<CallOutcome> => {
  const startedAt = new Date()
  const startedMs = performance.now()
  let plan: CallPlan | undefined
  let request: RenderedRequest | undefined
  let response: OutboundResponse | undefined
  let again: AnswerAgain | undefined
  const end = (result: ToolResult): CallOutcome => ({
    result,
    request,
    response,
    again,
    startedAt,
    durationMs: performance.now() - startedMs,
  })
  try {
    plan = findPlan()
    const prepared = prepareRequest(plan, args)
    if (!prepared.ok) return end(errorResult(prepared.error))
    request = prepared.value
    if (keeping !== undefined) {
      const answer = await keeping(request, signal, sendingOf(plan, http, request))
      if (isAgain(answer)) again = answer
      else response = answer.response
      return end(answer.result)
    }
    const { timeoutMs, maxResponseBytes, mayReach } = plan
    response = await http.send({ ...request, timeoutMs, maxResponseBytes, mayReach, signal })
    if (plan.shaping !== undefined) {
      return end(await shapeByRules(response, plan.masker, plan.outputCheck, plan.shaping))
    }
    const shaped = shapeAnswer(response, plan.masker, plan.outputCheck)
    return end(shaped instanceof Promise ? await shaped : shaped)
  } catch (error) {
    if (plan !== undefined && error instanceof OutboundError) {
      return end(errorResult(plan.masker.text(faultText(error))))
    }
    onInternalError(error)
    return end(errorResult(INTERNAL_FAULT))
  }
}

/** Longest error text kept in history. */
export const ERROR_CHARACTERS = 2_000

const errorOf = ({ content: [first] }: BlocksResult): string | undefined =>
  first?.type === 'text' ? first.text.slice(0, ERROR_CHARACTERS) : undefined

/** The request of an answer that was kept says how old that was. */
export const markAgain = (request: MaskedRequest, again: { ageMs: number } | undefined): MaskedRequest =>
  again === undefined ? request : { ...request, answerAgeMs: Math.round(again.ageMs) }

/** The outcome as history keeps it. */
export const toExecutionRecord = (
  { result, request, response, again, startedAt, durationMs }: CallOutcome,
  masker: Masker,
  identity: Pick<ExecutionRecord, 'id' | 'serverId' | 'instanceId' | 'tool' | 'userId' | 'client'>,
): ExecutionRecord => ({
  ...identity,
  startedAt,
  durationMs: toMicroseconds(durationMs),
  outcome: isFailure(result) ? 'error' : 'ok',
  status: response?.status ?? again?.status,
  requestBytes: request?.body === undefined ? 0 : Buffer.byteLength(request.body),
  responseBytes: response?.body.length ?? again?.responseBytes ?? 0,
  error: isFailure(result) ? errorOf(result) : undefined,
  request: request && markAgain(shortenRequest(maskRequest(request, masker, maskBeginning)), again),
})
