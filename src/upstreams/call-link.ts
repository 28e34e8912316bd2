import type { JsonObject } from '../kernel/index.ts'

/** RFC 5424, as MCP names them: each is worth more than those before it. */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const findLogLevel = (level: unknown): LogLevel | undefined => LOG_LEVELS.find(known => known === level)

/** Whether a message of one level is to be told to somebody who has asked for those of another and above. */
export const isLevelWanted = (level: unknown, wanted: LogLevel): boolean => {
  const known = findLogLevel(level)
  return known !== undefined && LOG_LEVELS.indexOf(known) >= LOG_LEVELS.indexOf(wanted)
}

/** The client behind a request, for what an upstream has to say to it meanwhile. Once that is answered it is not used. */
export type CallLink = {
  /** Whose request it is: the same object for all that one client has under way. */
  origin: object
  /** Takes the params of `notifications/progress` without the token; left out where the client has asked for none. */
  onProgress?: ((params: JsonObject) => void) | undefined
  /** Takes the params of `notifications/message`; it chooses by level itself. */
  onLog?: ((params: JsonObject) => void) | undefined
  /** From which level on the client wants log messages; undefined where it never said. */
  logLevel?: LogLevel | undefined
}
