import type { z } from 'zod'
import { formatNumber } from '../../lib/http/pages/format.ts'
import { listNames, quoteName } from '../../runtime/call/group-texts.ts'

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  array: 'a list of texts',
  object: 'an object',
  boolean: 'true or false',
  number: 'a whole number',
  int: 'a whole number',
}

const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item' }

const bound = (origin: string, which: string, limit: number | bigint): string => {
  const count = `${which} ${formatNumber(Number(limit))}`
  const unit = UNITS[origin]
  return unit === undefined ? `must be ${count}` : `must have ${count} ${unit}${Number(limit) === 1 ? '' : 's'}`
}

const describe = (issue: z.core.$ZodIssue): string => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${KINDS[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`
    case 'too_small':
      return bound(issue.origin, 'at least', issue.minimum)
    case 'too_big':
      return bound(issue.origin, 'at most', issue.maximum)
    default:
      return `is wrong: ${issue.message}`
  }
}

/** Returns a sentence for each wrong argument, for the model that sent them. `issues` must include the input. */
export const explainArguments = (issues: readonly z.core.$ZodIssue[], known: readonly string[]): string =>
  issues
    .map(issue => {
      if (issue.code !== 'unrecognized_keys') return `"${issue.path.join('.')}" ${describe(issue)}.`
      return `There is no parameter ${issue.keys.map(quoteName).join(', ')}. ${listNames('The parameters', known)}`
    })
    .join(' ')
