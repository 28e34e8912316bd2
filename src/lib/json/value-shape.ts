import type { JsonObject, JsonValue } from '../kernel/json.ts'
import { findExactNumber } from './exact-numbers.ts'

/** A summary of the values at one place: their kinds, counts and sizes. */
export type ValueShape = {
  count: number
  nulls: number
  booleans: { count: number; trues: number }
  numbers: { count: number; least: number; most: number; hasFractions: boolean; samples: Set<string> }
  texts: { count: number; shortest: number; longest: number; samples: Set<string> }
  lists: { count: number; shortest: number; longest: number; item: ValueShape | undefined }
  objects: {
    count: number
    members: Map<string, ValueShape>
    /** Objects used as maps. `each` describes the values of all keys. */
    table: { count: number; fewest: number; most: number; keys: Set<string>; each: ValueShape | undefined } | undefined
  }
}

/** An object with more members than this counts as a map if its first members are of the same kind. */
const TABLE_MEMBERS = 40
const TABLE_MEMBERS_COMPARED = 8
/** Maximum distinct member names at one place. Further names are not described. */
const MAX_MEMBERS = 500
/** Maximum sample values at one place. */
export const MAX_SAMPLES = 20
/** One more than is shown, to detect whether there are others. */
const MAX_STORED = MAX_SAMPLES + 1
const MAX_SAMPLE_CHARACTERS = 200

export const createShape = (): ValueShape => ({
  count: 0,
  nulls: 0,
  booleans: { count: 0, trues: 0 },
  numbers: {
    count: 0,
    least: Number.POSITIVE_INFINITY,
    most: Number.NEGATIVE_INFINITY,
    hasFractions: false,
    samples: new Set(),
  },
  texts: { count: 0, shortest: Number.POSITIVE_INFINITY, longest: 0, samples: new Set() },
  lists: { count: 0, shortest: Number.POSITIVE_INFINITY, longest: 0, item: undefined },
  objects: { count: 0, members: new Map(), table: undefined },
})

const kindOf = (value: JsonValue | undefined): string =>
  Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value

const isTable = (value: JsonObject, names: readonly string[]): boolean => {
  if (names.length <= TABLE_MEMBERS) return false
  const kind = kindOf(value[names[0] ?? ''])
  return names.slice(0, TABLE_MEMBERS_COMPARED).every(name => kindOf(value[name]) === kind)
}

const addText = (texts: ValueShape['texts'], value: string): void => {
  texts.count++
  if (value.length < texts.shortest) texts.shortest = value.length
  if (value.length > texts.longest) texts.longest = value.length
  if (texts.samples.size < MAX_STORED) texts.samples.add(value.slice(0, MAX_SAMPLE_CHARACTERS))
}

const addNumber = (numbers: ValueShape['numbers'], value: number): void => {
  numbers.count++
  if (value < numbers.least) numbers.least = value
  if (value > numbers.most) numbers.most = value
  if (!Number.isInteger(value)) numbers.hasFractions = true
  if (numbers.samples.size < MAX_STORED) numbers.samples.add(String(value))
}

const addList = (lists: ValueShape['lists'], value: readonly JsonValue[], levels: number): void => {
  lists.count++
  if (value.length < lists.shortest) lists.shortest = value.length
  if (value.length > lists.longest) lists.longest = value.length
  if (levels <= 0 || value.length === 0) return
  lists.item ??= createShape()
  // A list does not count as a level, because the caller asks about its items.
  for (const item of value) addValue(lists.item, item, levels)
}

const addTable = (
  objects: ValueShape['objects'],
  value: JsonObject,
  names: readonly string[],
  levels: number,
): void => {
  objects.table ??= { count: 0, fewest: names.length, most: 0, keys: new Set(), each: undefined }
  const { table } = objects
  table.count++
  table.fewest = Math.min(table.fewest, names.length)
  table.most = Math.max(table.most, names.length)
  for (const name of names) {
    if (table.keys.size >= MAX_STORED) break
    table.keys.add(name.slice(0, MAX_SAMPLE_CHARACTERS))
  }
  if (levels <= 0) return
  table.each ??= createShape()
  for (const name of names) addValue(table.each, value[name] ?? null, levels - 1)
}

const addObject = (objects: ValueShape['objects'], value: JsonObject, levels: number): void => {
  objects.count++
  const names = Object.keys(value)
  if (isTable(value, names)) {
    addTable(objects, value, names, levels)
    return
  }
  for (const name of names) {
    let member = objects.members.get(name)
    if (member === undefined) {
      if (objects.members.size >= MAX_MEMBERS) continue
      member = createShape()
      objects.members.set(name, member)
    }
    if (levels > 0) addValue(member, value[name] ?? null, levels - 1)
    else member.count++
  }
}

/** Adds a value and everything below it to a shape, down to `levels` levels of objects. */
export const addValue = (shape: ValueShape, value: JsonValue, levels: number): void => {
  shape.count++
  if (typeof value === 'string') addText(shape.texts, value)
  else if (typeof value === 'number') addNumber(shape.numbers, value)
  else if (value === null) shape.nulls++
  else if (typeof value === 'boolean') {
    shape.booleans.count++
    if (value) shape.booleans.trues++
  } else if (Array.isArray(value)) addList(shape.lists, value, levels)
  else {
    const exact = findExactNumber(value)
    if (exact === undefined) addObject(shape.objects, value, levels)
    else {
      shape.numbers.count++
      if (shape.numbers.samples.size < MAX_STORED) shape.numbers.samples.add(exact)
    }
  }
}
