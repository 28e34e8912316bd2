import type { Hole, Part } from '../plan.ts'
import { joined, line, sequence } from '../render.ts'
import { countHoles, type Fault, HOLE, type Scan, type ScannedPlace } from '../scan.ts'
import { multipartListHole } from './holes.ts'
import { checkSerializations } from './serialize.ts'

const IN_CONTENT = ['repeat', 'comma', 'space', 'tab', 'pipe', 'dot'] as const

/**
 * A part of a multipart body whose content is one placeholder. `start` and `end` are indices in the body: of its
 * delimiter, and of the next one. `before` is what a repetition adds in front of its content.
 */
type WholePart = { start: number; end: number; before: string }

/**
 * Finds the parts that can be repeated or left out: their content is one placeholder, and their headers have none. The
 * keys are the indices of the placeholders.
 */
export const findWholeParts = (
  { holed, places }: Scan,
  boundaries: readonly string[],
): ReadonlyMap<number, WholePart> => {
  const found = new Map<number, WholePart>()
  if (!places.some(({ serialization, optional }) => serialization === 'repeat' || optional)) return found
  const isDelimiter = (text = ''): boolean => boundaries.some(boundary => text.startsWith(`--${boundary}`))
  const pieces = holed.split(/(\r\n?|\n)/)
  let offset = 0
  let place = 0
  let start = 0
  let state: 'outside' | 'header' | 'first line' | 'content' = 'outside'
  for (let at = 0; at < pieces.length; at += 2) {
    const [text = '', lineEnd = ''] = pieces.slice(at, at + 2)
    if (isDelimiter(text)) {
      start = offset
      state = 'header'
    } else if (state === 'header' && text === '') state = 'first line'
    else if (state === 'header') state = text.includes(HOLE) ? 'outside' : 'header'
    else if (state === 'first line') {
      const end = offset + text.length + lineEnd.length
      if (text === HOLE && isDelimiter(pieces[at + 2]))
        found.set(place, { start, end, before: lineEnd + holed.slice(start, offset) })
      state = 'content'
    }
    offset += text.length + lineEnd.length
    place += countHoles(text)
  }
  return found
}

/** Reports serializations that are not allowed in a multipart body. `isInContent` says whether it is in the content. */
export const checkPartLists = (
  places: readonly ScannedPlace[],
  isInContent: (place: number) => boolean,
  wholeParts: ReadonlyMap<number, WholePart>,
): readonly Fault[] =>
  places.flatMap((place, index) => {
    if (!isInContent(index)) return checkSerializations([place], [], 'in a header of a part')
    const isMisplaced = place.serialization === 'repeat' && !place.isBroken && !wholeParts.has(index)
    const message = '"repeat" must be the whole content of a part that has no other placeholder'
    return [
      ...checkSerializations([place], IN_CONTENT, 'in a multipart body'),
      ...(isMisplaced ? [{ offset: place.offset, message }] : []),
    ]
  })

/** Returns the hole of a list in the content of a part. Undefined for other placeholders. */
export const partListHole = (
  { serialization }: ScannedPlace,
  before: string | undefined,
  boundaries: readonly string[],
): Hole | undefined => {
  const list = IN_CONTENT.find(known => known === serialization)
  return list && multipartListHole(list, { before: before ?? '', boundaries })
}

/** Builds a multipart body in which the given parts are left out if the value of their placeholder is missing. */
export const buildWithParts = (
  holed: string,
  removable: readonly (readonly [place: number, part: WholePart])[],
  partOf: (place: number) => Part,
): Part => {
  const parts: Part[] = []
  let from = 0
  let next = 0
  for (const [place, { start, end }] of removable) {
    parts.push(line(holed.slice(from, start), next, partOf))
    const own = line(holed.slice(start, end), place, partOf)
    parts.push(joined([own], { open: '', separator: '', close: '', whenEmpty: '' }))
    from = end
    next = place + 1
  }
  parts.push(line(holed.slice(from), next, partOf))
  return sequence(['', ...parts.map(() => '')], parts)
}
