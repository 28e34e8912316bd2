import { isReservedHeader } from '../lib/kernel/http-headers.ts'
import { planCookies } from './cookie-template.ts'
import { FORBIDDEN_IN_HEADER, headerHole } from './encodings.ts'
import { headerListHole } from './lists/holes.ts'
import { createKeySet, fixedKeys, type KeySet } from './lists/key-set.ts'
import { checkSerializations } from './lists/serialize.ts'
import { type FieldPlan, type Hole, isWhole } from './plan.ts'
import { line } from './render.ts'
import { type Fault, HOLE, type Scan, type ScannedPlace } from './scan.ts'
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

const hasSerialization = ({ places }: Scan): boolean => places.some(({ serialization }) => serialization !== undefined)

/** Returns whether placeholders in a header are cookies or values of cookies. */
export const isCookies = (name: string, scan: Scan): boolean =>
  name.toLowerCase() === 'cookie' && scan.places.length > 0 && (!isWhole(scan) || hasSerialization(scan))

const LISTS = ['comma', 'space', 'tab', 'pipe', 'dot', 'spread'] as const

const toHole = ({ type, serialization }: ScannedPlace, taken: KeySet): Hole => {
  const list = LISTS.find(known => known === serialization)
  return list === undefined ? headerHole(type) : headerListHole(list, taken)
}

/** Reports serializations that are not allowed, or not where they are. */
const checkLists = ({ holed, places }: Scan): readonly Fault[] => {
  const chunks = holed.split(HOLE)
  const spread = places.map((place, index) => ({ place, before: chunks[index] ?? '', after: chunks[index + 1] ?? '' }))
  const misplaced = spread.filter(({ place, before, after }, index) => {
    const starts = /,[ \t]*$/.test(before) || (index === 0 && before.trim() === '')
    const ends = /^[ \t]*,/.test(after) || (index === places.length - 1 && after.trim() === '')
    return place.serialization === 'spread' && !place.isBroken && !(starts && ends)
  })
  const [, ...more] = places.filter(({ serialization }) => serialization === 'spread')
  return [
    ...checkSerializations(places, LISTS, 'in a header'),
    ...misplaced.map(({ place: { offset } }) => ({
      offset,
      message: '"spread" must be a whole member of a header, as in a=1, {{json:name | spread}}',
    })),
    ...more.map(({ offset }) => ({ offset, message: 'only one parameter in a header can have "spread"' })),
  ]
}

export const planHeader = (name: string, scan: Scan, rules: TemplateRules): FieldPlan => {
  const { holed, places, offsetOf } = scan
  const forbidden = holed.replaceAll(HOLE, ' ').search(FORBIDDEN_IN_HEADER)
  const message = 'a header cannot contain line breaks, control characters or characters beyond Latin-1'
  const faults = forbidden === -1 ? [] : [{ offset: offsetOf(forbidden), message }]
  if ((rules > 1 || hasSerialization(scan)) && isCookies(name, scan)) {
    const cookies = planCookies(scan)
    return { ...cookies, faults: [...faults, ...cookies.faults] }
  }
  const taken = createKeySet(fixedKeys(holed, /[,;]/))
  return {
    holes: places.map(place => toHole(place, taken)),
    names: places.map(() => name),
    faults: [...faults, ...checkLists(scan)],
    build: partOf => line(holed, 0, partOf),
  }
}
