import { z } from 'zod'
import type { FieldError } from '../../lib/kernel/errors.ts'
import { wholeNumberRule } from '../../lib/kernel/whole-number.ts'
import {
  type AnswerShaping,
  LANGUAGE_NAMES,
  MAX_DROPPED_PATHS,
  MAX_EXPRESSION_CHARACTERS,
  MAX_PATH_CHARACTERS,
  MAX_STRING_LENGTH,
  MIN_STRING_LENGTH,
  TRANSFORM_LANGUAGES,
} from './answer-shaping.ts'
import { findExpressionFault } from './expression-faults.ts'
import { parseFieldPath } from './field-path.ts'

const LENGTH_RULE = wholeNumberRule('characters', MIN_STRING_LENGTH, MAX_STRING_LENGTH)

/** What a tool does with its answers, as the API takes it; the expression and the paths are read when it is saved. */
export const ResponseRules = z
  .strictObject({
    htmlToMarkdown: z
      .boolean()
      .optional()
      .describe('whether a page is sent as Markdown, and so each string of JSON that holds HTML'),
    dropFields: z
      .array(z.string().min(1).max(MAX_PATH_CHARACTERS))
      .max(MAX_DROPPED_PATHS)
      .optional()
      .describe('paths of what is left out, such as items[].links, *.html or **._meta'),
    transform: z
      .strictObject({
        language: z.enum(TRANSFORM_LANGUAGES, 'is neither jsonata nor jmespath'),
        expression: z
          .string()
          .min(1, 'is empty')
          .max(MAX_EXPRESSION_CHARACTERS, `is longer than ${MAX_EXPRESSION_CHARACTERS} characters`),
      })
      .optional()
      .describe(
        "makes the answer anew out of its JSON; run apart, within limits of time and memory, and for the answer's JSON alone",
      ),
    maxStringLength: z
      .int(LENGTH_RULE)
      .min(MIN_STRING_LENGTH, LENGTH_RULE)
      .max(MAX_STRING_LENGTH, LENGTH_RULE)
      .optional()
      .describe('characters of each string that are sent'),
  })
  .describe('what is done with answers before anybody gets them, in this order')

/** As they are kept: read back through this schema, so that a row another version wrote is found where it is read. */
export const StoredResponse = z.object({
  htmlToMarkdown: z.boolean().optional(),
  dropFields: z.array(z.string()).optional(),
  transform: z.object({ language: z.enum(TRANSFORM_LANGUAGES), expression: z.string() }).optional(),
  maxStringLength: z.int().optional(),
})

/** As the API shows them. */
export const toResponseView = (response: AnswerShaping): z.infer<typeof ResponseRules> => ({
  ...(response.htmlToMarkdown === undefined ? {} : { htmlToMarkdown: response.htmlToMarkdown }),
  ...(response.dropFields === undefined ? {} : { dropFields: [...response.dropFields] }),
  ...(response.transform === undefined ? {} : { transform: { ...response.transform } }),
  ...(response.maxStringLength === undefined ? {} : { maxStringLength: response.maxStringLength }),
})

const transformErrors = ({ transform }: AnswerShaping, at: string): FieldError[] => {
  if (transform === undefined) return []
  const path = `${at}.transform.expression`
  const { language, expression } = transform
  if (expression.length > MAX_EXPRESSION_CHARACTERS) {
    return [{ path, message: `is longer than ${MAX_EXPRESSION_CHARACTERS} characters` }]
  }
  const fault = findExpressionFault(language, expression)
  if (fault === undefined) return []
  const { line, column, message } = fault
  const text = `line ${line}, column ${column}: this is no ${LANGUAGE_NAMES[language]}: ${message}`
  return [{ path, message: text }]
}

/** What of the rules cannot be read: the expression, and paths; each with where, below `at`. */
export const responseErrors = (response: AnswerShaping | undefined, at = 'response'): FieldError[] => {
  if (response === undefined) return []
  const paths = (response.dropFields ?? []).slice(0, MAX_DROPPED_PATHS).flatMap((text, index) => {
    const read = parseFieldPath(text)
    if (read.ok) return []
    const { column, message } = read.error
    return [{ path: `${at}.dropFields[${index}]`, message: `column ${column}: ${message}` }]
  })
  return [...paths, ...transformErrors(response, at)]
}
