import { MAX_LIST_PAIRS } from '../limits.ts'
import type { Hole, Part } from '../plan.ts'
import { countHoles, type Fault, HOLE } from '../scan.ts'
import { type Pair, type PairsText, splitPairs } from '../split-pairs.ts'
import { SERIALIZATIONS, type Serialization } from '../template.ts'
import { pairListHole } from './holes.ts'
import { createKeySet, decodeKey, fixedKeys, type KeySet } from './key-set.ts'
import { checkSerializations } from './serialize.ts'

const ALLOWED = SERIALIZATIONS.filter(serialization => serialization !== 'segments')

/** The pairs in which each of these serializations is allowed, and what to write otherwise. */
const WHOLE_PAIRS: Readonly<Record<string, { pair: RegExp; message: string }>> = {
  repeat: {
    pair: /^[^=\0]+=\0$/,
    message: '"repeat" must be the whole value of a key, as in tag={{json:name | repeat}}',
  },
  brackets: {
    pair: /^[^=\0]+\0$/,
    message: '"brackets" must directly follow a key, as in filter{{json:name | brackets}}',
  },
  spread: { pair: /^\0$/, message: '"spread" replaces a whole key and value, as in a=1&{{json:name | spread}}&b=2' },
}

const hasList = ({ places }: PairsText): boolean => places.some(({ serialization }) => serialization !== undefined)

/** Returns the key in front of `brackets`, as in `f{{json:x | brackets}}`. */
const keyOfBrackets = (pair: Pair): string => decodeKey(pair.holed.trim().replace(HOLE, ''))

/** Returns what is wrong with a placeholder of a pair. */
const misplacement = (pair: Pair, serialization: Serialization | undefined, taken: KeySet): string | undefined => {
  const rule = WHOLE_PAIRS[serialization ?? '']
  if (rule !== undefined && !rule.pair.test(pair.holed)) return rule.message
  // No member has this key, so only the key itself can be taken.
  const isTaken = serialization === 'brackets' && taken.has(`${keyOfBrackets(pair)}[\0]`)
  return isTaken ? 'the key in front of "brackets" is there twice, so that no member could be sent' : undefined
}

/** Reports serializations that are not allowed in a query or form, or in their pairs. */
export const checkPairLists = (text: PairsText, where: string): readonly Fault[] => {
  if (!hasList(text)) return []
  const places = text.places.slice(text.firstPlace, text.firstPlace + countHoles(text.holed))
  const taken = createKeySet(fixedKeys(text.holed, '&'))
  const misplaced = splitPairs(text, '&').flatMap(pair =>
    pair.places.flatMap(({ serialization, offset, isBroken }) => {
      const message = isBroken ? undefined : misplacement(pair, serialization, taken)
      return message === undefined ? [] : [{ offset, message }]
    }),
  )
  return [...checkSerializations(places, ALLOWED, where), ...misplaced]
}

/** Returns a function that returns the hole of a placeholder that is serialized as a list. Undefined for others. */
export const createPairLists = (kind: 'query' | 'form', text: PairsText): ((place: number) => Hole | undefined) => {
  if (!hasList(text)) return () => undefined
  const taken = createKeySet(fixedKeys(text.holed, '&'))
  const holes = new Map(
    splitPairs(text, '&').flatMap(({ holed, first, places }) => {
      const [key = ''] = holed.replaceAll(HOLE, '').split('=', 1)
      return places.flatMap(({ serialization }, index) =>
        serialization === undefined || serialization === 'segments'
          ? []
          : [[first + index, pairListHole(kind, serialization, key, taken)] as const],
      )
    }),
  )
  return place => holes.get(place)
}

/** Placeholders whose values decide keys. `key` precedes the value: `f` in `f{{json:x | brackets}}`. */
const keyListsOf = (pairs: readonly Pair[]) =>
  pairs.flatMap(({ holed, first, places: [place] }) =>
    place?.serialization === 'spread' || place?.serialization === 'brackets'
      ? [{ name: place.name, key: holed.trim().replace(HOLE, ''), index: first }]
      : [],
  )

const MAX_PAIRS_TOLD = `at most ${MAX_LIST_PAIRS} of all values together`

/**
 * Rejects values that would send a key twice. A value of the model could otherwise replace a part of one that the
 * builder chose.
 */
export const withDistinctKeys = (
  part: Part,
  pairs: readonly Pair[],
  separator: string,
  partOf: (place: number) => Part,
): Part => {
  const lists = keyListsOf(pairs).map(list => ({ ...list, part: partOf(list.index) }))
  if (lists.length < 2) return part
  return (values, room) => {
    const sent = createKeySet()
    let count = 0
    for (const { name, key, part: own } of lists) {
      const text = own(values, room)
      if (text === undefined) continue
      if (typeof text !== 'string') return text
      const keys = `${key}${text}`.split(separator).map(pair => decodeKey(pair.split('=', 1)[0] ?? ''))
      count += keys.length
      if (count > MAX_LIST_PAIRS) return { parameter: name, message: `must not have so many keys (${MAX_PAIRS_TOLD})` }
      if (keys.some(sent.has)) return { parameter: name, message: 'must not have a key that the request already has' }
      for (const one of keys) sent.add(one)
    }
    return part(values, room)
  }
}
