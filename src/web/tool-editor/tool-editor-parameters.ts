import type { FieldError } from '../../lib/kernel/errors.ts'
import type { JsonValue } from '../../lib/kernel/json.ts'
import { describeJsonFault, findJsonFault } from '../../lib/kernel/json-fault.ts'
import { castValue, type DefaultBinding, type ParameterMeta } from '../../templates/check-value.ts'
import { readTemplate } from '../../templates/compile.ts'
import type { TemplateParameter } from '../../templates/template.ts'
import { secretRuleOfParameter } from '../../tools/secret-parameters.ts'
import type { Tool } from '../../tools/tool.ts'
import { readTypedSchema } from './typed-schema.ts'

type ParameterType = TemplateParameter['type']

const KEPT = ['description', 'default', 'enum', 'example', 'minimum', 'maximum', 'pattern'] as const

/**
 * The typed values of the fields in a parameter's row. `source` is a `ValueSource`, `fixed` the fixed value, and `key`
 * that of the global. The stored schema and binding stay if their fields are missing.
 */
export type ParameterTexts = {
  [Key in (typeof KEPT)[number] | 'schema' | 'source' | 'fixed' | 'key']?: string | undefined
}

/** Where a value comes from by default. */
export type ValueSource = 'model' | 'fixed' | 'global' | 'secret'

const textOf = (value: JsonValue | undefined): string => {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export const sourceOf = (binding: DefaultBinding | undefined): ValueSource => {
  if (binding === undefined) return 'model'
  if (binding.source === 'instance') return 'fixed'
  return binding.secret ? 'secret' : 'global'
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
  schema: meta.schema === undefined ? '' : JSON.stringify(meta.schema, null, 2),
  source: sourceOf(meta.binding),
  fixed: meta.binding?.source === 'instance' ? textOf(meta.binding.value) : '',
  key: meta.binding?.source === 'server' ? meta.binding.key : '',
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
  return KEPT.every(key => (texts[key] ?? '') === (before[key] ?? ''))
}

type ReadSchema = Pick<ParameterMeta, 'schema'> & { errors: readonly FieldError[] }

/** Reads the schema. An unchanged one keeps its stored value. */
const readSchema = (text: string | undefined, before: ParameterMeta | undefined, path: string): ReadSchema =>
  text === undefined || (before !== undefined && text === textsOfMeta(before).schema)
    ? { schema: before?.schema, errors: [] }
    : readTypedSchema(`${path}.schema`, text)

/** A parameter, its metadata as typed, and what is stored of it, if the tool has it already. */
type Subject = { parameter: TemplateParameter; meta: ParameterMeta; texts: ParameterTexts; isNew: () => boolean }

type ReadBinding = Pick<ParameterMeta, 'binding'> & { errors: readonly FieldError[] }

/** Reads a fixed value. JSON stays text, like the fixed values of instances. An unchanged one keeps its stored value. */
const readFixed = (type: ParameterType, text: string, before: ParameterMeta | undefined, path: string): ReadBinding => {
  if (before?.binding?.source === 'instance' && textOf(before.binding.value) === text)
    return { binding: before.binding, errors: [] }
  const fault = findValueFault(type, text)
  if (fault !== undefined) return { errors: [{ path: `${path}.binding.value`, message: `the fixed value ${fault}` }] }
  return { binding: { source: 'instance', value: type === 'json' ? text : readValue(type, text) }, errors: [] }
}

/** Reads the default binding. A new parameter without one is bound to a secret if it is a secret by default. */
const readBinding = (
  { parameter, meta, texts: { source, fixed = '', key = '' }, isNew }: Subject,
  before: ParameterMeta | undefined,
  path: string,
): ReadBinding => {
  const bindTo = (secret: boolean): ReadBinding => ({
    binding: { source: 'server', key: key.trim() || parameter.name, secret },
    errors: [],
  })
  if (source === 'model') return { errors: [] }
  if (source === 'fixed') return readFixed(parameter.type, fixed, before, path)
  if (source === 'global' || source === 'secret') return bindTo(source === 'secret')
  if (before !== undefined || !isNew()) return { binding: before?.binding, errors: [] }
  return secretRuleOfParameter({ parameter, meta }) === 'kept' ? bindTo(true) : { errors: [] }
}

/**
 * Reads the metadata of the request's parameters. Unchanged fields keep their `stored` value, because some values that
 * the API accepts cannot be typed in the form, such as an enum value with a line break.
 */
export const readMetas = (
  parameters: readonly TemplateParameter[],
  typed: ReadonlyMap<string, ParameterTexts>,
  stored: Tool | undefined,
): { metas: Record<string, ParameterMeta>; errors: readonly FieldError[] } => {
  const storedMetas = new Map(Object.entries(stored?.parameters ?? {}))
  const isNew = (name: string): boolean =>
    stored === undefined || readTemplate(stored).parameters.every(known => known.name !== name)
  const read = parameters.map(parameter => {
    const { name, type } = parameter
    const texts = typed.get(name) ?? {}
    const before = storedMetas.get(name)
    const path = `parameters.${name}`
    const { schema: _schema, binding: _binding, ...unchanged } = before ?? {}
    const { meta, errors } =
      before !== undefined && isAsStored(texts, before) ? { meta: unchanged, errors: [] } : readMeta(type, texts, path)
    const { schema, errors: schemaErrors } = readSchema(texts.schema, before, path)
    const bound = readBinding({ parameter, meta, texts, isNew: () => isNew(name) }, before, path)
    const { binding } = bound
    const whole: ParameterMeta = { ...meta, ...(schema && { schema }), ...(binding && { binding }) }
    return { name, meta: whole, errors: [...errors, ...schemaErrors, ...bound.errors] }
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
