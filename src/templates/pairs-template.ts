import { withDistinctKeys } from './lists/pairs.ts'
import type { Part } from './plan.ts'
import { joined, line } from './render.ts'
import { countHoles, type Fault, HOLE } from './scan.ts'
import { type PairsText, splitPairs } from './split-pairs.ts'
import type { Serialization } from './template.ts'

/** Matches text that ends in an unfinished percent escape, which a placeholder's value could complete. */
const OPEN_ESCAPE = /%[0-9A-Fa-f]?$/

/** Reports unfinished percent escapes before a placeholder, whose value would complete them to another character. */
export const checkEscapes = ({ holed, places, firstPlace }: PairsText): readonly Fault[] =>
  holed
    .split(HOLE)
    .slice(0, -1)
    .flatMap((chunk, index) => {
      const place = places[firstPlace + index]
      if (place === undefined || !OPEN_ESCAPE.test(chunk)) return []
      return [
        {
          offset: place.offset,
          message: 'a placeholder cannot complete a percent escape: write %25 for a percent sign',
        },
      ]
    })

/** Serializations that produce keys. `checkPairLists` reports where they are not allowed. */
const WITH_KEYS: ReadonlySet<string | undefined> = new Set<Serialization>(['brackets', 'spread'])

/** Reports placeholders in keys. */
export const checkPairs = (text: PairsText): readonly Fault[] =>
  splitPairs(text, '&').flatMap(({ holed, places }) => {
    const [key = ''] = holed.split('=', 1)
    return places
      .slice(0, countHoles(key))
      .filter(({ serialization }) => !WITH_KEYS.has(serialization))
      .map(({ offset }) => ({
        offset,
        message: 'a key cannot contain a placeholder. Write the key out, as in key={{name}}',
      }))
  })

/** Returns the decoded key of the pair that contains each placeholder. */
export const namesOfPairs = (holed: string): readonly (string | undefined)[] =>
  holed.split('&').flatMap(pair => {
    const holes = countHoles(pair)
    if (holes === 0) return []
    const [key = ''] = pair.replaceAll(HOLE, '').split('=', 1)
    const [name] = new URLSearchParams(`&${key}`).keys()
    return Array.from({ length: holes }, () => name)
  })

/**
 * Splits the pairs into groups that are sent or removed as a whole. A pair with an optional value is its own group.
 * Adjacent pairs without optional values share a group.
 */
const groupPairs = (text: PairsText): readonly { holed: string; first: number }[] => {
  const groups: { holed: string; first: number; stays: boolean }[] = []
  for (const { holed, first, places } of splitPairs(text, '&')) {
    const stays = !places.some(place => place.optional)
    const last = groups.at(-1)
    if (stays && last?.stays) last.holed += `&${holed}`
    else groups.push({ holed, first, stays })
  }
  return groups
}

/** Builds the pairs as one part. `open` precedes the pairs if there are any. */
export const buildPairs = (text: PairsText, open: '?' | '', partOf: (place: number) => Part): Part => {
  const parts = groupPairs(text).map(({ holed, first }) => line(holed, first, partOf))
  const pairs = joined(parts, { open, separator: '&', close: '', whenEmpty: '' })
  return withDistinctKeys(pairs, splitPairs(text, '&'), '&', partOf)
}
