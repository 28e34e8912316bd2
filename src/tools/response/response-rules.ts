import { z } from 'zod'
import type { FieldError } from '../../lib/kernel/errors.ts'
import { wholeNumberRule } from '../../lib/kernel/whole-number.ts'
import { findExpressionFault } from './expression-faults.ts'
import { parseFieldPath } from './field-path.ts'
import {
  LANGUAGE_NAMES,
  MAX_DROPPED_PATHS,
  MAX_EXPRESSION_CHARACTERS,
  MAX_PATH_CHARACTERS,
  MAX_STRING_LENGTH,
  MIN_STRING_LENGTH,
  type ResultShaping,
  TRANSFORM_LANGUAGES,
} from './result-shaping.ts'

const LENGTH_RULE = wholeNumberRule('characters', MIN_STRING_LENGTH, MAX_STRING_LENGTH)

/** Result shaping in API requests. The expression and the paths are checked when the tool is saved. */
export const ResponseRules = z
  .strictObject({
    htmlToMarkdown: z
      .boolean()
      .optional()
      .describe('whether HTML pages, and JSON strings that contain HTML, are converted to Markdown'),
    dropFields: z
      .array(z.string().min(1).max(MAX_PATH_CHARACTERS))
      .max(MAX_DROPPED_PATHS)
      .optional()
      .describe('paths of fields to remove, such as items[].links, *.html or **._meta'),
    transform: z
      .strictObject({
        language: z.enum(TRANSFORM_LANGUAGES, 'must be jsonata or jmespath'),
        expression: z
          .string()
          .min(1, 'is empty')
          .max(MAX_EXPRESSION_CHARACTERS, `is longer than ${MAX_EXPRESSION_CHARACTERS} characters`),
      })
      .optional()
      .describe(
        "transforms the JSON result; runs in a sandbox with limits on time and memory, and sees only the result's JSON",
      ),
    maxStringLength: z
      .int(LENGTH_RULE)
      .min(MIN_STRING_LENGTH, LENGTH_RULE)
      .max(MAX_STRING_LENGTH, LENGTH_RULE)
      .optional()
      .describe('longest string in characters; longer ones are cut'),
  })
  .describe('changes made to results before they are sent, in this order')

/** Result shaping as stored. Parsed when read, so that an invalid row fails at that point. */
export const StoredResponse = z.object({
  htmlToMarkdown: z.boolean().optional(),
  dropFields: z.array(z.string()).optional(),
  transform: z.object({ language: z.enum(TRANSFORM_LANGUAGES), expression: z.string() }).optional(),
  maxStringLength: z.int().optional(),
})

const transformErrors = ({ transform }: ResultShaping, at: string): FieldError[] => {
  if (transform === undefined) return []
  const path = `${at}.transform.expression`
  const { language, expression } = transform
  if (expression.length > MAX_EXPRESSION_CHARACTERS) {
    return [{ path, message: `is longer than ${MAX_EXPRESSION_CHARACTERS} characters` }]
  }
  const fault = findExpressionFault(language, expression)
  if (fault === undefined) return []
  const { line, column, message } = fault
  const text = `line ${line}, column ${column}: not valid ${LANGUAGE_NAMES[language]}: ${message}`
  return [{ path, message: text }]
}

/** Returns the errors in the expression and the paths. Prefixes each error's path with `at`. */
export const responseErrors = (response: ResultShaping | undefined, at = 'response'): FieldError[] => {
  if (response === undefined) return []
  const paths = (response.dropFields ?? []).slice(0, MAX_DROPPED_PATHS).flatMap((text, index) => {
    const read = parseFieldPath(text)
    if (read.ok) return []
    const { column, message } = read.error
    return [{ path: `${at}.dropFields[${index}]`, message: `column ${column}: ${message}` }]
  })
  return [...paths, ...transformErrors(response, at)]
}
