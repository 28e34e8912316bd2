import { newExecutionId, type Recorder } from '../history/index.ts'
import type { Result } from '../kernel/index.ts'
import type { Caller } from '../servers/index.ts'
import type { PassthroughWay } from '../upstreams/index.ts'
import { createMasker } from './masking.ts'
import { ERROR_CHARACTERS, toMicroseconds } from './perform-call.ts'
import { shortenRequest } from './shorten-request.ts'

/** One request that was passed on, or was to be. */
export type Passage = {
  method: string
  /** As the caller asked for it, without a query: that may hold what nobody else is to read. */
  url: string
  caller: Caller
  /** As it calls itself. */
  client: string | undefined
  startedAt: Date
  durationMs: number
  /** Of the upstream's answer, where one came. */
  status: number | undefined
  requestBytes: number
  responseBytes: number
  /** What the caller was told instead of an answer. */
  error: string | undefined
}

/** A server whose requests go to its one upstream as they are. */
export type CompiledPassthrough = {
  /** How they get there; the error says what the server lacks for that. */
  way: Result<PassthroughWay, string>
  /** Whether a text holds a secret of the upstream's configuration. */
  holdsSecret: (text: string) => boolean
  record: (passage: Passage) => void
}

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
