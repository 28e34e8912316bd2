import { formatNumber } from '../kernel/format.ts'
import { shorten } from './cut-text.ts'
import { formatAmount } from './format-counts.ts'
import { keyPattern } from './keyed-object.ts'
import { renderPath } from './path.ts'
import { findRecordName } from './trail.ts'
import type { ValueShape } from './value-shape.ts'
import { type Extremes, type Found, mostFrequent, type Tally } from './value-tally.ts'

const MAX_SHOWN_CHARACTERS = 60
/** Characters shown of the name of a record. */
const MAX_NAME_CHARACTERS = 24
const MAX_ID_CHARACTERS = 12
/** Maximum members shown per object, one per line, and maximum names of an object whose names are data. */
const MAX_MEMBERS_SHOWN = 60
/** If there are at most this many different values, all are listed. */
const MAX_CHOICES = 8
/** A share of the values below which the most frequent one says little beside a range. */
const MIN_FREQUENT_SHARE = 0.02
const INDENT = '  '

const cut = (text: string): string => shorten(text, MAX_SHOWN_CHARACTERS)

const quote = (text: string): string => JSON.stringify(cut(text))

/** How much an outline says of each place: samples, values at either end, and whether it names the records of these. */
export type Detail = { samples: number; extremes: number; hasNames: boolean }

/** Renders the path to where a value was found: `[12]`. */
const renderAt = ({ at }: Found<unknown>): string =>
  renderPath(
    at.map(({ key }) => (typeof key === 'number' ? { kind: 'item', index: key } : { kind: 'member', name: key })),
  )

/** Renders the name of the only record with a value: ` "Ann"`, or ` id 7` if it has only a short id. */
const renderName = ({ at, value, count }: Found<unknown>): string => {
  const record = count > 1 ? undefined : findRecordName(at)
  if (record === undefined || record.value === value || record.value === at.at(-1)?.key) return ''
  const text = String(record.value)
  // A long id takes many tokens and says no more than the place.
  if (record.isId && text.length > MAX_ID_CHARACTERS) return ''
  const name = typeof record.value === 'string' ? JSON.stringify(shorten(text, MAX_NAME_CHARACTERS)) : text
  return record.isId ? ` ${shorten(record.field, MAX_NAME_CHARACTERS)} ${name}` : ` ${name}`
}

type Show<Value> = (value: Value) => string

const renderFound = <Value>(found: Found<Value>, { hasNames }: Detail, show: Show<Value>): string =>
  found.at.length === 0
    ? show(found.value)
    : `${show(found.value)} at ${renderAt(found)}${hasNames ? renderName(found) : ''}`

/** Returns the values at one end that the first `records` records have. */
const endOf = <Value>(end: readonly Found<Value>[], records: number): readonly Found<Value>[] => {
  let before = 0
  return end.filter(({ count }) => {
    const isWithin = before < records
    before += count
    return isWithin
  })
}

const renderEnd = <Value>(end: readonly Found<Value>[], detail: Detail, show: Show<Value>): string =>
  end
    .map(
      found =>
        `${renderFound(found, detail, show)}${found.count > 1 ? ` and ${formatNumber(found.count - 1)} more` : ''}`,
    )
    .join(', ')

/**
 * Renders a range such as `, 3 at [0] to 9 at [1]`, or ` (lowest …; highest …)` with the values that follow at either end
 * if more than one record is to be shown. Empty if there are no two values.
 */
const renderRange = <Value extends string | number>(
  { least, most }: Extremes<Value>,
  different: number,
  detail: Detail,
  show: Show<Value>,
): string => {
  const [first] = least
  const [last] = most
  if (first === undefined || last === undefined || first.value === last.value) return ''
  const [lowest, highest] = [endOf(least, detail.extremes), endOf(most, detail.extremes)]
  const isOne = lowest.length === 1 && highest.length === 1
  // If there are few different values, all of them are listed.
  return isOne || different <= MAX_CHOICES
    ? `, ${renderFound(first, detail, show)} to ${renderFound(last, detail, show)}`
    : ` (lowest ${renderEnd(lowest, detail, show)}; highest ${renderEnd(highest, detail, show)})`
}

