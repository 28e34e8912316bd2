import { cookieHole } from './encodings.ts'
import { cookieListHole } from './lists/holes.ts'
import { createKeySet, fixedKeys } from './lists/key-set.ts'
import { withDistinctKeys } from './lists/pairs.ts'
import { checkSerializations } from './lists/serialize.ts'
import type { FieldPlan, Hole, Part } from './plan.ts'
import { joined, line } from './render.ts'
import { type Fault, HOLE, type Scan, type ScannedPlace } from './scan.ts'
import { type Pair, splitPairs } from './split-pairs.ts'

/** Matches text that ends in the value of a cookie, before its end. A comma separates cookies in RFC 2109. */
const IN_VALUE = /(?:^|[;,])[ \t]*([^\s=;,\0]+)[ \t]*=[^;,]*$/

const LISTS = ['repeat', 'comma', 'space', 'tab', 'pipe', 'dot', 'spread'] as const

const splitCookies = ({ holed, places }: Scan): readonly Pair[] =>
  splitPairs({ holed, places, firstPlace: 0 }, /;[ \t]*/)

const NOT_IN_VALUE =
  'a placeholder in the Cookie header must follow a name, as in session={{session}}, or be the whole header'
const NOT_WHOLE_VALUE = '"repeat" must be the whole value of a cookie, as in tag={{json:name | repeat}}'
const NOT_WHOLE_COOKIE = '"spread" replaces a whole cookie, as in a=1; {{json:name | spread}}'

/** Returns what is wrong with the position of a placeholder. `name` is that of the cookie. */
const misplacement = (
  { serialization }: ScannedPlace,
  cookie: string,
  name: string | undefined,
): string | undefined => {
  if (serialization === 'spread') return cookie.trim() === HOLE ? undefined : NOT_WHOLE_COOKIE
  if (name === undefined) return NOT_IN_VALUE
  return serialization === 'repeat' && !/^[^=,]+=[ \t]*\0[ \t]*$/.test(cookie) ? NOT_WHOLE_VALUE : undefined
}

/** Returns the names of the cookies whose values contain the placeholders. */
const namesOf = ({ holed, places }: Scan): readonly (string | undefined)[] => {
  const chunks = holed.split(HOLE)
  return places.map((_, index) => IN_VALUE.exec(chunks.slice(0, index + 1).join(HOLE))?.[1])
}

const checkCookies = (
  scan: Scan,
  cookies: readonly Pair[],
  names: readonly (string | undefined)[],
): readonly Fault[] => {
  const misplaced = cookies.flatMap(({ holed, first, places }) =>
    places.flatMap((place, index) => {
      const message = place.isBroken ? undefined : misplacement(place, holed, names[first + index])
      return message === undefined ? [] : [{ offset: place.offset, message }]
    }),
  )
  return [...checkSerializations(scan.places, LISTS, 'in the Cookie header'), ...misplaced]
}

const holesOf = (scan: Scan, cookies: readonly Pair[]): readonly Hole[] => {
  const taken = createKeySet(fixedKeys(scan.holed, /[;,]/))
  return cookies.flatMap(({ holed, places }) => {
    const [key = ''] = holed.split('=', 1)
    return places.map(({ type, serialization }) => {
      const list = LISTS.find(known => known === serialization)
      return list === undefined ? cookieHole(type) : cookieListHole(list, key.trim(), taken)
    })
  })
}

/** Builds the header. A cookie with a missing optional value is left out, and so is the header if no cookie is left. */
const buildCookies = (scan: Scan, cookies: readonly Pair[], partOf: (place: number) => Part): Part => {
  if (!scan.places.some(place => place.optional)) return line(scan.holed, 0, partOf)
  const parts = cookies
    .filter(({ holed }) => holed.trim() !== '')
    .map(({ holed, first }) => line(holed.trim(), first, partOf))
  return joined(parts, { open: '', separator: '; ', close: '', whenEmpty: undefined })
}

/** Plans a Cookie header. Each placeholder is in the value of a cookie, or stands for whole cookies. */
export const planCookies = (scan: Scan): FieldPlan => {
  const cookies = splitCookies(scan)
  const names = namesOf(scan)
  return {
    holes: holesOf(scan, cookies),
    names,
    faults: checkCookies(scan, cookies, names),
    build: partOf => withDistinctKeys(buildCookies(scan, cookies, partOf), cookies, '; ', partOf),
  }
}
