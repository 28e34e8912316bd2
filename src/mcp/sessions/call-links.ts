import type { JsonObject } from '../kernel/index.ts'
import { type CallLink, isLevelWanted, type LogLevel } from '../upstreams/index.ts'
import type { Call } from './call.ts'
import { isRequestId, metaOf, type RequestMessage } from './message.ts'

const notification = (method: string, params: JsonObject): string => JSON.stringify({ jsonrpc: '2.0', method, params })

/** A log message as it goes to a client. */
export const logNotice = (params: JsonObject): string => notification('notifications/message', params)

/** What of `_meta` is between the client and us. */
const isOurs = (key: string): boolean =>
  key === 'progressToken' ||
  key === 'group' ||
  key.startsWith('io.modelcontextprotocol/') ||
  key.startsWith('patchbay/')

/** What the client says in `_meta` for whoever answers it, such as the trace that its request is part of. */
const passedMeta = (meta: JsonObject | undefined): JsonObject | undefined => {
  const passed = Object.entries(meta ?? {}).filter(([key]) => !isOurs(key))
  return passed.length === 0 ? undefined : Object.fromEntries(passed)
}

/**
 * The way from an upstream to the client of a request: what is said meanwhile goes out before the answer, if the transport
 * can carry it. `origin`: whose request it is; `logLevel`: what it asked for, or `none` where it wants no log messages.
 */
export const createCallLink = (
  { params }: RequestMessage,
  call: Call,
  origin: object,
  logLevel: LogLevel | 'none' | undefined,
): CallLink => {
  const meta = metaOf(params)
  const progressToken = meta?.progressToken
  const level = logLevel === 'none' ? undefined : logLevel
  return {
    origin,
    meta: passedMeta(meta),
    logLevel: level,
    onProgress: isRequestId(progressToken)
      ? step => call.say?.(notification('notifications/progress', { progressToken, ...step }))
      : undefined,
    onLog:
      logLevel === 'none'
        ? undefined
        : message => {
            if (level === undefined || isLevelWanted(message.level, level)) call.say?.(logNotice(message))
          },
  }
}
