// Reads a JSON Schema as a tree of members, as the parameter table shows it, and writes it again. A schema that says more
// than the table can show is not read.

/** @typedef {Record<string, unknown>} Schema */
/**
 * A type of value in the table. `any` is any JSON value; `date` and `url` are strings with a format.
 * @typedef {'any' | 'string' | 'integer' | 'number' | 'boolean' | 'date' | 'url' | 'object' | 'array'} ValueType
 */
/**
 * A value: `members` are those of an object, `item` describes the items of an array, `values` are all that it may be.
 * `rest` has the keywords that the table does not edit.
 * @typedef {{
 *   type: ValueType,
 *   description?: string | undefined,
 *   values?: (string | number)[] | undefined,
 *   rest: Schema,
 *   members: Member[],
 *   item?: Value | undefined,
 * }} Value
 */
/** @typedef {{ name: string, required: boolean, value: Value }} Member */

/** Larger schemas are quicker to edit as text. */
const MAX_VALUES = 200
const MAX_DEPTH = 8

/** Keywords that have no effect on which values are valid, except for `default`. */
const ANNOTATIONS = ['title', 'deprecated', 'readOnly', 'writeOnly', 'default', 'examples']
/** Annotations that stay when the type changes. */
const LASTING = new Set(['title', 'deprecated', 'readOnly', 'writeOnly'])
const OF_TEXT = ['format', 'minLength', 'maxLength', 'pattern']
const OF_NUMBER = ['format', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

/** The keywords that each type may have besides those of the table. @type {Record<ValueType, readonly string[]>} */
const OTHER_KEYWORDS = {
  any: [],
  string: OF_TEXT,
  integer: OF_NUMBER,
  number: OF_NUMBER,
  boolean: [],
  date: [],
  url: OF_TEXT,
  object: ['minProperties', 'maxProperties', 'additionalProperties'],
  array: ['minItems', 'maxItems', 'uniqueItems'],
}

/** The types whose allowed values can be listed. */
const LISTED = new Set(['string', 'integer', 'number'])

/** @param {ValueType} type */
export const canListValues = type => LISTED.has(type)

/** @param {ValueType} [type] @returns {Value} */
export const createValue = (type = 'string') => ({ type, rest: {}, members: [] })

/** @param {unknown} value @returns {value is Schema} */
const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value)

/** @param {Schema} schema @returns {ValueType | undefined} */
const typeOf = ({ type, format }) => {
  if (type === undefined) return 'any'
  if (type === 'string') return format === 'date' ? 'date' : format === 'uri' ? 'url' : 'string'
  return ['integer', 'number', 'boolean', 'object', 'array'].find(known => known === type)
}

/** Returns whether the values can be written one per line. @param {ValueType} type @param {unknown} values */
const areLines = (type, values) =>
  Array.isArray(values) &&
  values.length > 0 &&
  values.every(value =>
    type === 'string'
      ? typeof value === 'string' && value.trim() !== '' && !/[\r\n]/.test(value)
      : typeof value === 'number' && !Object.is(value, -0) && (type === 'number' || Number.isInteger(value)),
  )

/** @param {Schema} schema @param {ReadBudget} budget @returns {Pick<Value, 'members'> | undefined} */
const readMembers = ({ properties = {}, required = [] }, budget) => {
  if (!isObject(properties) || !Array.isArray(required)) return undefined
  const names = new Set(required)
  if (names.size !== required.length || required.some(name => !Object.hasOwn(properties, name))) return undefined
  /** @type {Member[]} */
  const members = []
  for (const [name, schema] of Object.entries(properties)) {
    const value = readValue(schema, { ...budget, depth: budget.depth - 1, left: budget.left })
    if (name === '' || value === undefined) return undefined
    members.push({ name, required: names.has(name), value })
  }
  return { members }
}

/** `left` counts the values of the whole schema. @typedef {{ depth: number, left: { values: number } }} ReadBudget */

/** @param {unknown} schema @param {ReadBudget} budget @returns {Value | undefined} */
const readValue = (schema, budget) => {
  budget.left.values--
  if (!isObject(schema) || budget.depth < 0 || budget.left.values < 0) return undefined
  const type = typeOf(schema)
  if (type === undefined) return undefined
  const { type: _type, description, enum: values, properties, required, items, ...others } = schema
  const { format: _format, ...unformatted } = others
  const rest = type === 'date' || type === 'url' ? unformatted : others
  const known = [...ANNOTATIONS, ...OTHER_KEYWORDS[type]]
  if (Object.keys(rest).some(keyword => !known.includes(keyword))) return undefined
  if (description !== undefined && (typeof description !== 'string' || description === '')) return undefined
  if (isObject(rest.additionalProperties)) return undefined
  if (values !== undefined && !(canListValues(type) && areLines(type, values))) return undefined
  if (type !== 'object' && (properties !== undefined || required !== undefined)) return undefined
  if (type !== 'array' && items !== undefined) return undefined
  const nested = type === 'object' ? readMembers(schema, budget) : { members: [] }
  const item = items === undefined ? undefined : readValue(items, { ...budget, depth: budget.depth - 1 })
  if (nested === undefined || (items !== undefined && item === undefined)) return undefined
  // Empty lists are kept as they are.
  if (isObject(properties) && nested.members.length === 0) rest.properties = {}
  if (Array.isArray(required) && required.length === 0) rest.required = []
  return { type, description, values, rest, ...nested, item }
}

/** Reads a schema. Returns undefined if the table cannot show all of it. @param {unknown} schema */
export const readSchema = schema => readValue(schema, { depth: MAX_DEPTH, left: { values: MAX_VALUES } })

/** @param {ValueType} type @returns {Schema} */
const typeKeywords = type => {
  if (type === 'any') return {}
  if (type === 'date') return { type: 'string', format: 'date' }
  return type === 'url' ? { type: 'string', format: 'uri' } : { type }
}

/** Writes a value as JSON Schema 2020-12. Members without a name are left out. @param {Value} value @returns {Schema} */
export const writeSchema = ({ type, description, values, rest, members, item }) => {
  const named = members.filter(({ name }) => name !== '')
  const required = named.flatMap(member => (member.required ? member.name : []))
  return {
    ...typeKeywords(type),
    ...(description && { description }),
    ...(values && { enum: values }),
    ...rest,
    ...(named.length > 0 && { properties: Object.fromEntries(named.map(one => [one.name, writeSchema(one.value)])) }),
    ...(required.length > 0 && { required }),
    ...(item && { items: writeSchema(item) }),
  }
}

/** Changes the type of a value, and removes what only the former type can have. @param {Value} value @param {ValueType} type */
export const changeType = (value, type) => {
  value.type = type
  value.rest = Object.fromEntries(Object.entries(value.rest).filter(([keyword]) => LASTING.has(keyword)))
  value.values = undefined
  value.members = []
  value.item = type === 'array' ? createValue('any') : undefined
}

/** Sets the allowed values from one per line. Lines that are no values of the type are left out. @param {Value} value @param {string} text */
export const setValues = (value, text) => {
  const lines = text.split('\n').filter(line => line.trim() !== '')
  const isNumber = value.type === 'integer' ? Number.isSafeInteger : Number.isFinite
  const values = value.type === 'string' ? lines : lines.map(Number).filter(isNumber)
  value.values = values.length === 0 ? undefined : values
}
