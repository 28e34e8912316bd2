import type { IncomingHttpHeaders } from 'node:http'
import { argumentAt, type JsonValue, type ParamHeader } from '../kernel/index.ts'
import type { Refusal } from './answer.ts'
import { decodeHeaderText, headerMismatch, headerOf } from './headers.ts'

const DECIMAL = /^-?\d+(\.\d+)?$/

/** What is given must be repeated, and equal; what is not given is not looked for. */
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
    if (decoded === undefined) return headerMismatch(header, given, 'it is no valid Base64')
    const isEqual =
      isNumeric && typeof value === 'number' && DECIMAL.test(decoded)
        ? Number(decoded) === value
        : decoded === String(value)
    if (!isEqual) return headerMismatch(header, given, String(value))
  }
  return undefined
}
