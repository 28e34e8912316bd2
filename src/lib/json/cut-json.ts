import type { JsonObject, JsonValue } from '../kernel/json.ts'
import { cutText } from './cut-text.ts'
import { findExactNumber } from './exact-numbers.ts'
import { isKeyed } from './keyed-object.ts'
import { hasMembers, type Path } from './path.ts'

/**
 * The part left out at a path: of a list, of an object, of an object whose names are data, or of a text. If `places` is
 * greater than 1, the numbers are totals across that many places.
 */
export type Cut = {
  path: Path
  what: 'items' | 'members' | 'keyed members' | 'characters'
  shown: number
  total: number
  places: number
}

/** Minimum room for a value, in characters. Values that would get less are left out completely. */
const MIN_ROOM = 24
/** Number of items in a list that may be shortened before the remaining items are left out. */
const CUT_ITEMS = 2
const PUNCTUATION = 2

/** Returns the approximate length of a value as JSON. Stops counting above `limit`. */
export const sizeOf = (value: JsonValue, limit: number): number => {
  if (typeof value === 'string') return value.length + PUNCTUATION
  if (typeof value !== 'object' || value === null) return String(value).length
  let size: number = PUNCTUATION
  if (Array.isArray(value)) {
    for (const item of value) {
      if (size > limit) return size
      size += sizeOf(item, limit - size) + 1
    }
    return size
  }
  const exact = findExactNumber(value)
  if (exact !== undefined) return exact.length
  for (const name in value) {
    if (size > limit) return size
    size += name.length + PUNCTUATION * 2 + sizeOf(value[name] ?? null, limit - size)
  }
  return size
}

const isContainer = (value: JsonValue): boolean => Array.isArray(value) || hasMembers(value)

/** Returns whether part of the value can be shown on its own. A number is shown whole or not at all. */
const canBeCut = (value: JsonValue): boolean => typeof value === 'string' || isContainer(value)

/** Returns whether a value is an object or a list without members or items. */
const isEmpty = (value: JsonValue): boolean => {
  if (Array.isArray(value)) return value.length === 0
  if (!hasMembers(value)) return false
  for (const _ in value) return false
  return true
}

type Note = (path: Path, cut: Omit<Cut, 'path' | 'places'>) => void

/** How a value is cut. `maxKeyed` is the most objects or lists shown of a keyed object, whose members are all alike. */
type Cutting = { note: Note; maxKeyed: number }

const cutItems = (items: readonly JsonValue[], room: number, path: Path, cutting: Cutting): JsonValue[] => {
  const kept: JsonValue[] = []
  const itemPath: Path = [...path, { kind: 'items' }]
  let cut = 0
  let left = room - PUNCTUATION
  for (const item of items) {
    const size = sizeOf(item, left)
    if (size <= left) {
      kept.push(item)
      left -= size + 1
    } else {
      const itemRoom = kept.length === items.length - 1 ? left : Math.floor(left / 2)
      // Items after a few small ones are also shortened, as in `["ok", 200, {…}]`, because the small ones carry little
      // information.
      const isFirst = kept.length < CUT_ITEMS || (cut < CUT_ITEMS && left > room / 2)
      if (isFirst && itemRoom >= MIN_ROOM && canBeCut(item)) {
        const part = cutValue(item, itemRoom, itemPath, cutting)
        if (isEmpty(part)) break
        cut++
        kept.push(part)
        left -= itemRoom
        continue
      }
      break
    }
  }
  if (kept.length < items.length) cutting.note(path, { what: 'items', shown: kept.length, total: items.length })
  return kept
}

/**
 * Divides the room among members. Each gets what it needs, up to an equal share of the room that smaller members leave.
 */
const shareRoom = (sizes: readonly number[], room: number): readonly number[] => {
  const shares = sizes.map(() => 0)
  const ascending = sizes.map((size, index) => ({ size, index })).sort((a, b) => a.size - b.size)
  let left = room
  ascending.forEach(({ size, index }, position) => {
    const share = Math.max(0, Math.min(size, Math.floor(left / (ascending.length - position))))
    shares[index] = share
    left -= share
  })
  return shares
}

