import { LOG_LEVELS, type LogLevel } from '../connection/call-link.ts'
import type { UpstreamClient } from '../connection/open-connection.ts'

/** What each connection of the older era was last asked for; a new connection has been asked for nothing. */
const asked = new WeakMap<UpstreamClient, LogLevel>()

/** How long it is waited for: a call does not hang on it. */
const SET_LEVEL_MS = 2_000

/**
 * Has an upstream of the older era send log messages from a level on. One connection has one level, so it only ever
 * goes down: whoever wants less leaves out what is below. What an upstream does not take is not asked for again.
 */
export const lowerLogLevel = async (client: UpstreamClient, level: LogLevel | undefined): Promise<void> => {
  if (level === undefined || client.getProtocolEra() !== 'legacy') return
  if (client.getServerCapabilities()?.logging === undefined) return
  const before = asked.get(client)
  if (before !== undefined && LOG_LEVELS.indexOf(before) <= LOG_LEVELS.indexOf(level)) return
  asked.set(client, level)
  await client.setLoggingLevel(level, { timeout: SET_LEVEL_MS }).catch(() => {})
}
