import { isReservedHeader } from '../lib/kernel/http-headers.ts'
import { planCookies } from './cookie-template.ts'
import { FORBIDDEN_IN_HEADER, headerHole } from './encodings.ts'
import { type FieldPlan, isWhole } from './plan.ts'
import { line } from './render.ts'
import { HOLE, type Scan } from './scan.ts'
import type { TemplateRules } from './template.ts'

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Returns why a header cannot be set, or undefined if it can. */
export const refuseHeaderName = (name: string): string | undefined => {
  if (name.includes('{{')) return 'the name of a header cannot contain a placeholder. Write the name out'
  if (!TOKEN.test(name)) {
    return `${JSON.stringify(name.slice(0, 40))} is not a valid header name. Use letters, digits and hyphens`
  }
  if (isReservedHeader(name.toLowerCase())) {
    return `the header ${name} cannot be set, because the connection, a proxy or a browser controls it`
  }
  return undefined
}

/** Returns whether placeholders in a header are values of cookies. */
export const isCookies = (name: string, scan: Scan): boolean =>
  name.toLowerCase() === 'cookie' && scan.places.length > 0 && !isWhole(scan)

export const planHeader = (name: string, scan: Scan, rules: TemplateRules): FieldPlan => {
  const { holed, places, offsetOf } = scan
  const forbidden = holed.replaceAll(HOLE, ' ').search(FORBIDDEN_IN_HEADER)
  const message = 'a header cannot contain line breaks, control characters or characters beyond Latin-1'
  const faults = forbidden === -1 ? [] : [{ offset: offsetOf(forbidden), message }]
  if (rules > 1 && isCookies(name, scan)) {
    const cookies = planCookies(scan)
    return { ...cookies, faults: [...faults, ...cookies.faults] }
  }
  return {
    holes: places.map(({ type }) => headerHole(type)),
    names: places.map(() => name),
    faults,
    build: partOf => line(holed, 0, partOf),
  }
}
