import type { Part } from './plan.ts'
import { joined, line } from './render.ts'
import { countHoles, type Fault, HOLE, type ScannedPlace } from './scan.ts'

/** Text with holes of the form `key=value&key=value`, as in a query or form. */
export type PairsText = { holed: string; places: readonly ScannedPlace[]; firstPlace: number }

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

/** Reports placeholders in keys. */
export const checkPairs = ({ holed, places, firstPlace }: PairsText): readonly Fault[] => {
  let next = firstPlace
  return holed.split('&').flatMap(pair => {
    const first = next
    next += countHoles(pair)
    const [key = ''] = pair.split('=', 1)
    return places.slice(first, first + countHoles(key)).map(place => ({
      offset: place.offset,
      message: 'a key cannot contain a placeholder. Write the key out, as in key={{name}}',
    }))
  })
}

/** Returns the decoded key of the pair that contains each placeholder. */
export const namesOfPairs = (holed: string): readonly string[] =>
  holed.split('&').flatMap(pair => {
    const holes = countHoles(pair)
    if (holes === 0) return []
    const [key = ''] = pair.split('=', 1)
    const [name = ''] = new URLSearchParams(`&${key}`).keys()
    return Array.from({ length: holes }, () => name)
  })

/**
 * Splits the pairs into groups that are sent or removed as a whole. A pair with an optional value is its own group.
 * Adjacent pairs without optional values share a group.
 */
const groupPairs = ({ holed, places, firstPlace }: PairsText): readonly { holed: string; first: number }[] => {
  const groups: { holed: string; first: number; stays: boolean }[] = []
  let next = firstPlace
  for (const pair of holed.split('&')) {
    const holes = countHoles(pair)
    const stays = !places.slice(next, next + holes).some(place => place.optional)
    const last = groups.at(-1)
    if (stays && last?.stays) last.holed += `&${pair}`
    else groups.push({ holed: pair, first: next, stays })
    next += holes
  }
  return groups
}

/** Builds the pairs as one part. `open` precedes the pairs if there are any. */
export const buildPairs = (text: PairsText, open: '?' | '', partOf: (place: number) => Part): Part => {
  const parts = groupPairs(text).map(({ holed, first }) => line(holed, first, partOf))
  return joined(parts, { open, separator: '&', close: '', whenEmpty: '' })
}
