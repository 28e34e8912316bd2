import type { FieldError } from '../kernel/index.ts'
import { parseInput } from '../platform/http/index.ts'
import { CreateTool, responseErrors, type ToolDefinition } from '../toolkits/index.ts'
import { errorsOf } from './tool-editor-errors.ts'
import type { ToolForm } from './tool-editor-form.ts'

type Response = NonNullable<ToolDefinition['response']>

const readLength = (text: string): { maxStringLength?: number; errors: FieldError[] } => {
  const digits = text.trim().replaceAll(/[,_ ]/g, '')
  if (digits === '') return { errors: [] }
  if (/^\d{1,9}$/.test(digits)) return { maxStringLength: Number(digits), errors: [] }
  return { errors: [{ path: 'response.maxStringLength', message: 'must be a whole number of characters' }] }
}

const readTransform = ({ transform, transformLanguage }: ToolForm): Response['transform'] =>
  transform.trim() === ''
    ? undefined
    : { language: transformLanguage === 'jmespath' ? 'jmespath' : 'jsonata', expression: transform }

/** What the form says is done with answers, and what of it cannot be done. */
export const readResponse = (form: ToolForm): { response: Response | undefined; errors: readonly FieldError[] } => {
  const { maxStringLength, errors: lengthErrors } = readLength(form.maxStringLength)
  const dropFields = form.dropFields.split('\n').flatMap(line => (line.trim() === '' ? [] : [line.trim()]))
  const transform = readTransform(form)
  const response: Response = {
    ...(form.htmlToMarkdown === 'yes' && { htmlToMarkdown: true }),
    ...(dropFields.length > 0 && { dropFields }),
    ...(transform !== undefined && { transform }),
    ...(maxStringLength !== undefined && { maxStringLength }),
  }
  if (Object.keys(response).length === 0) return { response: undefined, errors: lengthErrors }
  const limits = errorsOf(() => parseInput(CreateTool.pick({ response: true }), { response }))
  return { response, errors: [...lengthErrors, ...limits, ...(limits.length > 0 ? [] : responseErrors(response))] }
}
