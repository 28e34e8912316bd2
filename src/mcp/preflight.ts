import { type Exchange, writeHead } from './exchange.ts'
import type { OriginPolicy } from './origin.ts'

const ALLOWED_METHODS = 'GET, POST, DELETE'
/** Of what may be below a server that passes its requests on. */
export const ALL_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
/** Parameters may be repeated in headers of their own names, so what is asked for is granted. */
const HEADER_LIST = /^[A-Za-z0-9!#$%&'*+\-.^_`|~, ]{1,2000}$/
const MAX_AGE_SECONDS = '600'

/** Whether a browser asks, in place of a page or a program (fetch standard, "CORS-preflight request"). */
export const isPreflight = ({ headers }: Exchange): boolean =>
  headers.origin !== undefined && headers['access-control-request-method'] !== undefined

/** Answers what a browser asks before it lets a page call (fetch standard, "CORS-preflight request"). */
export const answerPreflight = (exchange: Exchange, origins: OriginPolicy, methods = ALLOWED_METHODS): void => {
  const { headers, raw } = exchange
  if (!origins.isHostAllowed(headers.host) || !origins.isOriginAllowed(headers.origin)) {
    raw.writeHead(403, ['content-length', '0'])
    raw.end()
    return
  }
  const wanted = headers['access-control-request-headers']
  const fields = ['access-control-allow-methods', methods, 'access-control-max-age', MAX_AGE_SECONDS]
  if (wanted !== undefined && HEADER_LIST.test(wanted)) fields.push('access-control-allow-headers', wanted)
  writeHead(exchange, 204, fields)
  raw.end()
}
