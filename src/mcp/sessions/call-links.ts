import type { JsonObject } from '../../lib/kernel/json.ts'
import { type CallLink, isLevelWanted, type LogLevel } from '../../upstreams/connection/call-link.ts'
import type { ClientChannel } from '../client-channel.ts'
import { isRequestId, metaOf, type RequestMessage } from '../message.ts'
import { notification } from '../protocol.ts'

/** Builds a log message notification. */
export const logNotice = (params: JsonObject): string => notification('notifications/message', params)

/** Returns whether a key of `_meta` is meant for Patchbay and is not passed to upstreams. */
const isOurs = (key: string): boolean =>
  key === 'progressToken' ||
  key === 'group' ||
  key.startsWith('io.modelcontextprotocol/') ||
  key.startsWith('patchbay/')

/** Returns the part of the client's `_meta` that is for the upstream, such as trace ids. */
const passedMeta = (meta: JsonObject | undefined): JsonObject | undefined => {
  const passed = Object.entries(meta ?? {}).filter(([key]) => !isOurs(key))
  return passed.length === 0 ? undefined : Object.fromEntries(passed)
}

/**
 * Creates the link over which an upstream can send messages to a request's client before the response, if the transport
 * allows it. `origin` identifies the requester. `logLevel` is the level that the client requested, or `none` for no log
 * messages.
 */
export const createCallLink = (
  { params }: RequestMessage,
  channel: ClientChannel,
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
      ? step => channel.send(notification('notifications/progress', { progressToken, ...step }))
      : undefined,
    onLog:
      logLevel === 'none'
        ? undefined
        : message => {
            if (level === undefined || isLevelWanted(message.level, level)) channel.send(logNotice(message))
          },
  }
}
