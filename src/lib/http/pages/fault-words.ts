import type { z } from 'zod'
import { formatNumber } from '../../kernel/format.ts'

const FORMATS: ReadonlyMap<string, string> = new Map([
  ['uuid', 'does not exist'],
  ['email', 'must look like name@example.com'],
  ['url', 'is not a URL'],
  ['date', 'must be a date such as 2027-01-31'],
  ['datetime', 'must be a time such as 2027-01-31T12:00:00Z'],
])

const isText = (origin: string): boolean => origin === 'string'
const isNumber = (origin: string): boolean => ['number', 'int', 'bigint'].includes(origin)

/**
 * Describes an issue that has no custom message. The text completes a sentence that begins with the field's name.
 * Returns undefined if zod's message is good enough.
 */
export const faultInWords = (issue: z.core.$ZodRawIssue): string | undefined => {
  switch (issue.code) {
    case 'too_big': {
      const most = formatNumber(Number(issue.maximum))
      if (isText(issue.origin)) return `is longer than ${most} characters`
      return isNumber(issue.origin) ? `is more than ${most}` : `lists more than ${most} values`
    }
    case 'too_small': {
      const least = formatNumber(Number(issue.minimum))
      if (isNumber(issue.origin)) return `is less than ${least}`
      if (Number(issue.minimum) === 1) return 'is empty'
      return isText(issue.origin) ? `is shorter than ${least} characters` : `lists fewer than ${least} values`
    }
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`
    case 'invalid_format':
      return FORMATS.get(issue.format)
    case 'invalid_type':
      if (issue.input === undefined) return 'is missing'
      return isNumber(issue.expected) ? 'is not a number' : undefined
    default:
      return undefined
  }
}
