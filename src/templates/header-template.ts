import { isReservedHeader } from '../lib/kernel/http-headers.ts'
import { FORBIDDEN_IN_HEADER, headerHole } from './encodings.ts'
import type { FieldPlan } from './plan.ts'
import { line } from './render.ts'
import { HOLE, type Scan } from './scan.ts'

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

export const planHeader = (scan: Scan): FieldPlan => {
  const { holed, places, offsetOf } = scan
  const forbidden = holed.replaceAll(HOLE, ' ').search(FORBIDDEN_IN_HEADER)
  return {
    holes: places.map(({ type }) => headerHole(type)),
    faults:
      forbidden === -1
        ? []
        : [
            {
              offset: offsetOf(forbidden),
              message: 'a header cannot contain line breaks, control characters or characters beyond Latin-1',
            },
          ],
    build: partOf => line(holed, 0, partOf),
  }
}
