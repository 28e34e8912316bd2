import { isDoneWithin } from '../../lib/process/time-limit.ts'
import { loadJmespath, loadJsonata } from './expression-libraries.ts'
import type { TransformLanguage } from './result-shaping.ts'

/** Why and where parsing an expression fails. Lines and columns start at 1. */
export type ExpressionFault = { line: number; column: number; message: string }

const faultAt = (expression: string, offset: number, message: string): ExpressionFault => {
  const before = expression.slice(0, Math.max(0, offset)).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, message: onOneLine(message) }
}

const onOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, 300)

const textOf = (error: unknown, key: 'message' | 'token'): string => {
  const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, key) : undefined
  return typeof value === 'string' ? value : ''
}

const TOO_DEEP = 'it is nested too deeply'

const explain = (error: unknown): string => {
  const message = textOf(error, 'message')
  return message.startsWith('Maximum call stack') ? TOO_DEEP : message || 'cannot be read'
}

/** JSONata reports the position at which the unexpected token ends. */
const jsonataFault = (expression: string): ExpressionFault | undefined => {
  try {
    loadJsonata()(expression)
    return undefined
  } catch (error) {
    const position: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'position') : undefined
    const token = textOf(error, 'token')
    const isKnown = typeof position === 'number' && token !== '(end)'
    const offset = isKnown ? position - token.length : expression.length
    return faultAt(expression, offset, explain(error))
  }
}

/**
 * Returns the first index for which `holds` is true, or `count` if there is none. Assumes that `holds` is also true for
 * all later indexes.
 */
const findFirst = (count: number, holds: (index: number) => boolean): number => {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

const messageOf = (work: () => unknown): string | undefined => {
  try {
    work()
    return undefined
  } catch (error) {
    return explain(error)
  }
}

/** Returns whether the message says that the expression ends too early. */
const isTooShort = (message: string): boolean => message.includes('EOF')

/**
 * Finds the first token that cannot continue a valid expression, because the library does not report where the error
 * is.
 */
const jmespathFault = (expression: string): ExpressionFault | undefined => {
  const { compile, tokenize } = loadJmespath()
  const message = messageOf(() => compile(expression))
  if (message === undefined) return undefined
  if (message === TOO_DEEP) return faultAt(expression, 0, message)
  if (isTooShort(message)) return faultAt(expression, expression.length, 'it is incomplete')
  if (messageOf(() => tokenize(expression)) !== undefined) {
    const isUnreadable = (index: number) =>
      messageOf(() => tokenize(expression.slice(0, index + 1)))?.startsWith('Unknown character') === true
    const offset = findFirst(expression.length, isUnreadable)
    return faultAt(expression, offset === expression.length ? 0 : offset, message)
  }
  const tokens = tokenize(expression)
  const ends = tokens.map((_, index) => tokens[index + 1]?.start ?? expression.length)
  const isWrong = (index: number): boolean => {
    const found = messageOf(() => compile(expression.slice(0, ends[index])))
    return found !== undefined && !isTooShort(found)
  }
  return faultAt(expression, tokens[findFirst(tokens.length - 1, isWrong)]?.start ?? 0, message)
}

/** Time limit for parsing. A long path takes quadratic time. Ordinary expressions take a few milliseconds. */
const MAX_READ_MS = 250
const TOO_LONG: ExpressionFault = { line: 1, column: 1, message: 'it takes too long to parse; shorten it' }

/** Returns why an expression is invalid in its language, or undefined if it is valid. Does not evaluate it. */
export const findExpressionFault = (language: TransformLanguage, expression: string): ExpressionFault | undefined => {
  let fault: ExpressionFault | undefined
  // Load the library first, so that its load time does not count toward the limit.
  if (language === 'jsonata') loadJsonata()
  else loadJmespath()
  const isDone = isDoneWithin(MAX_READ_MS, () => {
    fault = language === 'jsonata' ? jsonataFault(expression) : jmespathFault(expression)
  })
  return isDone ? fault : TOO_LONG
}
