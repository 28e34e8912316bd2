import type { Recorder } from '../history/execution-record.ts'
import type { HttpClient } from '../lib/outbound/outbound-request.ts'
import type { CallAdmission } from '../limits/call-admission.ts'
import type { ResponseCache } from '../results/cache/response-cache.ts'
import type { Masker } from '../results/mask/masking.ts'
import { type CallToRecord, recordCall } from '../results/mask/record-call.ts'
import type { ArgumentsToRecord } from '../results/mask/recorded-arguments.ts'
import { toRecordedBodies } from '../results/mask/recorded-bodies.ts'
import { decodeText, utf8Of } from '../results/shape/shape.ts'
import { isShaped, type ShapingContext } from '../results/shape/shape-by-rules.ts'
import { bindingOf } from '../servers/bindings/bindings.ts'
import { exposedSchemaOf } from '../servers/bindings/exposed-schema.ts'
import type { Instance } from '../servers/server.ts'
import { lintExposedSecrets } from '../tools/lint/exposed-secrets.ts'
import { lintRequest } from '../tools/lint/request.ts'
import { lintUnboundDefaults } from '../tools/lint/unbound-defaults.ts'
import { toListedOutputSchema } from '../tools/schemas/listed-output-schema.ts'
import { isSecretArgument } from '../tools/secret-parameters.ts'
import { annotationsOf } from '../tools/tool-annotations.ts'
import type { CompiledDefinition } from '../tools/tool-definition.ts'
import { type CallCost, MAX_COUNTED_CHARACTERS } from './call/call-cost.ts'
import type { CompiledTool, ToolOutcome } from './call/compiled-tool.ts'
import { errorResult, findErrorText, isErrorResult, type ToolResult } from './call/tool-result.ts'
import { limitCalls } from './limited-call.ts'
import type { OpenedGlobals } from './opened-globals.ts'
import { type PerformedCall, performCall } from './perform-call.ts'
import { type CallLimits, lacksValue, planOnce } from './plan-call.ts'

export type ExecutionParts = {
  http: HttpClient
  recorder: Pick<Recorder, 'record'>
  limits: CallLimits
  responseCache: Pick<ResponseCache, 'ofTool' | 'ofUpstreamTool'>
  callAdmission: Pick<CallAdmission, 'admit'>
  onInternalError: (error: unknown) => void
}

/**
 * Returns the Content-Type of the API response. Returns undefined if the response has no body, because Patchbay then
 * writes the result text itself.
 */
const contentTypeOf = ({ response, cached }: PerformedCall): string | undefined => {
  if (response === undefined) return cached?.contentType
  const type = response.headers['content-type']
  return response.body.length > 0 && typeof type === 'string' ? type : undefined
}

/**
 * Returns the API response's text with secrets masked. The ledger uses it to compute what shaping saves. Returns
 * undefined for a cached result, which has no such text, and for an error, which is not shaped.
 */
const wholeOf = ({ response, result }: PerformedCall, masker: Masker): CallCost['whole'] => {
  if (response === undefined || isErrorResult(result)) return undefined
  return () => {
    const read = decodeText(response)
    if (read === undefined) return undefined
    const { text } = read
    const scale = Math.max(1, text.length / MAX_COUNTED_CHARACTERS)
    return { tokens: 0, texts: [masker.text(text.slice(0, MAX_COUNTED_CHARACTERS))], scale }
  }
}

/** Identifies a call in the history. */
type CallIdentity = Required<Pick<CallToRecord, 'serverId' | 'instanceId' | 'tool' | 'caller' | 'client' | 'requestId'>>

/** Returns what the history records for a call. */
export const describeOutcome = (
  {
    result,
    callResult,
    request,
    response,
    cached,
    schemaMismatch,
    startedAt,
    durationMs,
    timing,
    attempts,
  }: PerformedCall,
  { serverId, instanceId, tool, caller, client, requestId }: CallIdentity,
): CallToRecord => ({
  serverId,
  instanceId,
  tool,
  caller,
  client,
  requestId,
  startedAt,
  durationMs,
  request,
  cached,
  schemaMismatch,
  result: callResult,
  status: response?.status ?? cached?.status,
  requestBytes: request?.body === undefined ? 0 : Buffer.byteLength(request.body),
  responseBytes: response?.body.length ?? cached?.responseBytes ?? 0,
  error: findErrorText(result),
  timing,
  attempts,
})

