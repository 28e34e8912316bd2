import type { Recorder } from '../history/execution-record.ts'
import type { AdmittedCall, CallAdmission } from '../limits/call-admission.ts'
import { explainRefusal, toStoredAmount } from '../limits/limit.ts'
import type { Masker } from '../results/mask/masking.ts'
import { recordCall } from '../results/mask/record-call.ts'
import type { ArgumentsToRecord } from '../results/mask/recorded-arguments.ts'
import { tokenIdOf } from '../servers/access/access.ts'
import type { CallContext, CompiledTool, ToolOutcome } from './call/compiled-tool.ts'
import { errorResult, type ToolResult } from './call/tool-result.ts'

/** The tool of a call, for the limits and for the history. */
export type LimitedTool = {
  organizationId: string
  serverId: string
  name: string
  toolId: string
  instanceId: string | undefined
  /** In the currency of the organization. */
  callPrice: number | undefined
  isSecret: ArgumentsToRecord['isSecret']
}

export type LimitedCallParts = {
  callAdmission: Pick<CallAdmission, 'admit'>
  recorder: Pick<Recorder, 'record'>
  masker: Masker
}

type Call<R extends ToolOutcome> = (...call: Parameters<CompiledTool['call']>) => Promise<R>

const admitCall = (
  { organizationId, serverId, toolId, callPrice = 0 }: LimitedTool,
  { caller }: CallContext,
  { callAdmission }: LimitedCallParts,
) =>
  callAdmission.admit({
    organizationId,
    serverId,
    toolId,
    userId: caller?.userId,
    tokenId: tokenIdOf(caller),
    price: toStoredAmount('money', callPrice),
  })

/** Records a call that was not made because a limit is reached. */
const refuseCall = (
  { serverId, instanceId, name, isSecret }: LimitedTool,
  values: Parameters<CompiledTool['call']>[0],
  { caller, client, requestId }: CallContext,
  { recorder, masker }: LimitedCallParts,
  error: string,
): ToolOutcome<ToolResult> => {
  recordCall(recorder, masker, {
    serverId,
    ...(instanceId !== undefined && { instanceId }),
    tool: name,
    caller,
    client,
    requestId,
    startedAt: new Date(),
    durationMs: 0,
    result: 'blocked',
    status: undefined,
    requestBytes: 0,
    responseBytes: 0,
    error,
    request: undefined,
    cached: undefined,
    schemaMismatch: undefined,
    arguments: { values, isSecret },
  })
  return { result: errorResult(error) }
}

const withTokens = <R extends ToolOutcome>(outcome: R, { countTokens }: AdmittedCall): R =>
  countTokens === undefined || outcome.cost === undefined
    ? outcome
    : { ...outcome, cost: { ...outcome.cost, countTokens } }

/** Wraps the call of a tool with the limits of its organization. Without a limit, it costs one look-up. */
export const limitCalls = <R extends ToolOutcome>(
  tool: LimitedTool,
  call: Call<R>,
  parts: LimitedCallParts,
): Call<R | ToolOutcome<ToolResult>> => {
  return (args, context) => {
    const admitting = admitCall(tool, context, parts)
    if (admitting === undefined) return call(args, context)
    return admitting.then(async admission =>
      'refusal' in admission
        ? refuseCall(tool, args, context, parts, explainRefusal(admission.refusal))
        : withTokens(await call(args, context), admission),
    )
  }
}
