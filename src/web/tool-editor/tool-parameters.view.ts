import type { DefaultBinding } from '../../templates/check-value.ts'
import type { TemplateParameter } from '../../templates/template.ts'
import { type SecretRule, secretRuleOfParameter } from '../../tools/secret-parameters.ts'
import { isFromModel, toBindingThere, toSecretView } from './parameter-secrets.view.ts'
import type { Advice } from './tool-editor-advice.ts'
import { type ParameterTexts, sourceOf } from './tool-editor-parameters.ts'
import type { EditorState } from './tool-editor-state.ts'

const LOCATIONS: Readonly<Record<TemplateParameter['places'][number]['kind'], string>> = {
  base: 'URL',
  host: 'host',
  path: 'path',
  query: 'query',
  header: 'header',
  cookie: 'header',
  json: 'body',
  'json-string': 'body',
  form: 'body',
  xml: 'body',
  'xml-document': 'body',
  multipart: 'body',
  text: 'body',
}

const locationOf = ({ kind, serialization }: TemplateParameter['places'][number]): string =>
  serialization === undefined ? LOCATIONS[kind] : `${LOCATIONS[kind]} (${serialization})`

const TYPES: Readonly<Record<TemplateParameter['type'], string>> = {
  string: 'Text',
  integer: 'Integer',
  number: 'Number',
  boolean: 'Yes/no',
  json: 'JSON',
  url: 'URL',
}

/** Returns the types that a parameter can have. A text that is only in the path can keep its slashes. */
const typesFor = ({ type, places }: TemplateParameter) => {
  const keepsSlashes = places.some(({ serialization }) => serialization === 'segments')
  const isInPath = places.every(({ kind }) => kind === 'path')
  const options = isInPath || keepsSlashes ? { ...TYPES, segments: 'Text with slashes' } : TYPES
  return optionsToEdit(options, keepsSlashes ? 'segments' : type)
}

/** Returns options of which the current one is empty: another one, once sent, changes the template. */
const optionsToEdit = (options: Readonly<Record<string, string>>, current: string) =>
  Object.entries(options).map(([value, text]) => ({ value: value === current ? '' : value, text }))

const SOURCES = [
  { value: 'model', text: 'From the model' },
  { value: 'fixed', text: 'Fixed value' },
  { value: 'global', text: 'From a global' },
  { value: 'secret', text: 'Secret' },
] as const

/** Returns the text of a default that is written in the template. */
export const textOfDefault = ({ default: value }: TemplateParameter): string | undefined =>
  value === undefined || typeof value === 'string' ? value : JSON.stringify(value)

const SECRET_ADVICE = {
  kept: 'Looks like a secret. From the model, it is in the conversation and in the history. Make it a secret.',
  offered: 'Could be a secret. If it is one, keep it out of the conversation: make it a secret.',
} as const

const FIXED_SECRET_ADVICE =
  'Looks like a secret. Everybody who may see the tool can read its fixed value. Make it a secret.'

/** Returns whether a parameter from the model may be a secret. */
const exposedRuleOf = (parameter: TemplateParameter, state: EditorState): SecretRule => {
  const meta = state.read.definition.parameters[parameter.name] ?? {}
  return isFromModel(parameter.name, state) ? secretRuleOfParameter({ parameter, meta }) : 'none'
}

/** Returns whether a fixed value is probably a secret, by the parameter or by the value itself. */
const isFixedSecret = (parameter: TemplateParameter, { read }: EditorState): boolean => {
  const { binding, ...meta } = read.definition.parameters[parameter.name] ?? {}
  if (binding?.source !== 'instance') return false
  return secretRuleOfParameter({ parameter, meta: { ...meta, example: binding.value } }) === 'kept'
}

