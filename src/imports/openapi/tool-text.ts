import type { JsonObject } from '../../lib/kernel/json.ts'
import { MAX_TOOL_TEXT_CHARS } from '../limits.ts'
import type { OperationSource } from './imported-operation.ts'
import { toText } from './nodes.ts'
import { plainText } from './texts.ts'

const MAX_SUMMARY_CHARS = 200
const MAX_RETURNS_CHARS = 160
const MAX_TITLE_CHARS = 120
/** A response that is described in fewer words, such as "Successful operation", says nothing. */
const MIN_RETURNS_WORDS = 4

const withFullStop = (text: string): string => text.replace(/([^.!?…:])$/, '$1.')

const joinTexts = (summary: string, description: string): string => {
  const isRepeated = description.toLowerCase().startsWith(summary.toLowerCase().replace(/[.!]$/, ''))
  return isRepeated ? description : [withFullStop(summary), description].filter(text => text !== '').join(' ')
}

export const titleOf = (operation: JsonObject): string | undefined =>
  plainText(toText(operation.summary), MAX_TITLE_CHARS) || undefined

/**
 * Returns the description of a tool: summary and description of the operation, at most 700 characters, and what it
 * returns. `more` is a sentence to add.
 */
export const describeOperation = (
  { method, path }: Pick<OperationSource, 'method' | 'path'>,
  operation: JsonObject,
  response: JsonObject,
  more: string,
): string => {
  const summary = plainText(toText(operation.summary), MAX_SUMMARY_CHARS)
  const description = plainText(toText(operation.description), MAX_TOOL_TEXT_CHARS)
  const fallback = plainText(`Sends ${method} ${path}`, MAX_SUMMARY_CHARS)
  const text = plainText(joinTexts(summary, description), MAX_TOOL_TEXT_CHARS) || fallback
  const returns = plainText(toText(response.description), MAX_RETURNS_CHARS)
  const hasReturns = returns.split(' ').length >= MIN_RETURNS_WORDS && !text.includes(returns)
  const parts = [
    operation.deprecated === true ? 'Deprecated.' : '',
    withFullStop(text),
    hasReturns ? withFullStop(`Returns: ${returns}`) : '',
    more,
  ]
  return parts.filter(part => part !== '').join(' ')
}
