import { formatNumber } from '../../lib/kernel/format.ts'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../lib/kernel/json.ts'
import { describeJsonFault, findJsonFault } from '../../lib/kernel/json-fault.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { fixedText } from '../../servers/bindings/sockets.ts'

/** A form field for one argument of a tool. */
export type ArgumentField = {
  name: string
  kind: 'line' | 'text' | 'integer' | 'number' | 'boolean' | 'choice' | 'json'
  isRequired: boolean
  schema: JsonObject
}

/** Maximum number of fields. If a tool has more arguments, the user types them as JSON. */
const MAX_FIELDS = 100
/** Maximum length of text that is entered in a single-line field. */
const MAX_LINE_CHARACTERS = 200
/** Schema keywords that a plain form cannot represent. */
const BRANCHES = ['$ref', 'oneOf', 'anyOf', 'allOf', 'not', 'if'] as const

const textOf = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
const numberOf = (value: JsonValue | undefined): number | undefined => (typeof value === 'number' ? value : undefined)

/** Returns the schema's type without null. Users leave the field empty instead of entering null. */
const typeOf = ({ type }: JsonObject): JsonValue | undefined => {
  if (!Array.isArray(type)) return type
  const others = type.filter(name => name !== 'null')
  return others.length === 1 ? others[0] : undefined
}

const optionsOf = (schema: JsonObject): readonly JsonValue[] | undefined => {
  if (Array.isArray(schema.enum)) return schema.enum
  return schema.const === undefined ? undefined : [schema.const]
}

const kindOf = (schema: JsonObject): ArgumentField['kind'] => {
  if (optionsOf(schema) !== undefined) return 'choice'
  if (BRANCHES.some(name => schema[name] !== undefined)) return 'json'
  const type = typeOf(schema)
  if (type === 'integer' || type === 'number' || type === 'boolean') return type
  if (type !== 'string') return 'json'
  const most = numberOf(schema.maxLength)
  const isShort = most !== undefined && most <= MAX_LINE_CHARACTERS
  return isShort || schema.format !== undefined || schema.pattern !== undefined ? 'line' : 'text'
}

/** Returns the fields for a tool's arguments, in order; undefined if a plain form cannot represent the schema. */
export const toFields = (inputSchema: JsonObject): ArgumentField[] | undefined => {
  const { properties = {}, required } = inputSchema
  if (!isJsonObject(properties) || BRANCHES.some(name => inputSchema[name] !== undefined)) return undefined
  const entries = Object.entries(properties)
  if (entries.length > MAX_FIELDS) return undefined
  const needed = Array.isArray(required) ? required : []
  return entries.map(([name, schema]) => {
    const known = isJsonObject(schema) ? schema : {}
    return { name, kind: kindOf(known), isRequired: needed.includes(name), schema: known }
  })
}

/** Returns the options of a field. Each value is encoded as JSON, because it need not be a string. */
export const choicesOf = ({ kind, schema }: ArgumentField): { value: string; text: string }[] => {
  const options = kind === 'boolean' ? [true, false] : (optionsOf(schema) ?? [])
  return options.map(option => ({ value: JSON.stringify(option), text: fixedText(option) }))
}

const rangeText = (least: number | undefined, most: number | undefined, unit = ''): string | undefined => {
  if (least !== undefined && most !== undefined) return `${formatNumber(least)} to ${formatNumber(most)}${unit}`
  if (least !== undefined) return `at least ${formatNumber(least)}${unit}`
  return most === undefined ? undefined : `at most ${formatNumber(most)}${unit}`
}

/** Returns the hint below a field, which consists of its description, limits and default. */
export const hintOf = ({ kind, schema, isRequired }: ArgumentField): string => {
  const [example] = Array.isArray(schema.examples) ? schema.examples : []
  const format = textOf(schema.format)
  const pattern = textOf(schema.pattern)
  const limits = [
    rangeText(numberOf(schema.minimum), numberOf(schema.maximum)),
    rangeText(numberOf(schema.minLength), numberOf(schema.maxLength), ' characters'),
    format && `format ${format}`,
    pattern && `pattern ${pattern}`,
    kind === 'json' ? 'JSON: put text in double quotes' : undefined,
  ].filter(text => text !== undefined && text !== '')
  const sentences = [
    textOf(schema.description),
    limits.length === 0 ? undefined : limits.join(', '),
    example === undefined ? undefined : `for example ${fixedText(example)}`,
    schema.default === undefined ? undefined : `default ${fixedText(schema.default)}`,
    schema.default === undefined && !isRequired ? 'optional' : undefined,
  ].filter(text => text !== undefined)
  return sentences.join(' · ')
}

