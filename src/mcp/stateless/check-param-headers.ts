import type { IncomingHttpHeaders } from 'node:http'
import type { JsonObject } from '../../lib/kernel/json.ts'
import { argumentAt, type ParamHeader } from '../../lib/kernel/param-headers.ts'
import { decodeHeaderText, headerMismatch, headerOf, invalidBase64 } from '../headers.ts'
import type { Refusal } from '../rpc-response.ts'

const DECIMAL = /^-?\d+(\.\d+)?$/

/**
 * Checks that each parameter with a declared header has the same value in that header. Ignores the headers of
 * parameters without a value.
 */
export const checkParamHeaders = (
  declared: readonly ParamHeader[],
  args: JsonObject,
  headers: IncomingHttpHeaders,
): Refusal | undefined => {
  for (const { path, header, isNumeric } of declared) {
    const value = argumentAt(args, path)
    if (value === undefined || value === null || typeof value === 'object') continue
    const given = headerOf(headers, header)
    if (given === undefined) return headerMismatch(header, '(missing)', String(value))
    const decoded = decodeHeaderText(given)
    if (decoded === undefined) return invalidBase64(header, given)
    const isEqual =
      isNumeric && typeof value === 'number' && DECIMAL.test(decoded)
        ? Number(decoded) === value
        : decoded === String(value)
    if (!isEqual) return headerMismatch(header, given, String(value))
  }
  return undefined
}
