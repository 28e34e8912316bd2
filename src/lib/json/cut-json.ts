import type { JsonObject, JsonValue } from '../kernel/json.ts'
import { cutText } from './cut-text.ts'
import { findExactNumber } from './exact-numbers.ts'
import { hasMembers, type Path } from './path.ts'

/** What was left out at a path. If `places` is greater than 1, the numbers are totals across that many places. */
export type Cut = { path: Path; what: 'items' | 'members' | 'characters'; shown: number; total: number; places: number }

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

/** Returns whether part of the value can be shown on its own. A number is shown whole or not at all. */
const canBeCut = (value: JsonValue): boolean => typeof value === 'string' || Array.isArray(value) || hasMembers(value)

type Note = (path: Path, cut: Omit<Cut, 'path' | 'places'>) => void

const cutItems = (items: readonly JsonValue[], room: number, path: Path, note: Note): JsonValue[] => {
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
        cut++
        kept.push(cutValue(item, itemRoom, itemPath, note))
        left -= itemRoom
        continue
      }
      break
    }
  }
  if (kept.length < items.length) note(path, { what: 'items', shown: kept.length, total: items.length })
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

const cutMembers = (value: JsonObject, room: number, path: Path, note: Note): JsonObject => {
  const names: string[] = []
  let total = 0
  let named = 0
  let left = room - PUNCTUATION
  for (const name in value) {
    total++
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
    const member = value[name] ?? null
    const share = shares[index] ?? 0
    const isWhole = sizeOf(member, share) <= share
    if (!isWhole && (share < MIN_ROOM || !canBeCut(member))) return []
    return [[name, isWhole ? member : cutValue(member, share, [...path, { kind: 'member', name }], note)]]
  })
  if (entries.length < total) note(path, { what: 'members', shown: entries.length, total })
  return Object.fromEntries(entries)
}

const cutValue = (value: JsonValue, room: number, path: Path, note: Note): JsonValue => {
  if (typeof value === 'string') {
    if (value.length + PUNCTUATION <= room) return value
    const cut = cutText(value, Math.max(0, room - PUNCTUATION - 1), 'text')
    note(path, { what: 'characters', shown: cut.length, total: value.length })
    return `${cut}…`
  }
  if (Array.isArray(value)) return cutItems(value, room, path, note)
  return hasMembers(value) ? cutMembers(value, room, path, note) : value
}

/**
 * Cuts a value to about `room` characters of JSON. Keeps the first items of lists, all small members of objects, and
 * part of each large member. Takes time proportional to the room, not to the size of the value.
 */
export const cutJson = (root: JsonValue, room: number): { value: JsonValue; cuts: readonly Cut[] } => {
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
  const value = cutValue(root, room, [], note)
  return { value, cuts: [...cuts.values()].sort((a, b) => a.path.length - b.path.length) }
}
