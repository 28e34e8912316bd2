import type { FieldError } from '../../lib/kernel/errors.ts'
import type { JsonValue } from '../../lib/kernel/json.ts'
import { describeJsonFault, findJsonFault } from '../../lib/kernel/json-fault.ts'
import { castValue, type ParameterMeta } from '../../templates/check-value.ts'
import type { TemplateParameter } from '../../templates/template.ts'

type ParameterType = TemplateParameter['type']

/**
 * The typed values of the fields in a parameter's row. `binding` is the key of a server's secret, set by an import.
 * Without it, a stored binding stays.
 */
export type ParameterTexts = { [Key in Exclude<keyof ParameterMeta, 'schema'>]?: string | undefined }

const textOf = (value: JsonValue | undefined): string => {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Converts parameter metadata to field values. An enum has one value per line. */
export const textsOfMeta = (meta: ParameterMeta): ParameterTexts => ({
  description: meta.description,
  default: textOf(meta.default),
  enum: (meta.enum ?? []).map(textOf).join('\n'),
  example: textOf(meta.example),
  minimum: textOf(meta.minimum),
  maximum: textOf(meta.maximum),
  pattern: meta.pattern,
})

/** Casts text to the parameter's type. Returns text that cannot be cast unchanged, so that later checks reject it. */
const readValue = (type: ParameterType, text: string): JsonValue => {
  const cast = castValue(type, text, 'text')
  return cast.ok ? cast.value : text
}

/** Returns an error for invalid JSON, because `castValue` accepts any text as a value of type json. */
const findValueFault = (type: ParameterType, text: string): string | undefined => {
  const fault = type === 'json' && text !== '' ? findJsonFault(text) : undefined
  return fault && `is not valid JSON: ${describeJsonFault(fault)}`
}

type Read = { meta: ParameterMeta; errors: readonly FieldError[] }

const KEYS = ['default', 'example'] as const
const LIMITS = ['minimum', 'maximum'] as const

const readLimit = (text: string): number | undefined => {
  const cast = castValue('number', text, 'text')
  return cast.ok && typeof cast.value === 'number' ? cast.value : undefined
}

/** Maximum enum values read, one more than are allowed. */
const MAX_VALUES_CHECKED = 501

/** Reads a parameter's metadata. `path` is the prefix of the paths in errors. */
const readMeta = (type: ParameterType, texts: ParameterTexts, path: string): Read => {
  const errors: FieldError[] = []
  const meta: ParameterMeta = {}
  if (texts.description?.trim()) meta.description = texts.description.trim()
  if (texts.pattern) meta.pattern = texts.pattern
  for (const key of KEYS) {
    const text = texts[key] ?? ''
    if (text === '') continue
    const fault = findValueFault(type, text)
    if (fault === undefined) meta[key] = readValue(type, text)
    else errors.push({ path: `${path}.${key}`, message: `the ${key} ${fault}` })
  }
  for (const key of LIMITS) {
    const text = texts[key]?.trim() ?? ''
    if (text === '') continue
    const limit = readLimit(text)
    if (limit === undefined)
      errors.push({ path: `${path}.${key}`, message: `the ${key} must be a number, such as 100` })
    else meta[key] = limit
  }
  const lines = (texts.enum ?? '').split('\n').filter(line => line.trim() !== '')
  const faults = lines.slice(0, MAX_VALUES_CHECKED).flatMap((line, index) => {
    const fault = findValueFault(type, line)
    return fault === undefined ? [] : [{ path: `${path}.enum`, message: `value ${index + 1} ${fault}` }]
  })
  if (lines.length > 0 && faults.length === 0) meta.enum = lines.map(line => readValue(type, line))
  return { meta, errors: [...errors, ...faults] }
}

const isAsStored = (texts: ParameterTexts, stored: ParameterMeta): boolean => {
  const before = textsOfMeta(stored)
  const keys = ['description', 'default', 'enum', 'example', 'minimum', 'maximum', 'pattern'] as const
  return keys.every(key => (texts[key] ?? '') === (before[key] ?? ''))
}

/** Returns the fields that the form does not have, which saving it must keep. */
const notInForm = ({ schema, binding }: ParameterMeta = {}): ParameterMeta => ({
  ...(schema !== undefined && { schema }),
  ...(binding !== undefined && { binding }),
})

const typedBinding = ({ binding: key }: ParameterTexts): ParameterMeta =>
  key ? { binding: { source: 'server', key, secret: true } } : {}

/**
 * Reads the metadata of the request's parameters. Unchanged fields keep their `stored` value, because some values that
 * the API accepts cannot be typed in the form, such as an enum value with a line break.
 */
export const readMetas = (
  parameters: readonly TemplateParameter[],
  texts: ReadonlyMap<string, ParameterTexts>,
  stored: Readonly<Record<string, ParameterMeta>>,
): { metas: Record<string, ParameterMeta>; errors: readonly FieldError[] } => {
  const read = parameters.map(({ name, type }) => {
    const typed = texts.get(name) ?? {}
    const before = Object.hasOwn(stored, name) ? stored[name] : undefined
    if (before !== undefined && isAsStored(typed, before))
      return { name, meta: { ...before, ...typedBinding(typed) }, errors: [] }
    const { meta, errors } = readMeta(type, typed, `parameters.${name}`)
    return { name, meta: { ...meta, ...notInForm(before), ...typedBinding(typed) }, errors }
  })
  return {
    metas: Object.fromEntries(read.flatMap(({ name, meta }) => (Object.keys(meta).length === 0 ? [] : [[name, meta]]))),
    errors: read.flatMap(({ errors }) => errors),
  }
}

/** Reads the values for trying the tool. Omits empty values. */
export const readArguments = (
  parameters: readonly TemplateParameter[],
  values: ReadonlyMap<string, string>,
): { args: Record<string, JsonValue>; faults: ReadonlyMap<string, string> } => {
  const given = parameters.flatMap(({ name, type }) => {
    const text = values.get(name) ?? ''
    return text === '' ? [] : [{ name, type, text }]
  })
  const faults = given.flatMap(({ name, type, text }) => {
    const fault = findValueFault(type, text)
    return fault === undefined ? [] : [[name, `This ${fault}`] as const]
  })
  return {
    args: Object.fromEntries(given.map(({ name, type, text }) => [name, readValue(type, text)])),
    faults: new Map(faults),
  }
}
