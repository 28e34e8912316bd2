import { z } from 'zod'
import { formLines, formText } from '../../lib/http/pages/forms.ts'
import { parseInput } from '../../lib/http/validation.ts'
import type { FieldError } from '../../lib/kernel/errors.ts'
import { readWholeNumber } from '../../lib/kernel/whole-number.ts'
import { ResponseRules, responseErrors } from '../../tools/response/response-rules.ts'
import { LANGUAGE_NAMES, type ResultShaping, TRANSFORM_LANGUAGES } from '../../tools/response/result-shaping.ts'
import { linesOf } from '../frame/lines-of.ts'
import { errorsOf } from './tool-editor-errors.ts'

/** Form fields for the response rules. */
export const RESPONSE_FIELDS = {
  htmlToMarkdown: formText,
  dropFields: formLines,
  transformLanguage: formText,
  transform: formLines,
  maxStringLength: formText,
}
type TypedResponse = Record<keyof typeof RESPONSE_FIELDS, string>

export const typedResponse = (response: ResultShaping | undefined): TypedResponse => ({
  htmlToMarkdown: response?.htmlToMarkdown === true ? 'yes' : '',
  dropFields: (response?.dropFields ?? []).join('\n'),
  transformLanguage: response?.transform?.language ?? 'jsonata',
  transform: response?.transform?.expression ?? '',
  maxStringLength: response?.maxStringLength === undefined ? '' : String(response.maxStringLength),
})

export const RESPONSE_HINTS = {
  dropFields: 'One path per line, e.g. items[].links, *.html or **._meta',
  transform: 'Transforms the JSON response, e.g. users[active].{"id": id, "name": name}',
  maxStringLength: 'Longer strings are truncated. Leave empty for no limit.',
} as const

export const RESPONSE_CHOICES = {
  languages: TRANSFORM_LANGUAGES.map(value => ({ value, text: LANGUAGE_NAMES[value] })),
  conversions: [
    { value: '', text: 'Unchanged' },
    { value: 'yes', text: 'Convert to Markdown' },
  ],
  sharing: [
    { value: '', text: 'Per caller' },
    { value: 'yes', text: 'Shared' },
  ],
}

/** Parses a number from a text field; an empty field is undefined. Returns the schema's errors for invalid input. */
export const readTypedNumber = (
  schema: z.ZodType<number | undefined>,
  path: string,
  text: string,
  readNumber: (text: string) => number | undefined = readWholeNumber,
): { number: number | undefined; errors: readonly FieldError[] } => {
  const read = schema.safeParse(readNumber(text))
  if (read.success) return { number: read.data, errors: [] }
  return { number: undefined, errors: read.error.issues.slice(0, 1).map(({ message }) => ({ path, message })) }
}

const Rules = z.object({ response: ResponseRules })

const readTransform = ({ transform, transformLanguage }: TypedResponse): ResultShaping['transform'] =>
  transform.trim() === ''
    ? undefined
    : { language: transformLanguage === 'jmespath' ? 'jmespath' : 'jsonata', expression: transform }

/** Reads the response rules from the form, and returns them with any errors. */
export const readResponse = (
  form: TypedResponse,
): { response: ResultShaping | undefined; errors: readonly FieldError[] } => {
  const { number: maxStringLength, errors: lengthErrors } = readTypedNumber(
    ResponseRules.shape.maxStringLength,
    'response.maxStringLength',
    form.maxStringLength,
  )
  const dropFields = linesOf(form.dropFields)
  const transform = readTransform(form)
  const response: ResultShaping = {
    ...(form.htmlToMarkdown === 'yes' && { htmlToMarkdown: true }),
    ...(dropFields.length > 0 && { dropFields }),
    ...(transform !== undefined && { transform }),
    ...(maxStringLength !== undefined && { maxStringLength }),
  }
  if (Object.keys(response).length === 0) return { response: undefined, errors: lengthErrors }
  const limits = errorsOf(() => parseInput(Rules, { response }))
  return { response, errors: [...lengthErrors, ...limits, ...(limits.length > 0 ? [] : responseErrors(response))] }
}
