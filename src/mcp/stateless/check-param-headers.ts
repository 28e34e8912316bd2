import type { IncomingHttpHeaders } from 'node:http'
import type { JsonValue } from '../../lib/kernel/json.ts'
import { argumentAt, type ParamHeader } from '../../lib/kernel/param-headers.ts'
import { decodeHeaderText, headerMismatch, headerOf } from '../headers.ts'
import type { Refusal } from '../rpc-response.ts'

const DECIMAL = /^-?\d+(\.\d+)?$/

/**
 * Checks that every given parameter with a header is repeated there. Headers of parameters that are not given are
 * ignored.
 */
export const checkParamHeaders = (
  declared: readonly ParamHeader[],
  args: JsonValue | undefined,
  headers: IncomingHttpHeaders,
): Refusal | undefined => {
  for (const { path, header, isNumeric } of declared) {
    const value = argumentAt(args, path)
    if (value === undefined || value === null || typeof value === 'object') continue
    const given = headerOf(headers, header)
    if (given === undefined) return headerMismatch(header, '(missing)', String(value))
    const decoded = decodeHeaderText(given)
    if (decoded === undefined) return headerMismatch(header, given, 'it is not valid Base64')
    const isEqual =
      isNumeric && typeof value === 'number' && DECIMAL.test(decoded)
        ? Number(decoded) === value
        : decoded === String(value)
    if (!isEqual) return headerMismatch(header, given, String(value))
  }
  return undefined
}