/** Returns the bodies of a call. What was cached has no response. */
const bodiesOf = ({ request, response }: PerformedCall, masker: Masker, args: ArgumentsToRecord) =>
  toRecordedBodies(masker, { request: request?.body, response: response && utf8Of(response), arguments: args })

/** An HTTP tool, whose results are never refusals or upstream results. */
type HttpTool = Omit<CompiledTool, 'call'> & {
  call: (...call: Parameters<CompiledTool['call']>) => Promise<ToolOutcome<ToolResult>>
}

const explainDisabled = (name: string): string => `The tool "${name}" is disabled on this server.`

/** Compiles an instance. `call` does not keep the tool's descriptive members in memory. */
export const compileTool = (
  instance: Instance,
  compiled: CompiledDefinition,
  globals: OpenedGlobals,
  { http, recorder, limits, responseCache, callAdmission, onInternalError }: ExecutionParts,
  shapingContext: ShapingContext,
): HttpTool => {
  const { id: instanceId, serverId, name, isEnabled, tool, bindings } = instance
  const { masker, storesBodies } = globals
  const getPlan = planOnce(instance, globals, limits, shapingContext)
  const exposedSecrets = lintExposedSecrets(
    compiled.parameters,
    parameter => bindingOf(bindings, parameter).source === 'exposed',
  )
  const secretNames = new Set(exposedSecrets.map(({ parameter }) => parameter))
  const isSecret: ArgumentsToRecord['isSecret'] = (name, value) =>
    secretNames.has(name) || isSecretArgument(name, value)
  const unboundDefaults = lintUnboundDefaults(
    compiled.parameters,
    parameter => !Object.hasOwn(bindings, parameter) && !secretNames.has(parameter),
  )
  const findings = [...lintRequest(tool, tool.originId !== undefined), ...exposedSecrets, ...unboundDefaults]
  const mayBeShaped = isShaped(tool, shapingContext.compactTables)
  const cacheFor = responseCache.ofTool(
    instance,
    compiled,
    () => `${globals.version()} ${shapingContext.compactTables}`,
  )
  const limited = {
    organizationId: shapingContext.group,
    serverId,
    name,
    toolId: tool.id,
    instanceId,
    callPrice: tool.callPrice,
    isSecret,
  }
  const call: HttpTool['call'] = async (args, context) => {
    if (!isEnabled) return { result: errorResult(explainDisabled(name)) }
    const { caller, client, requestId, signal, releases } = context
    const outcome = await performCall(getPlan, http, args, signal, onInternalError, cacheFor?.(caller), releases)
    const described = describeOutcome(outcome, { serverId, instanceId, tool: name, caller, client, requestId })
    const given = { values: args, isSecret }
    const bodies = storesBodies ? await bodiesOf(outcome, masker, given) : undefined
    const id = recordCall(recorder, masker, { ...described, arguments: given, bodies })
    return {
      result: outcome.result,
      cost: {
        executionId: id,
        tool: { serverId, name },
        whole: mayBeShaped ? wholeOf(outcome, masker) : undefined,
        isMismatch: outcome.schemaMismatch !== undefined,
      },
      contentType: mayBeShaped ? undefined : contentTypeOf(outcome),
      nextPage: outcome.nextPage,
    }
  }
  return {
    name,
    title: tool.title,
    description: instance.description ?? tool.description,
    inputSchema: exposedSchemaOf(tool, compiled, bindings),
    outputSchema: tool.outputSchema && toListedOutputSchema(tool.outputSchema),
    annotations: annotationsOf(tool),
    isReadOnly: tool.annotations?.readOnlyHint === true,
    ...(findings.length > 0 && { findings }),
    ...((!isEnabled || lacksValue(compiled, bindings, globals)) && { isHidden: true }),
    call: limitCalls(limited, call, { callAdmission, recorder, masker }),
  }
}
