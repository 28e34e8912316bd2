import type { Hole } from '../plan.ts'
import { countHoles, type Fault, HOLE, type ScannedPlace } from '../scan.ts'
import { SERIALIZATIONS } from '../template.ts'
import { pathListHole, segmentsHole } from './holes.ts'
import { createKeySet, fixedKeys } from './key-set.ts'
import { checkSerializations } from './serialize.ts'

/** The path of a URL with holes, and its placeholders. */
export type PathText = { holed: string; places: readonly ScannedPlace[] }

const ALLOWED = SERIALIZATIONS.filter(serialization => serialization !== 'brackets')

/** Matches what precedes a placeholder with `repeat`, as in `/x;tag={{json:name | repeat}}` (RFC 6570 §3.2.7). */
const MATRIX_KEY = /;([^;/=]+)=$/
/** Matches what precedes and follows one with `spread`. */
const SPREAD_START = /[/;,.]$/
const LIST_END = /^(?:$|[/;,.])/

/** The fixed text before and after each placeholder. */
const surroundings = ({ holed, places }: PathText) => {
  const chunks = holed.split(HOLE)
  return places.map((place, index) => ({ place, before: chunks[index] ?? '', after: chunks[index + 1] ?? '', index }))
}

const misplacedIn = (text: PathText): readonly Fault[] => {
  const isAtEnd = (index: number, after: string): boolean =>
    LIST_END.test(after) && (after !== '' || index === text.places.length - 1)
  return surroundings(text).flatMap(({ place: { serialization, offset, isBroken }, before, after, index }) => {
    if (isBroken) return []
    if (serialization === 'repeat' && !(MATRIX_KEY.test(before) && isAtEnd(index, after)))
      return [{ offset, message: '"repeat" in the path must follow a key, as in /x;tag={{json:name | repeat}}' }]
    if (serialization === 'spread' && !(SPREAD_START.test(before) && isAtEnd(index, after)))
      return [{ offset, message: '"spread" in the path must follow / ; . or a comma, as in /x;{{json:name | spread}}' }]
    return []
  })
}

/** Reports serializations that are not allowed in the path, or not where they are. */
export const checkPathLists = (text: PathText): readonly Fault[] => {
  const [, ...more] = text.places.filter(({ serialization }) => serialization === 'spread')
  return [
    ...checkSerializations(text.places, ALLOWED, 'in the path of the URL'),
    ...misplacedIn(text),
    ...more.map(({ offset }) => ({ offset, message: 'only one parameter in the path can have "spread"' })),
  ]
}

/** Returns the holes of placeholders with a serialization. Those of others are undefined. */
export const pathListHoles = (text: PathText): readonly (Hole | undefined)[] => {
  if (text.places.every(({ serialization }) => serialization === undefined)) return []
  const pairs = text.holed.split(/(?=[/;,.])/).filter(pair => pair.startsWith(';') || pair.includes('='))
  const taken = createKeySet(fixedKeys(pairs.join(''), /[/;,.]/))
  return surroundings(text).map(({ place: { serialization }, before }) => {
    if (serialization === undefined || serialization === 'brackets') return undefined
    if (serialization === 'segments') return segmentsHole
    const separator = /[;.]$/.exec(before)?.[0] ?? ','
    return pathListHole(serialization, { separator, key: MATRIX_KEY.exec(before)?.[1] ?? '', taken })
  })
}

export const placesOfPath = (
  places: readonly ScannedPlace[],
  { holed, firstPlace }: { holed: string; firstPlace: number },
): readonly ScannedPlace[] => places.slice(firstPlace, firstPlace + countHoles(holed))
