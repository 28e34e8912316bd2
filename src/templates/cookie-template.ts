import { cookieHole } from './encodings.ts'
import type { FieldPlan } from './plan.ts'
import { line } from './render.ts'
import { HOLE, type Scan } from './scan.ts'

/** Matches text that ends in the value of a cookie, before its end. A comma separates cookies in RFC 2109. */
const IN_VALUE = /(?:^|[;,])[ \t]*([^\s=;,\0]+)[ \t]*=[^;,]*$/

/** Plans a Cookie header with several parts. Each placeholder is in the value of a cookie. */
export const planCookies = ({ holed, places }: Scan): FieldPlan => {
  const chunks = holed.split(HOLE)
  const names = places.map((_, index) => IN_VALUE.exec(chunks.slice(0, index + 1).join(HOLE))?.[1])
  return {
    holes: places.map(({ type }) => cookieHole(type)),
    names,
    faults: places.flatMap(({ offset }, index) =>
      names[index] !== undefined
        ? []
        : [
            {
              offset,
              message:
                'a placeholder in the Cookie header must follow a name, as in session={{session}}, or be the whole header',
            },
          ],
    ),
    build: partOf => line(holed, 0, partOf),
  }
}
