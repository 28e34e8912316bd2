import { LOG_LEVELS, type LogLevel } from '../connection/call-link.ts'
import type { UpstreamClient } from '../connection/open-connection.ts'

/** The level that each connection of the older era was set to. */
const currentLevel = new WeakMap<UpstreamClient, LogLevel>()

/** Short, because the call waits for it. */
const SET_LEVEL_TIMEOUT_MS = 2_000

/**
 * Sets the log level of an upstream of the older era. All clients share the connection's level, so it is only ever
 * lowered, and each client filters. A level that the upstream rejects is not requested again.
 */
export const lowerLogLevel = async (client: UpstreamClient, level: LogLevel | undefined): Promise<void> => {
  if (level === undefined || client.getProtocolEra() !== 'legacy') return
  if (client.getServerCapabilities()?.logging === undefined) return
  const before = currentLevel.get(client)
  if (before !== undefined && LOG_LEVELS.indexOf(before) <= LOG_LEVELS.indexOf(level)) return
  currentLevel.set(client, level)
  await client.setLoggingLevel(level, { timeout: SET_LEVEL_TIMEOUT_MS }).catch(() => {})
}
