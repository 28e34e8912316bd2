import { type Exchange, writeHead } from './exchange.ts'
import type { OriginPolicy } from './origin.ts'

const ALLOWED_METHODS = 'GET, POST, DELETE'
/** Parameters may be repeated in headers of their own names, so what is asked for is granted. */
const HEADER_LIST = /^[A-Za-z0-9!#$%&'*+\-.^_`|~, ]{1,2000}$/
const MAX_AGE_SECONDS = '600'

/** Answers what a browser asks before it lets a page call (fetch standard, "CORS-preflight request"). */
export const answerPreflight = (exchange: Exchange, origins: OriginPolicy): void => {
  const { headers, raw } = exchange
  if (!origins.isHostAllowed(headers.host) || !origins.isOriginAllowed(headers.origin)) {
    raw.writeHead(403, ['content-length', '0'])
    raw.end()
    return
  }
  const wanted = headers['access-control-request-headers']
  const fields = ['access-control-allow-methods', ALLOWED_METHODS, 'access-control-max-age', MAX_AGE_SECONDS]
  if (wanted !== undefined && HEADER_LIST.test(wanted)) fields.push('access-control-allow-headers', wanted)
  writeHead(exchange, 204, fields)
  raw.end()
}
