import { formatNumber } from '../kernel/format.ts'
import { shorten } from './cut-text.ts'
import { formatAmount } from './format-counts.ts'
import { MAX_SAMPLES, type ValueShape } from './value-shape.ts'

const MAX_SHOWN_CHARACTERS = 60
/** Maximum members shown per object, one per line. */
const MAX_MEMBERS_SHOWN = 60
/** If there are at most this many distinct values and some repeat, all are listed. */
const MAX_CHOICES = 8
const INDENT = '  '

const cut = (text: string): string => shorten(text, MAX_SHOWN_CHARACTERS)

const quote = (text: string): string => JSON.stringify(cut(text))

/** Renders all values if there are few, and otherwise only samples. */
const renderSamples = (
  values: ReadonlySet<string>,
  count: number,
  samples: number,
  show: (one: string) => string,
): string => {
  if (samples === 0 || values.size === 0) return ''
  const all = [...values]
  if (values.size === 1) return count === 1 ? `: ${all.map(show).join()}` : `, always ${all.map(show).join()}`
  const isAll = values.size <= MAX_SAMPLES && values.size <= Math.max(MAX_CHOICES, samples) && count > values.size
  if (isAll) return `, one of ${all.map(show).join(', ')}`
  return `, such as ${all.slice(0, samples).map(show).join(', ')}`
}

const renderNumbers = (
  { count, least, most, hasFractions, samples: values }: ValueShape['numbers'],
  samples: number,
): string => {
  const kind = hasFractions ? 'number' : 'integer'
  // No range is shown for numbers that a double cannot represent.
  const isRanged = Number.isFinite(least) && least < most
  if (isRanged) return `${kind}, ${least} to ${most}`
  return `${kind}${renderSamples(values, count, samples, cut)}`
}

const renderTexts = ({ count, shortest, longest, samples: values }: ValueShape['texts'], samples: number): string => {
  const length = longest === 0 ? 'empty text' : `text of ${formatAmount(shortest, longest, 'character')}`
  return longest === 0 ? length : `${length}${renderSamples(values, count, samples, quote)}`
}

const renderLists = ({ count, shortest, longest, item }: ValueShape['lists'], samples: number): string => {
  const length = count === 0 ? '' : formatAmount(shortest, longest, 'item')
  if (longest === 0) return 'empty list'
  return item === undefined ? `list of ${length}` : `list of ${length}, each ${renderKinds(item, samples)}`
}

const renderObjects = ({ count, members, table }: ValueShape['objects'], samples: number): string => {
  if (table === undefined) return members.size === 0 ? 'empty object' : 'object'
  const keys = [...table.keys].slice(0, Math.max(1, samples)).map(quote).join(', ')
  const named = `table of ${formatAmount(table.fewest, table.most, 'key')} such as ${keys}`
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

/** Renders a line per place, such as `name: text of 3 to 20 characters, such as "Ann"`, with members indented below. */
export const renderShape = (shape: ValueShape, samples: number): readonly string[] => [
  renderKinds(shape, samples),
  ...renderBelow(shape, samples, INDENT),
]
