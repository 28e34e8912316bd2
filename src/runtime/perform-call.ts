import { type CallResult, resultOfErrorStatus, resultOfFault } from '../history/call-result.ts'
import type { CallAttempt, CallTiming } from '../history/execution-record.ts'
import type { JsonObject, JsonValue } from '../lib/kernel/json.ts'
import { createReleases, type Releases } from '../lib/kernel/releases.ts'
import { failure, type Result, success } from '../lib/kernel/result.ts'
import type { StopSignal } from '../lib/kernel/stop-signal.ts'
import { type HttpClient, OutboundError, type OutboundResponse } from '../lib/outbound/outbound-request.ts'
import { type CachedResult, type CachedSend, type FreshResult, isCached } from '../results/cache/response-cache.ts'
import { MaskingError } from '../results/mask/masking.ts'
import { shapeResponse } from '../results/shape/shape.ts'
import { shapeByRules } from '../results/shape/shape-by-rules.ts'
import { expectedOf } from '../templates/check-value.ts'
import { acceptedTypes, isMissing } from '../templates/lists/serialize.ts'
import type { RenderedRequest, TemplateParameter, Values } from '../templates/template.ts'
import type { SchemaCheckResult } from '../tools/schemas/schema-check.ts'
import { errorResult, INTERNAL_FAULT, isErrorResult, type ToolResult, truncateError } from './call/tool-result.ts'
import { CallTimer } from './call-timer.ts'
import { findNextPage } from './next-page/next-page.ts'
import type { CallPlan, ResolutionPlan } from './plan-call.ts'

/** A performed call, with everything that the history and tool tests show. */
export type PerformedCall = {
  result: ToolResult
  /** How the call ended, for the history. */
  callResult: CallResult
  /** Undefined if the call failed before the request was built. */
  request: RenderedRequest | undefined
  response: OutboundResponse | undefined
  /** The cached result. Defined if the result came from the cache and no request was sent. */
  cached: CachedResult | undefined
  /** How the response differs from the tool's output schema, if it does. */
  schemaMismatch: string | undefined
  /** A line that tells the model how to get the next page of results. */
  nextPage: string | undefined
  startedAt: Date
  durationMs: number
  timing?: CallTiming | undefined
  /** All attempts, if there was more than one. */
  attempts?: readonly CallAttempt[] | undefined
}

/** Limits for the names in an error message, because callers can send any number of arguments. */
const MAX_UNKNOWN_NAMES = 5
const MAX_KNOWN_NAMES = 20
const NAME_CHARACTERS = 64

const quoteName = (name: string): string => `"${name.slice(0, NAME_CHARACTERS)}"`

const hintOf = (exposed: ResolutionPlan['exposed']): string => {
  if (exposed.size === 0) return 'this tool takes no arguments'
  const listed = [...exposed.keys()].slice(0, MAX_KNOWN_NAMES).map(quoteName).join(', ')
  const more = exposed.size - MAX_KNOWN_NAMES
  return `this tool takes ${listed}${more > 0 ? ` and ${more} more` : ''}`
}

/**
 * Returns one error line for each unknown name, up to a limit, and one line for the rest. The first line also lists the
 * valid parameters.
 */
const refuseUnknown = (args: object, exposed: ResolutionPlan['exposed']): readonly string[] => {
  const unknown = Object.keys(args).filter(name => !exposed.has(name))
  const lines = unknown
    .slice(0, MAX_UNKNOWN_NAMES)
    .map((name, index) => `There is no parameter ${quoteName(name)}${index === 0 ? `: ${hintOf(exposed)}` : ''}.`)
  const more = unknown.length - MAX_UNKNOWN_NAMES
  return more > 0 ? [...lines, `${more} more arguments are also unknown.`] : lines
}

/** Time limit for matching all patterns of a call, because matching blocks the event loop. */
const MAX_PATTERNS_MS = 100
const TAKES_TOO_LONG = "The arguments take too long to match against this tool's patterns. Send shorter ones."

const explainMissing = ({ name, type, places }: TemplateParameter, argument: JsonValue | undefined): string => {
  const state = argument === undefined || argument === null ? 'missing' : 'empty'
  return `"${name}" is ${state}: it must be ${expectedOf(type, acceptedTypes(places))}.`
}

/**
 * Resolves the values of a call from its arguments. Errors name the parameters that are invalid,
 * missing or unknown, but never contain a value.
 */
const resolveCall = (plan: ResolutionPlan, args: JsonObject): Result<Values, string> => {
  if (plan.problem !== undefined) return failure(plan.problem)
  const errors = [...refuseUnknown(args, plan.exposed)]
  const values = new Map<string, JsonValue>(plan.constants)
  let matchedSince: number | undefined
  for (const [name, { parameter, meta, check }] of plan.exposed) {
    const argument = Object.hasOwn(args, name) ? args[name] : undefined
    if (argument === undefined || isMissing(parameter, argument)) {
      if (parameter.default !== undefined) values.set(name, parameter.default)
      else if (parameter.required) errors.push(explainMissing(parameter, argument))
      continue
    }
    if (meta.pattern !== undefined) {
      matchedSince ??= performance.now()
      if (performance.now() - matchedSince > MAX_PATTERNS_MS) return failure(TAKES_TOO_LONG)
    }
    const checked = check(argument, 'caller')
    if (checked.ok) values.set(name, checked.value)
    else errors.push(`"${name}" must be ${checked.error.expected}, and is ${checked.error.got}.`)
  }
  return errors.length === 0 ? success(values) : failure(truncateError(errors.join('\n')))
}

