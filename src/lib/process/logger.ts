import { destination, type Logger, pino } from 'pino'

export type { Logger } from 'pino'

/** Names whose values are never written, wherever they stand in the first three levels of a log line. */
const SECRET_NAMES = [
  'authorization',
  'cookie',
  'set-cookie',
  'password',
  'token',
  'secret',
  'masterKey',
  'setupToken',
  'csrfToken',
]
const REDACTED_PATHS = SECRET_NAMES.flatMap(name => {
  const key = `["${name}"]`
  return [key.slice(1, -1).includes('-') ? key : name, `*${key}`, `*.*${key}`]
})

/** Standard error, where standard output belongs to somebody else. */
const STDERR = 2

/** One JSON line an event; control characters are escaped by JSON itself. */
export const createLogger = (level: string, output: 'stdout' | 'stderr' = 'stdout'): Logger => {
  const options = { level, base: null, redact: { paths: REDACTED_PATHS, censor: '…' } }
  return output === 'stdout' ? pino(options) : pino(options, destination({ dest: STDERR, sync: true }))
}
