import { joined, line, type Part } from './plan.ts'
import { type Complaint, countHoles, HOLE, type ScannedPlace } from './scan.ts'

/** `key=value&key=value`, as in a query or a form, within a masked text. */
export type PairsText = { masked: string; places: readonly ScannedPlace[]; firstPlace: number }

/** Ends in an unfinished percent escape that the value's first characters would finish. */
const OPEN_ESCAPE = /%[0-9A-Fa-f]?$/

/** A `%` right before a place, which the value could complete to another character. */
export const checkEscapes = ({ masked, places, firstPlace }: PairsText): readonly Complaint[] =>
  masked
    .split(HOLE)
    .slice(0, -1)
    .flatMap((chunk, index) => {
      const place = places[firstPlace + index]
      if (place === undefined || !OPEN_ESCAPE.test(chunk)) return []
      return [
        { offset: place.offset, message: 'a place may not complete a percent escape: write %25 for a percent sign' },
      ]
    })

/** Places in keys. */
export const checkPairs = ({ masked, places, firstPlace }: PairsText): readonly Complaint[] => {
  let next = firstPlace
  return masked.split('&').flatMap(pair => {
    const first = next
    next += countHoles(pair)
    const [key = ''] = pair.split('=', 1)
    return places.slice(first, first + countHoles(key)).map(place => ({
      offset: place.offset,
      message: 'a place may not stand in a key: write the key out, as in key={{name}}',
    }))
  })
}

/** Each pair that an optional value may take along is a part of its own; neighbours that always stay are one. */
const groupPairs = ({ masked, places, firstPlace }: PairsText): readonly { masked: string; first: number }[] => {
  const groups: { masked: string; first: number; stays: boolean }[] = []
  let next = firstPlace
  for (const pair of masked.split('&')) {
    const holes = countHoles(pair)
    const stays = !places.slice(next, next + holes).some(place => place.optional)
    const last = groups.at(-1)
    if (stays && last?.stays) last.masked += `&${pair}`
    else groups.push({ masked: pair, first: next, stays })
    next += holes
  }
  return groups
}

/** `open` goes before the pairs if any of them stays. */
export const buildPairs = (text: PairsText, open: '?' | '', partOf: (place: number) => Part): Part => {
  const parts = groupPairs(text).map(({ masked, first }) => line(masked, first, partOf))
  return joined(parts, { open, separator: '&', close: '', whenEmpty: '' })
}