/** Why a request could not be built: the error for the caller, and how the call ends. */
type RenderFault = { message: string; callResult: CallResult }

/**
 * Builds the request for these arguments, or returns an error. Does not check the arguments against a schema.
 */
export const renderCall = (plan: CallPlan, args: JsonObject): Result<RenderedRequest, RenderFault> => {
  // The error is not masked, because masking would confirm a guessed secret. It contains only names and declarations.
  const { problem, exposed } = plan.resolution
  const values = resolveCall(plan.resolution, args)
  if (!values.ok) {
    return failure({ message: values.error, callResult: problem === undefined ? 'invalid_arguments' : 'failed' })
  }
  const rendered = plan.template.render(values.value)
  if (rendered.ok) return rendered
  const { parameter, message } = rendered.error
  const callResult = exposed.has(parameter) ? 'invalid_arguments' : 'failed'
  return failure({ message: `"${parameter}": ${message}`, callResult })
}

/** Returns why the arguments are refused. If they could not be checked, nothing is known about them. */
const refusalOf = ({ kind, message }: Exclude<SchemaCheckResult, { kind: 'match' }>): RenderFault =>
  kind === 'mismatch'
    ? { message: `Wrong arguments: ${message}.`, callResult: 'invalid_arguments' }
    : { message: `The arguments could not be checked: ${message}.`, callResult: 'failed' }

type Received = { args: JsonObject; request: RenderedRequest; response: OutboundResponse }

/** Shapes a response, and finds out how to get the next page. If that fails, the call has still worked. */
const shapeReceived = async (
  plan: CallPlan,
  { args, request, response }: Received,
  signal: StopSignal | undefined,
  onInternalError: (error: unknown) => void,
): Promise<FreshResult> => {
  const { masker, outputTrim, shaping } = plan
  const shaped =
    shaping === undefined
      ? await shapeResponse(response, masker, outputTrim, signal)
      : await shapeByRules(response, masker, outputTrim, shaping, signal)
  const render = (others: JsonObject): RenderedRequest | undefined => {
    const rendered = renderCall(plan, others)
    return rendered.ok ? rendered.value : undefined
  }
  const nextPage = isErrorResult(shaped.result)
    ? undefined
    : await findNextPage({ plan, args, request, render }, response).catch(onInternalError)
  return { ...shaped, response, ...(nextPage !== undefined && { nextPage }) }
}

/** What is known about a result besides its content. */
type Remarks = Pick<FreshResult, 'schemaMismatch' | 'nextPage'>

/**
 * Runs a tool: gets the plan, resolves the arguments, renders and sends the request, and shapes the result. Never
 * throws. `onInternalError` receives unexpected errors, including those thrown by `getPlan`. `releases` free the memory
 * of the response; without them, it counts as free once the call is performed.
 */
export const performCall = async (
  getPlan: () => CallPlan,
  http: HttpClient,
  args: JsonObject,
  signal: StopSignal | undefined,
  onInternalError: (error: unknown) => void,
  cachedSend?: CachedSend | undefined,
  releases?: Pick<Releases, 'add'> | undefined,
): Promise<PerformedCall> => {
  const timer = new CallTimer()
  let plan: CallPlan | undefined
  let request: RenderedRequest | undefined
  let response: OutboundResponse | undefined
  let cached: CachedResult | undefined
  const own = releases === undefined ? createReleases() : undefined
  const end = (
    result: ToolResult,
    callResult: CallResult,
    { schemaMismatch, nextPage }: Remarks = {},
  ): PerformedCall => ({
    result,
    callResult,
    request,
    response,
    cached,
    schemaMismatch,
    nextPage,
    startedAt: timer.startedAt,
    durationMs: timer.end(),
    timing: timer.timing(),
    attempts: timer.attempts(),
  })
  try {
    plan = getPlan()
    const checked = plan.inputCheck && (await plan.inputCheck(args, signal))
    if (checked !== undefined && checked.kind !== 'match') {
      const { message, callResult } = refusalOf(checked)
      return end(errorResult(truncateError(message)), callResult)
    }
    const prepared = renderCall(plan, args)
    if (!prepared.ok) return end(errorResult(prepared.error.message), prepared.error.callResult)
    const rendered = prepared.value
    request = rendered
    timer.noteResolved()
    const { organizationId, timeoutMs, retries, maxResponseBytes, mayReach, credentials, masker } = plan
    const called = plan
    const send = async (stop: StopSignal | undefined) => {
      const received = await http.send({
        ...rendered,
        organizationId,
        timeoutMs,
        retries,
        maxResponseBytes,
        mayReach,
        credentials,
        mask: masker.isEmpty ? undefined : masker.text,
        signal: stop,
        releases: releases ?? own,
        trace: timer.trace,
      })
      timer.noteReceived()
      // Assigned before shaping, so that the history records the response even if shaping fails.
      response = received
      return shapeReceived(called, { args, request: rendered, response: received }, stop, onInternalError)
    }
    const sent = await (cachedSend === undefined ? send(signal) : cachedSend(rendered, signal, send))
    if (isCached(sent)) cached = sent
    const callResult = isErrorResult(sent.result) ? resultOfErrorStatus(response?.status) : 'success'
    return end(sent.result, callResult, sent)
  } catch (error) {
    if (plan !== undefined && error instanceof OutboundError) {
      return end(errorResult(plan.masker.text(`The request failed: ${error.message}.`)), resultOfFault(error.fault))
    }
    if (error instanceof MaskingError) return end(errorResult(error.message), 'failed')
    onInternalError(error)
    return end(errorResult(INTERNAL_FAULT), 'failed')
  } finally {
    own?.end()
  }
}