const cutMembers = (value: JsonObject, room: number, path: Path, cutting: Cutting): JsonObject => {
  const all = Object.keys(value)
  const hasDataAsNames = isKeyed(value, all)
  if (hasDataAsNames && isContainer(value[all[0] ?? ''] ?? null)) return cutKeyed(value, all, room, path, cutting)
  const names: string[] = []
  let named = 0
  let left = room - PUNCTUATION
  for (const name of all) {
    const cost = name.length + PUNCTUATION * 2
    // Reserves a little room for each value.
    const least = left < cost ? 0 : sizeOf(value[name] ?? null, MIN_ROOM)
    if (left < cost + Math.min(least, MIN_ROOM)) continue
    names.push(name)
    named += cost
    left -= cost + Math.min(least, MIN_ROOM)
  }
  const forValues = room - PUNCTUATION - named
  const shares = shareRoom(
    names.map(name => sizeOf(value[name] ?? null, forValues)),
    forValues,
  )
  const entries = names.flatMap((name, index): [string, JsonValue][] => {
    const part = cutMember(value[name] ?? null, shares[index] ?? 0, [...path, { kind: 'member', name }], cutting)
    return part === undefined ? [] : [[name, part]]
  })
  if (entries.length < all.length) {
    const what = hasDataAsNames ? 'keyed members' : 'members'
    cutting.note(path, { what, shown: entries.length, total: all.length })
  }
  return Object.fromEntries(entries)
}

/** Returns the value or a part of it, or undefined if no part fits. */
const cutMember = (value: JsonValue, room: number, path: Path, cutting: Cutting): JsonValue | undefined => {
  if (sizeOf(value, room) <= room) return value
  if (room < MIN_ROOM || !canBeCut(value)) return undefined
  const part = cutValue(value, room, path, cutting)
  return isEmpty(part) ? undefined : part
}

/** Keeps the first members of a keyed object, whole if they fit. What is left out of them is noted for all members. */
const cutKeyed = (
  value: JsonObject,
  names: readonly string[],
  room: number,
  path: Path,
  cutting: Cutting,
): JsonObject => {
  const entries: [string, JsonValue][] = []
  let left = room - PUNCTUATION
  for (const name of names.slice(0, cutting.maxKeyed)) {
    const member = value[name] ?? null
    left -= name.length + PUNCTUATION * 2
    // A second member is shown only if it fits whole, because a part of it would say little.
    if (entries.length > 0 && sizeOf(member, left) > left) break
    const part = cutMember(member, left, [...path, { kind: 'any' }], cutting)
    if (part === undefined) break
    entries.push([name, part])
    left -= sizeOf(part, left)
  }
  if (entries.length < names.length) {
    cutting.note(path, { what: 'keyed members', shown: entries.length, total: names.length })
  }
  return Object.fromEntries(entries)
}

const cutValue = (value: JsonValue, room: number, path: Path, cutting: Cutting): JsonValue => {
  if (typeof value === 'string') {
    if (value.length + PUNCTUATION <= room) return value
    const cut = cutText(value, Math.max(0, room - PUNCTUATION - 1), 'text')
    cutting.note(path, { what: 'characters', shown: cut.length, total: value.length })
    return `${cut}…`
  }
  if (Array.isArray(value)) return cutItems(value, room, path, cutting)
  return hasMembers(value) ? cutMembers(value, room, path, cutting) : value
}

/**
 * Cuts a value to about `room` characters of JSON. Keeps the first items of lists, all small members of objects, and
 * part of each large member, and at most `maxKeyed` objects or lists of a keyed object. Takes time proportional to the
 * room, not to the size of the value.
 */
export const cutJson = (
  root: JsonValue,
  room: number,
  maxKeyed = Number.POSITIVE_INFINITY,
): { value: JsonValue; cuts: readonly Cut[] } => {
  if (sizeOf(root, room) <= room) return { value: root, cuts: [] }
  const cuts = new Map<string, Cut>()
  const note: Note = (path, { what, shown, total }) => {
    const key = `${what} ${JSON.stringify(path)}`
    const before = cuts.get(key)
    cuts.set(key, {
      path,
      what,
      shown: shown + (before?.shown ?? 0),
      total: total + (before?.total ?? 0),
      places: 1 + (before?.places ?? 0),
    })
  }
  const value = cutValue(root, room, [], { note, maxKeyed })
  return { value, cuts: [...cuts.values()].sort((a, b) => a.path.length - b.path.length) }
}