const checkRange = ({ schema }: ArgumentField, value: number): Result<JsonValue, string> => {
  const { minimum, maximum } = schema
  if (typeof minimum === 'number' && value < minimum) return failure(`must be at least ${formatNumber(minimum)}`)
  if (typeof maximum === 'number' && value > maximum) return failure(`must be at most ${formatNumber(maximum)}`)
  return success(value)
}

const checkLength = ({ schema }: ArgumentField, value: string): Result<JsonValue, string> => {
  const least = numberOf(schema.minLength) ?? 0
  const most = numberOf(schema.maxLength) ?? Number.POSITIVE_INFINITY
  const length = [...value].length
  if (length < least) return failure(`must have at least ${formatNumber(least)} characters`)
  if (length > most)
    return failure(`must have at most ${formatNumber(most)} characters, but has ${formatNumber(length)}`)
  return success(value)
}

/** Parses JSON typed by a user. A syntax error includes its line and column. */
export const parseTypedJson = (text: string, maxDepth: number): Result<JsonValue, string> => {
  const parsed = parseJson(text, maxDepth)
  if (parsed.ok) return success(parsed.value)
  const fault = parsed.error.reason === 'syntax' ? findJsonFault(text) : undefined
  return failure(
    fault === undefined ? `is not accepted: ${parsed.error.message}` : `is not JSON: ${describeJsonFault(fault)}`,
  )
}

const WHOLE = /^[+-]?\d+$/

const parseFilled = (field: ArgumentField, text: string, maxDepth: number): Result<JsonValue, string> => {
  const trimmed = text.trim()
  switch (field.kind) {
    case 'line':
    case 'text':
      return checkLength(field, text)
    case 'integer':
      return WHOLE.test(trimmed) && Number.isSafeInteger(Number(trimmed))
        ? checkRange(field, Number(trimmed))
        : failure('must be a whole number, such as 3')
    case 'number':
      return Number.isFinite(Number(trimmed))
        ? checkRange(field, Number(trimmed))
        : failure('must be a number, such as 1.5')
    case 'boolean':
    case 'choice': {
      const chosen = choicesOf(field).find(({ value }) => value === text)
      return chosen === undefined ? failure('must be an option from the list') : success(JSON.parse(chosen.value))
    }
    case 'json':
      return parseTypedJson(text, maxDepth)
  }
}

export type TypedArguments = { args: JsonObject; errors: ReadonlyMap<string, string> }

/** Parses the arguments from the form's fields. Omits empty and invalid arguments. */
export const parseArguments = (
  fields: readonly ArgumentField[],
  typed: (name: string) => string,
  maxDepth: number,
): TypedArguments => {
  const errors = new Map<string, string>()
  const args = fields.flatMap(field => {
    // Browsers send every line break as CR LF.
    const text = typed(field.name).replaceAll('\r\n', '\n')
    if (text.trim() === '') {
      if (field.isRequired && field.schema.default === undefined) errors.set(field.name, 'is required')
      return text === '' || (field.kind !== 'line' && field.kind !== 'text') ? [] : [[field.name, text] as const]
    }
    const parsed = parseFilled(field, text, maxDepth)
    if (parsed.ok) return [[field.name, parsed.value] as const]
    errors.set(field.name, parsed.error)
    return []
  })
  return { args: Object.fromEntries(args), errors }
}

const EXAMPLES: Readonly<Record<ArgumentField['kind'], JsonValue>> = {
  line: '',
  text: '',
  integer: 0,
  number: 0,
  boolean: false,
  choice: null,
  json: null,
}

/** Returns the required arguments as a starting point for a user who types JSON. */
export const sketchArguments = (fields: readonly ArgumentField[]): JsonObject =>
  Object.fromEntries(
    fields
      .filter(({ isRequired }) => isRequired)
      .map(({ name, kind, schema }) => {
        const [example] = Array.isArray(schema.examples) ? schema.examples : (optionsOf(schema) ?? [])
        return [name, schema.default ?? example ?? EXAMPLES[kind]]
      }),
  )