const secretAdvice = (parameter: TemplateParameter, state: EditorState): readonly Advice[] => {
  if (isFixedSecret(parameter, state)) return [{ tone: 'warn', text: FIXED_SECRET_ADVICE }]
  // Otherwise, the row says that the server has another binding.
  const isDefault = state.read.definition.parameters[parameter.name]?.binding === undefined
  const rule = isDefault ? exposedRuleOf(parameter, state) : 'none'
  return rule === 'none' ? [] : [{ tone: rule === 'kept' ? 'warn' : 'hint', text: SECRET_ADVICE[rule] }]
}

/** Fields of the details, in order. */
const DETAILS = [
  { key: 'example', label: 'Example', hint: 'Also used to try the tool' },
  { key: 'enum', label: 'Allowed values', hint: 'One per line' },
  { key: 'minimum', label: 'Minimum', hint: '' },
  { key: 'maximum', label: 'Maximum', hint: '' },
  { key: 'pattern', label: 'Pattern', hint: 'Regular expression' },
  { key: 'schema', label: 'JSON Schema', hint: '' },
] as const

const SCHEMA_HINTS: Readonly<Partial<Record<TemplateParameter['type'], string>>> = {
  string: 'A date: {"format": "date"}',
  json: 'For the members of an array or object',
}

const isFor = (key: (typeof DETAILS)[number]['key'], { type }: TemplateParameter): boolean => {
  if (key === 'minimum' || key === 'maximum') return type === 'integer' || type === 'number'
  return key !== 'pattern' || type === 'string' || type === 'url'
}

/** Returns the key of the global, unless it is the parameter's own name. */
const keyText = (name: string, binding: DefaultBinding | undefined): string =>
  binding?.source === 'server' && binding.key !== name ? binding.key : ''

/** Returns the row of a parameter, with the fields that describe it and those that change its placeholders. */
export const toParameterRow = (parameter: TemplateParameter, state: EditorState) => {
  const { name, type, places } = parameter
  const { form, read, placed, advice, subject } = state
  const texts: ParameterTexts = form.parameters.get(name) ?? {}
  const binding = read.definition.parameters[name]?.binding
  const field = (key: keyof ParameterTexts, value = texts[key] ?? '') => ({
    name: `parameter:${name}:${key}`,
    value,
    errors: placed.get(`parameter:${name}:${key}`) ?? [],
  })
  const details = DETAILS.filter(({ key }) => isFor(key, parameter) || texts[key]).map(({ key, label, hint }) => ({
    label,
    hint: key === 'schema' ? (SCHEMA_HINTS[type] ?? '') : hint,
    ...field(key),
  }))
  const source = texts.source ?? sourceOf(binding)
  const place = state.secrets.get(name)
  const hasDefault = parameter.default !== undefined || read.definition.parameters[name]?.default !== undefined
  const isRequired = parameter.required && !hasDefault
  const setCount = details.filter(({ value }) => value !== '').length
  return {
    name,
    type,
    location: [...new Set(places.map(locationOf))].join(', '),
    types: { name: `parameter:${name}:type`, options: typesFor(parameter) },
    required: {
      name: `parameter:${name}:required`,
      options: optionsToEdit({ yes: 'Yes', no: 'No' }, isRequired ? 'yes' : 'no'),
      isDecided: hasDefault,
    },
    inlineDefault: textOfDefault(parameter),
    default: field('default'),
    source: { name: `parameter:${name}:source`, value: source, options: SOURCES },
    fixed: field('fixed'),
    key: field('key', texts.key ?? keyText(name, binding)),
    description: field('description'),
    advice: [...(advice.get(`parameter:${name}:description`) ?? []), ...secretAdvice(parameter, state)],
    isSecret: source === 'secret',
    secret:
      source === 'secret' && subject.mayBuild && (place !== undefined || state.use === undefined)
        ? toSecretView(name, place, placed.get(`parameter:${name}:secret`) ?? [])
        : undefined,
    there: toBindingThere(name, state),
    isExposedSecret: exposedRuleOf(parameter, state) === 'kept',
    details,
    setCount: setCount === 0 ? undefined : String(setCount),
    isOpen: details.some(({ errors }) => errors.length > 0),
  }
}
export type ParameterRow = ReturnType<typeof toParameterRow>
