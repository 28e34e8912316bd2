import { type CallResult, resultOfErrorStatus } from '../history/call-result.ts'
import type { Recorder } from '../history/execution-record.ts'
import type { Result } from '../lib/kernel/result.ts'
import type { PassthroughRoute } from '../passthrough/route/passthroughs.ts'
import { createMasker } from '../results/mask/masking.ts'
import { recordCall } from '../results/mask/record-call.ts'
import type { CompiledPassthrough, PassageRecord } from './call/compiled-passthrough.ts'

const CLIENT_CHARACTERS = 200
/** Recorded as the tool name, because a passthrough request has no tool. The history shows the request instead. */
const NO_TOOL = ''

const resultOf = ({ status, callResult }: PassageRecord): CallResult =>
  callResult ?? (status === undefined || status >= 400 ? resultOfErrorStatus(status) : 'success')

export const compilePassthrough = (
  serverId: string,
  route: Result<PassthroughRoute, string>,
  recorder: Pick<Recorder, 'record'>,
): CompiledPassthrough => {
  const masker = createMasker(route.ok ? route.value.secrets : [])
  return {
    route,
    holdsSecret: text => masker.text(text) !== text,
    record: passage => {
      const { method, url, client, error, callResult: _, ...rest } = passage
      recordCall(recorder, masker, {
        ...rest,
        serverId,
        tool: NO_TOOL,
        client: client?.slice(0, CLIENT_CHARACTERS),
        result: resultOf(passage),
        error: error && masker.text(error),
        request: { method, url, headers: [], body: undefined },
      })
    },
  }
}