/**
 * Returns the number of samples to show beside a range: none if even the most frequent value is rare, because the range
 * says more.
 */
const samplesBeside = (tally: Tally<string | number>, count: number, range: string, samples: number): number => {
  const [most] = mostFrequent(tally, 1)
  const isRare = most !== undefined && (most[1] === 1 || most[1] < count * MIN_FREQUENT_SHARE)
  return range !== '' && isRare ? 0 : samples
}

/** Renders how many values are different, and the most frequent ones with their counts. */
const renderTally = <Value extends string | number>(
  tally: Tally<Value>,
  count: number,
  samples: number,
  show: Show<Value>,
): string => {
  const different = tally.counts.size
  if (different === 0) return ''
  const [first] = tally.counts.keys()
  if (first !== undefined && different === 1 && !tally.isPartial) {
    if (samples === 0) return ''
    return count === 1 ? `: ${show(first)}` : `, always ${show(first)}`
  }
  const isAllDifferent = different === count
  const amount = isAllDifferent
    ? 'all different'
    : `${tally.isPartial ? 'at least ' : ''}${formatNumber(different)} different`
  if (samples === 0) return `, ${amount}`
  if (isAllDifferent) {
    return `, ${amount}, such as ${[...tally.counts.keys()].slice(0, samples).map(show).join(', ')}`
  }
  const isAll = different <= Math.max(MAX_CHOICES, samples)
  const shown = mostFrequent(tally, isAll ? different : samples)
  const listed = shown.map(([value, times]) => `${show(value)} (${formatNumber(times)})`).join(', ')
  return isAll ? `, ${amount}: ${listed}` : `, ${amount}, most often ${listed}`
}

const renderNumbers = ({ count, extremes, hasFractions, tally }: ValueShape['numbers'], detail: Detail): string => {
  const kind = hasFractions ? 'number' : 'integer'
  const range = renderRange(extremes, tally.counts.size, detail, String)
  const samples = samplesBeside(tally, count, range, detail.samples)
  return `${kind}${range}${renderTally(tally, count, samples, value => cut(String(value)))}`
}

const rangeOfTexts = ({ order, extremes, numbers, tally }: ValueShape['texts'], detail: Detail): string => {
  if (order === 'numbers') return renderRange(numbers, tally.counts.size, detail, String)
  return order === 'dates' ? renderRange(extremes, tally.counts.size, detail, quote) : ''
}

const describeLengths = ({ least: [shortest], most: [longest] }: Extremes<number>): string => {
  if (shortest === undefined || longest === undefined) return 'text'
  const isLong = longest.value > MAX_SHOWN_CHARACTERS && shortest.value < longest.value
  const where = isLong && longest.at.length > 0 ? ` (longest at ${renderAt(longest)})` : ''
  return `text of ${formatAmount(shortest.value, longest.value, 'character')}${where}`
}

const renderTexts = (texts: ValueShape['texts'], detail: Detail): string => {
  const { count, empty, order, lengths, tally } = texts
  if (empty === count) return 'empty text'
  const range = rangeOfTexts(texts, detail)
  const kind = range === '' ? describeLengths(lengths) : `text of ${order}${range}`
  const blank = empty > 0 ? `, empty in ${formatNumber(empty)} of ${formatNumber(count)}` : ''
  const samples = samplesBeside(tally, count, range, detail.samples)
  return `${kind}${blank}${renderTally(tally, count, samples, quote)}`
}

const renderLists = ({ lengths, item }: ValueShape['lists'], detail: Detail): string => {
  const [shortest] = lengths.least
  const [longest] = lengths.most
  if (shortest === undefined || longest === undefined || longest.value === 0) return 'empty list'
  const hasLongest = shortest.value < longest.value && longest.at.length > 0
  const where = hasLongest ? ` (most at ${renderAt(longest)}${detail.hasNames ? renderName(longest) : ''})` : ''
  const length = `${formatAmount(shortest.value, longest.value, 'item')}${where}`
  return item === undefined ? `list of ${length}` : `list of ${length}, each ${renderKinds(item, detail)}`
}

