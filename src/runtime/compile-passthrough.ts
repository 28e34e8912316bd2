import { newExecutionId, type Recorder } from '../history/index.ts'
import type { Result } from '../kernel/index.ts'
import type { PassthroughWay } from '../upstreams/index.ts'
import type { CompiledPassthrough, Passage } from './compiled-passthrough.ts'
import { createMasker } from './masking.ts'
import { ERROR_CHARACTERS, toMicroseconds } from './perform-call.ts'
import { shortenRequest } from './shorten-request.ts'

/** As clients say of themselves in history. */
const CLIENT_CHARACTERS = 200
/** No tool is called: the request says what was asked. */
const NO_TOOL = ''

const isFailure = ({ status, error }: Passage): boolean =>
  error !== undefined || (status !== undefined && status >= 400)

export const compilePassthrough = (
  serverId: string,
  way: Result<PassthroughWay, string>,
  recorder: Pick<Recorder, 'record'>,
): CompiledPassthrough => {
  const masker = createMasker(way.ok ? way.value.secrets : [])
  return {
    way,
    holdsSecret: text => masker.text(text) !== text,
    record: passage => {
      const { method, url, caller, client, startedAt, durationMs, status, requestBytes, responseBytes, error } = passage
      recorder.record({
        id: newExecutionId(),
        serverId,
        instanceId: undefined,
        tool: NO_TOOL,
        userId: caller?.userId,
        client: client?.slice(0, CLIENT_CHARACTERS),
        startedAt,
        durationMs: toMicroseconds(durationMs),
        outcome: isFailure(passage) ? 'error' : 'ok',
        status,
        requestBytes,
        responseBytes,
        error: error && masker.text(error).slice(0, ERROR_CHARACTERS),
        request: shortenRequest({ method, url: masker.text(url), headers: [], body: undefined }),
      })
    },
  }
}
