import type { JsonObject, JsonValue } from '../kernel/json.ts'
import { findExactNumber } from './exact-numbers.ts'
import { isKeyed } from './keyed-object.ts'
import type { Trail } from './trail.ts'
import {
  addToExtremes,
  addToTally,
  createExtremes,
  createTally,
  createTallyRoom,
  type Extremes,
  type Tally,
} from './value-tally.ts'

/** The order in which the texts of a place are compared: as numbers, as dates, or not at all. */
type TextOrder = 'numbers' | 'dates' | 'none'

/** A summary of the values at one place: their kinds, counts, sizes and extremes. */
export type ValueShape = {
  count: number
  nulls: number
  booleans: { count: number; trues: number }
  numbers: { count: number; extremes: Extremes<number>; hasFractions: boolean; tally: Tally<number | string> }
  texts: {
    count: number
    empty: number
    lengths: Extremes<number>
    order: TextOrder | undefined
    extremes: Extremes<string>
    numbers: Extremes<number>
    tally: Tally<string>
  }
  lists: { count: number; lengths: Extremes<number>; item: ValueShape | undefined }
  objects: {
    count: number
    members: Map<string, ValueShape>
    /** Objects whose names are data. `each` describes the values of all keys. */
    table: { count: number; sizes: Extremes<number>; keys: Set<string>; each: ValueShape | undefined } | undefined
  }
}

/** Maximum distinct member names at one place. Further names are not described. */
const MAX_MEMBERS = 500
/** Maximum values shown at one place. */
export const MAX_SAMPLES = 20
/** Maximum keys stored of objects whose names are data, for their pattern. */
const MAX_KEYS = 200

const createShape = (): ValueShape => ({
  count: 0,
  nulls: 0,
  booleans: { count: 0, trues: 0 },
  numbers: { count: 0, extremes: createExtremes(), hasFractions: false, tally: createTally() },
  texts: {
    count: 0,
    empty: 0,
    lengths: createExtremes(),
    order: undefined,
    extremes: createExtremes(),
    numbers: createExtremes(),
    tally: createTally(),
  },
  lists: { count: 0, lengths: createExtremes(), item: undefined },
  objects: { count: 0, members: new Map(), table: undefined },
})

/** Matches a number without leading zeros, which are part of codes such as postcodes. */
const NUMBER_TEXT = /^[-+]?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?(?:e[-+]?\d{1,3})?$/i
/** Matches a date or time whose order is that of its text. */
const DATE_TEXT = /^\d{4}[-/]\d{2}(?:[-/]\d{2}(?:[T ]\d{2}:\d{2}.{0,20})?)?$/

const orderOf = (text: string): TextOrder =>
  NUMBER_TEXT.test(text) ? 'numbers' : DATE_TEXT.test(text) ? 'dates' : 'none'

const fitsOrder = (order: TextOrder, text: string): boolean =>
  order === 'numbers' ? NUMBER_TEXT.test(text) : DATE_TEXT.test(text)

/**
 * Summarizes values. `add` adds a value and everything below it, down to `levels` levels of objects. `trail` leads to
 * it.
 */
export const createShapeReader = () => {
  const shape = createShape()
  const room = createTallyRoom()
  const trail: Trail = []

  const addText = (texts: ValueShape['texts'], value: string): void => {
    texts.count++
    addToTally(texts.tally, value, room)
    addToExtremes(texts.lengths, value.length, trail)
    if (value === '') texts.empty++
    if (value === '' || texts.order === 'none') return
    texts.order ??= orderOf(value)
    if (texts.order === 'none') return
    if (!fitsOrder(texts.order, value)) texts.order = 'none'
    else if (texts.order === 'numbers') addToExtremes(texts.numbers, Number(value), trail)
    else addToExtremes(texts.extremes, value, trail)
  }

  const addNumber = (numbers: ValueShape['numbers'], value: number): void => {
    numbers.count++
    addToTally(numbers.tally, value, room)
    addToExtremes(numbers.extremes, value, trail)
    if (!Number.isInteger(value)) numbers.hasFractions = true
  }

  const addList = (lists: ValueShape['lists'], value: readonly JsonValue[], levels: number): void => {
    lists.count++
    addToExtremes(lists.lengths, value.length, trail)
    if (levels <= 0 || value.length === 0) return
    lists.item ??= createShape()
    // A list does not count as a level, because the caller asks about its items.
    for (const [index, item] of value.entries()) {
      trail.push({ key: index, value: item })
      addValue(lists.item, item, levels)
      trail.pop()
    }
  }

  const addTable = (
    objects: ValueShape['objects'],
    value: JsonObject,
    names: readonly string[],
    levels: number,
  ): void => {
    objects.table ??= { count: 0, sizes: createExtremes(), keys: new Set(), each: undefined }
    const { table } = objects
    table.count++
    addToExtremes(table.sizes, names.length, trail)
    for (const name of names.slice(0, MAX_KEYS - table.keys.size)) table.keys.add(name)
    if (levels <= 0) return
    table.each ??= createShape()
    for (const name of names) {
      const member = value[name] ?? null
      trail.push({ key: name, value: member })
      addValue(table.each, member, levels - 1)
      trail.pop()
    }
  }

  const addObject = (objects: ValueShape['objects'], value: JsonObject, levels: number): void => {
    objects.count++
    const names = Object.keys(value)
    if (isKeyed(value, names)) {
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

  const addValue = (to: ValueShape, value: JsonValue, levels: number): void => {
    to.count++
    if (typeof value === 'string') addText(to.texts, value)
    else if (typeof value === 'number') addNumber(to.numbers, value)
    else if (value === null) to.nulls++
    else if (typeof value === 'boolean') {
      to.booleans.count++
      if (value) to.booleans.trues++
    } else if (Array.isArray(value)) addList(to.lists, value, levels)
    else {
      const exact = findExactNumber(value)
      if (exact === undefined) addObject(to.objects, value, levels)
      else {
        to.numbers.count++
        addToTally(to.numbers.tally, exact, room)
      }
    }
  }

  return {
    shape,
    /** Names and indexes that lead to the next value, which the caller changes. */
    trail,
    add: (value: JsonValue, levels: number): void => addValue(shape, value, levels),
  }
}
