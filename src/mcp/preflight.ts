import { type HttpExchange, writeHead } from './http-exchange.ts'

const ALLOWED_METHODS = 'GET, POST, DELETE'
/** Methods allowed on the paths below a passthrough server. */
export const ALL_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
/** Tools may declare parameter headers with any name, so every requested header is allowed. */
const HEADER_LIST = /^[A-Za-z0-9!#$%&'*+\-.^_`|~, ]{1,2000}$/
const MAX_AGE_SECONDS = '600'

/** Whether this is a browser's CORS preflight request (Fetch standard, "CORS-preflight request"). */
export const isPreflight = ({ headers }: HttpExchange): boolean =>
  headers.origin !== undefined && headers['access-control-request-method'] !== undefined

/** Allows a CORS preflight request, whose origin has been checked (Fetch standard, "CORS-preflight request"). */
export const sendPreflightResponse = (http: HttpExchange, methods = ALLOWED_METHODS): void => {
  const wanted = http.headers['access-control-request-headers']
  const fields = ['access-control-allow-methods', methods, 'access-control-max-age', MAX_AGE_SECONDS]
  if (wanted !== undefined && HEADER_LIST.test(wanted)) fields.push('access-control-allow-headers', wanted)
  writeHead(http, 204, fields)
  http.raw.end()
}
