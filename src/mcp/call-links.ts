import type { JsonObject } from '../kernel/index.ts'
import { type CallLink, isLevelWanted, type LogLevel } from '../upstreams/index.ts'
import type { Call } from './call.ts'
import { isRequestId, metaOf, type RequestMessage } from './message.ts'

const notification = (method: string, params: JsonObject): string => JSON.stringify({ jsonrpc: '2.0', method, params })

/** A log message as it goes to a client. */
export const logNotice = (params: JsonObject): string => notification('notifications/message', params)

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
  const progressToken = metaOf(params)?.progressToken
  const level = logLevel === 'none' ? undefined : logLevel
  return {
    origin,
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