const renderObjects = ({ count, members, table }: ValueShape['objects'], samples: number): string => {
  if (table === undefined) return members.size === 0 ? 'empty object' : 'object'
  const [[least], [most]] = [table.sizes.least, table.sizes.most]
  const all = [...table.keys]
  const pattern = keyPattern(all)
  const wordsShown = (most?.value ?? 0) <= MAX_MEMBERS_SHOWN ? MAX_MEMBERS_SHOWN : MAX_CHOICES
  const like = pattern === undefined ? '' : ` like ${pattern},`
  // Without a pattern, the names may be words that a reader looks for, unless they are too many.
  const keys = all
    .slice(0, pattern === undefined ? wordsShown : Math.max(1, samples))
    .map(quote)
    .join(', ')
  const named = `table of ${formatAmount(least?.value ?? 0, most?.value ?? 0, 'key')}${like} such as ${keys}`
  return count > table.count ? `object or ${named}` : named
}

/** Describes the values at one place in a few words. */
const renderKinds = (shape: ValueShape, detail: Detail): string => {
  const { nulls, booleans, numbers, texts, lists, objects, count } = shape
  const kinds: string[] = []
  if (objects.count > 0) kinds.push(renderObjects(objects, detail.samples))
  if (lists.count > 0) kinds.push(renderLists(lists, detail))
  if (texts.count > 0) kinds.push(renderTexts(texts, detail))
  if (numbers.count > 0) kinds.push(renderNumbers(numbers, detail))
  if (booleans.count > 0) {
    const { trues } = booleans
    if (trues === 0 || trues === booleans.count) kinds.push(`always ${trues > 0}`)
    else kinds.push(`boolean, true in ${formatNumber(trues)} of ${formatNumber(booleans.count)}`)
  }
  if (nulls > 0)
    kinds.push(nulls === count ? 'always null' : `null in ${formatNumber(nulls)} of ${formatNumber(count)}`)
  return kinds.length === 0 ? 'something' : kinds.join('; or ')
}

const objectsOf = (shape: ValueShape): ValueShape['objects'] | undefined => {
  if (shape.objects.count > 0) return shape.objects
  return shape.lists.item === undefined ? undefined : objectsOf(shape.lists.item)
}

const renderBelow = (shape: ValueShape, detail: Detail, indent: string): readonly string[] => {
  const objects = objectsOf(shape)
  if (objects === undefined) return []
  const plain = objects.count - (objects.table?.count ?? 0)
  const members = [...objects.members].slice(0, MAX_MEMBERS_SHOWN).flatMap(([name, member]) => {
    const isLooked = member.count > member.nulls + countKinds(member) ? '' : `: ${renderKinds(member, detail)}`
    const often = member.count < plain ? ` (in ${formatNumber(member.count)} of ${formatNumber(plain)})` : ''
    return [
      `${indent}${JSON.stringify(name).slice(1, -1)}${often}${isLooked}`,
      ...renderBelow(member, detail, indent + INDENT),
    ]
  })
  const more = objects.members.size - MAX_MEMBERS_SHOWN
  const { table } = objects
  return [
    ...members,
    ...(more > 0 ? [`${indent}and ${formatNumber(more)} more members`] : []),
    ...(table?.each === undefined
      ? []
      : [`${indent}*: ${renderKinds(table.each, detail)}`, ...renderBelow(table.each, detail, indent + INDENT)]),
  ]
}

const countKinds = ({ booleans, numbers, texts, lists, objects }: ValueShape): number =>
  booleans.count + numbers.count + texts.count + lists.count + objects.count

/**
 * Renders a line per place, such as `name: text of 3 to 20 characters, 2 different: "Ann" (3), "Bob" (1)`, with members
 * indented below.
 */
export const renderShape = (shape: ValueShape, detail: Detail): readonly string[] => [
  renderKinds(shape, detail),
  ...renderBelow(shape, detail, INDENT),
]
