import { countHoles, type ScannedPlace } from './scan.ts'

/** Text with holes of the form `key=value&key=value`, as in a query or form, or with another separator. */
export type PairsText = { holed: string; places: readonly ScannedPlace[]; firstPlace: number }

/** A pair, or a cookie. `first` is the index of its first placeholder. */
export type Pair = { holed: string; first: number; places: readonly ScannedPlace[] }

export const splitPairs = ({ holed, places, firstPlace }: PairsText, separator: string | RegExp): readonly Pair[] => {
  let next = firstPlace
  return holed.split(separator).map(pair => {
    const first = next
    next += countHoles(pair)
    return { holed: pair, first, places: places.slice(first, next) }
  })
}
