import { kindOf } from './body-template.ts'
import { isCookies } from './header-template.ts'
import { MAX_BODY_TEMPLATE_CHARS, MAX_HEADER_TEMPLATE_CHARS } from './limits.ts'
import { isWhole } from './plan.ts'
import { scanTemplate } from './scan.ts'
import type { RequestTemplate } from './template.ts'

/** A part of a request in which values are sent as they are, although newer rules encode or check them. */
export type UnencodedField = 'xml' | 'multipart' | 'cookies'

const findInBody = ({ headers, body }: RequestTemplate): UnencodedField | undefined => {
  const contentType = headers.find(({ name }) => name.toLowerCase() === 'content-type')
  const kind = contentType && kindOf(contentType.value)
  if (body === undefined || (kind !== 'xml' && kind !== 'multipart')) return undefined
  const scan = scanTemplate(body, { pairs: 'halve', maxChars: MAX_BODY_TEMPLATE_CHARS })
  const isAffected = scan.places.length > 0 && (kind === 'xml' || !isWhole(scan))
  return isAffected ? kind : undefined
}

/** Lists where the newest rules treat values otherwise than the rules of the template do. */
export const listUnencodedFields = (template: RequestTemplate): readonly UnencodedField[] => {
  if (template.templateRules !== 1) return []
  const inBody = findInBody(template)
  const inCookies = template.headers.some(({ name, value }) =>
    isCookies(name, scanTemplate(value, { pairs: 'halve', maxChars: MAX_HEADER_TEMPLATE_CHARS })),
  )
  return [...(inBody === undefined ? [] : [inBody]), ...(inCookies ? (['cookies'] as const) : [])]
}
