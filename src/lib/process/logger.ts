import { destination, type Logger, pino } from 'pino'

export type { Logger } from 'pino'

/** Fields to redact at the top level of a log entry and up to two levels below. */
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

/** File descriptor of standard error. */
const STDERR = 2

/** Creates a logger that writes one JSON line per event. */
export const createLogger = (level: string, output: 'stdout' | 'stderr' = 'stdout'): Logger => {
  const options = { level, base: null, redact: { paths: REDACTED_PATHS, censor: '…' } }
  return output === 'stdout' ? pino(options) : pino(options, destination({ dest: STDERR, sync: true }))
}
