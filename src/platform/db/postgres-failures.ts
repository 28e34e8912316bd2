import { AppError } from '../../kernel/index.ts'
import { driverFaultOf } from './failures.ts'

/** Faults of the way to the server, as the adapter names them. */
const UNREACHABLE = new Set([
  'AuthenticationFailed',
  'ConnectionClosed',
  'DatabaseAccessDenied',
  'DatabaseDoesNotExist',
  'DatabaseNotReachable',
  'SocketTimeout',
  'TlsConnectionError',
  'TooManyConnections',
])
const DISK_FULL = '53100'
/** Connection exceptions, resources, operator intervention, read-only (a standby): PostgreSQL, appendix A. */
const UNAVAILABLE_CODES = /^(08|53|57P|25006)/
/** What `pg` itself says when a connection breaks, or none comes free; it gives these no code. */
const BROKEN_CONNECTION = /connection (terminated|error|ended)|timeout exceeded when trying to connect|not queryable/i

/** What is wrong with the server or the way to it, or the error itself when it is about the statement. */
export const toPostgresFailure = (error: unknown): unknown => {
  const fault = driverFaultOf(error)
  const options = { cause: error }
  if (fault?.code === DISK_FULL) {
    return new AppError('storage_full', 'the disk that holds the PostgreSQL database is full', options)
  }
  const isGone = fault
    ? UNREACHABLE.has(fault.kind) || UNAVAILABLE_CODES.test(fault.code)
    : error instanceof Error && BROKEN_CONNECTION.test(error.message)
  if (!isGone) return error
  const why = fault ? fault.message || fault.kind : String(error)
  return new AppError('unavailable', `PostgreSQL cannot be used: ${why}`, { ...options, retryAfterSeconds: 1 })
}
