import { formatNumber } from '../kernel/format.ts'
import { shorten } from './cut-text.ts'
import { formatAmount } from './format-counts.ts'
import { keyPattern } from './keyed-object.ts'
import { renderPath } from './path.ts'
import type { ValueShape } from './value-shape.ts'
import { type Extremes, type Found, mostFrequent, type Tally } from './value-tally.ts'

const MAX_SHOWN_CHARACTERS = 60
/** Maximum members shown per object, one per line, and maximum names of an object whose names are data. */
const MAX_MEMBERS_SHOWN = 60
/** If there are at most this many different values, all are listed. */
const MAX_CHOICES = 8
const INDENT = '  '

const cut = (text: string): string => shorten(text, MAX_SHOWN_CHARACTERS)

const quote = (text: string): string => JSON.stringify(cut(text))

/** Renders where a value was found: ` at [12]`. Empty if the path of the place says it. */
const renderAt = ({ at }: Found<unknown>, lead = ' at '): string =>
  at.length === 0
    ? ''
    : `${lead}${renderPath(at.map(key => (typeof key === 'number' ? { kind: 'item', index: key } : { kind: 'member', name: key })))}`

/** Renders a range such as `3 at [0] to 9 at [1]`, or undefined if there are no two values. */
const renderRange = <Value extends string | number>(
  { least, most }: Extremes<Value>,
  show: (value: Value) => string,
): string | undefined =>
  least === undefined || most === undefined || least.value === most.value
    ? undefined
    : `${show(least.value)}${renderAt(least)} to ${show(most.value)}${renderAt(most)}`

/** Renders how many values are different, and the most frequent ones with their counts. */
const renderTally = <Value extends string | number>(
  tally: Tally<Value>,
  count: number,
  samples: number,
  show: (one: Value) => string,
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

const renderNumbers = ({ count, extremes, hasFractions, tally }: ValueShape['numbers'], samples: number): string => {
  const kind = hasFractions ? 'number' : 'integer'
  const range = renderRange(extremes, String)
  // The values of a range that are all different need no samples.
  const isRangeEnough = range !== undefined && tally.counts.size === count
  const values = renderTally(tally, count, isRangeEnough ? 0 : samples, value => cut(String(value)))
  return range === undefined ? `${kind}${values}` : `${kind}, ${range}${values}`
}

const rangeOfTexts = ({ order, extremes, numbers }: ValueShape['texts']): string | undefined => {
  if (order === 'numbers') return renderRange(numbers, String)
  return order === 'dates' ? renderRange(extremes, quote) : undefined
}

const describeLengths = ({ least, most }: Extremes<number>): string => {
  if (least === undefined || most === undefined) return 'text'
  const isLong = most.value > MAX_SHOWN_CHARACTERS && least.value < most.value
  const longest = isLong ? renderAt(most, ' (longest at ') : ''
  return `text of ${formatAmount(least.value, most.value, 'character')}${longest === '' ? '' : `${longest})`}`
}

const renderTexts = (texts: ValueShape['texts'], samples: number): string => {
  const { count, empty, order, lengths, tally } = texts
  if (empty === count) return 'empty text'
  const range = rangeOfTexts(texts)
  const kind = range === undefined ? describeLengths(lengths) : `text of ${order}, ${range}`
  const blank = empty > 0 ? `, empty in ${formatNumber(empty)} of ${formatNumber(count)}` : ''
  const isRangeEnough = range !== undefined && tally.counts.size === count
  return `${kind}${blank}${renderTally(tally, count, isRangeEnough ? 0 : samples, quote)}`
}

const renderLists = ({ lengths: { least, most }, item }: ValueShape['lists'], samples: number): string => {
  if (least === undefined || most === undefined || most.value === 0) return 'empty list'
  const longest = least.value < most.value ? renderAt(most, ' (most at ') : ''
  const length = `${formatAmount(least.value, most.value, 'item')}${longest === '' ? '' : `${longest})`}`
  return item === undefined ? `list of ${length}` : `list of ${length}, each ${renderKinds(item, samples)}`
}

const renderObjects = ({ count, members, table }: ValueShape['objects'], samples: number): string => {
  if (table === undefined) return members.size === 0 ? 'empty object' : 'object'
  const { least, most } = table.sizes
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
const renderKinds = (shape: ValueShape, samples: number): string => {
  const { nulls, booleans, numbers, texts, lists, objects, count } = shape
  const kinds: string[] = []
  if (objects.count > 0) kinds.push(renderObjects(objects, samples))
  if (lists.count > 0) kinds.push(renderLists(lists, samples))
  if (texts.count > 0) kinds.push(renderTexts(texts, samples))
  if (numbers.count > 0) kinds.push(renderNumbers(numbers, samples))
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

const renderBelow = (shape: ValueShape, samples: number, indent: string): readonly string[] => {
  const objects = objectsOf(shape)
  if (objects === undefined) return []
  const plain = objects.count - (objects.table?.count ?? 0)
  const members = [...objects.members].slice(0, MAX_MEMBERS_SHOWN).flatMap(([name, member]) => {
    const isLooked = member.count > member.nulls + countKinds(member) ? '' : `: ${renderKinds(member, samples)}`
    const often = member.count < plain ? ` (in ${formatNumber(member.count)} of ${formatNumber(plain)})` : ''
    return [
      `${indent}${JSON.stringify(name).slice(1, -1)}${often}${isLooked}`,
      ...renderBelow(member, samples, indent + INDENT),
    ]
  })
  const more = objects.members.size - MAX_MEMBERS_SHOWN
  const { table } = objects
  return [
    ...members,
    ...(more > 0 ? [`${indent}and ${formatNumber(more)} more members`] : []),
    ...(table?.each === undefined
      ? []
      : [`${indent}*: ${renderKinds(table.each, samples)}`, ...renderBelow(table.each, samples, indent + INDENT)]),
  ]
}

const countKinds = ({ booleans, numbers, texts, lists, objects }: ValueShape): number =>
  booleans.count + numbers.count + texts.count + lists.count + objects.count

/**
 * Renders a line per place, such as `name: text of 3 to 20 characters, 2 different: "Ann" (3), "Bob" (1)`, with members
 * indented below.
 */
export const renderShape = (shape: ValueShape, samples: number): readonly string[] => [
  renderKinds(shape, samples),
  ...renderBelow(shape, samples, INDENT),
]
