import { type JsonValue, parseJson } from '../../lib/kernel/json.ts'
import { MAX_JSON_DEPTH } from '../../lib/kernel/limits.ts'
import type { CheckedParameter } from '../../templates/compile-parameters.ts'
import type { CompiledDefinition } from '../../tools/tool-definition.ts'
import type { Binding, Bindings } from '../server.ts'

/** Matches a reference to a global in a fixed value, or an escaped `\{{`. */
const REFERENCE = /\\\{\{|\{\{\s*([A-Za-z_][A-Za-z0-9_.-]{0,63})\s*\}\}/g

/** Replaces every `{{global}}` in a text. */
export const fillText = (text: string, readGlobal: (key: string) => string): string =>
  text.replace(REFERENCE, (_match, key: string | undefined) => (key === undefined ? '{{' : readGlobal(key)))

const mapStrings = (value: JsonValue, change: (text: string) => string): JsonValue => {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map(item => mapStrings(item, change))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapStrings(item, change)]))
}

/** Replaces every `{{global}}` in a value's strings. */
const fillReferences = (value: JsonValue, readGlobal: (key: string) => string): JsonValue =>
  mapStrings(value, text => fillText(text, readGlobal))

/**
 * Replaces every `{{global}}` in a fixed value. Parses JSON text first, so that a global inside a
 * string cannot end that string.
 */
export const fillFixedValue = (
  { parameter }: CheckedParameter,
  value: JsonValue,
  readGlobal: (key: string) => string,
): JsonValue => {
  const parsed = parameter.type === 'json' && typeof value === 'string' ? parseJson(value, MAX_JSON_DEPTH) : undefined
  return parsed?.ok ? JSON.stringify(fillReferences(parsed.value, readGlobal)) : fillReferences(value, readGlobal)
}

/** Returns the keys of the globals that a binding of `parameter` reads. */
export const globalKeysOf = (parameter: string, binding: Binding): ReadonlySet<string> => {
  const keys = new Set<string>()
  if (binding.source === 'server') keys.add(binding.key ?? parameter)
  if (binding.source === 'instance') {
    const note = (key: string): string => {
      keys.add(key)
      return ''
    }
    fillReferences(binding.value, note)
    // JSON text may escape braces. A call parses it, so it is parsed here too, whatever the parameter's type.
    const parsed = typeof binding.value === 'string' ? parseJson(binding.value, MAX_JSON_DEPTH) : undefined
    if (parsed?.ok) fillReferences(parsed.value, note)
  }
  return keys
}

/** Returns the binding with other keys of globals. `rename` returns the new key, or the same. */
export const renameKeys = (parameter: string, binding: Binding, rename: (key: string) => string): Binding => {
  if (binding.source === 'server') return { source: 'server', key: rename(binding.key ?? parameter) }
  if (binding.source === 'exposed') return binding
  const change = (text: string): string =>
    text.replace(REFERENCE, (match, key: string | undefined) => (key === undefined ? match : `{{${rename(key)}}}`))
  return { source: 'instance', value: mapStrings(binding.value, change) }
}

/** A binding in the API and the database, where `value` holds the key of a global. */
type BindingFields = { source: Binding['source']; value?: JsonValue | undefined }

export const toBinding = ({ source, value = null }: BindingFields): Binding => {
  switch (source) {
    case 'instance':
      return { source, value }
    case 'server':
      return { source, key: typeof value === 'string' ? value : undefined }
    case 'exposed':
      return { source }
  }
}

export const toBindings = (fields: Readonly<Record<string, BindingFields>>): Bindings =>
  Object.fromEntries(Object.entries(fields).map(([name, binding]) => [name, toBinding(binding)]))

export const toBindingFields = (binding: Binding) => {
  const value = binding.source === 'instance' ? binding.value : binding.source === 'server' ? binding.key : undefined
  return { source: binding.source, ...(value !== undefined && { value }) }
}

/** Returns the binding in effect. A parameter without a binding is exposed. */
export const bindingOf = (bindings: Bindings, parameter: string): Binding =>
  (Object.hasOwn(bindings, parameter) ? bindings[parameter] : undefined) ?? { source: 'exposed' }

export type SecretAtRisk = { originParameter: string; secretKey: string; boundAt: string }

/**
 * Finds a secret that a caller could send to any origin. This is the case if an exposed parameter decides the origin,
 * another parameter contains the secret, and `allowedOrigins` does not restrict the origin.
 */
export const findSecretAtRisk = (
  { template, parameters }: CompiledDefinition,
  tool: { allowedOrigins?: readonly string[] | undefined },
  bindings: Bindings,
  isSecret: (globalKey: string) => boolean,
): SecretAtRisk | undefined => {
  if (template.origin.kind === 'fixed' || (tool.allowedOrigins?.length ?? 0) > 0) return undefined
  const originParameter = template.origin.parameters.find(name => bindingOf(bindings, name).source === 'exposed')
  if (originParameter === undefined) return undefined
  for (const { parameter } of parameters) {
    for (const key of globalKeysOf(parameter.name, bindingOf(bindings, parameter.name))) {
      if (isSecret(key)) return { originParameter, secretKey: key, boundAt: parameter.name }
    }
  }
  return undefined
}

export const explainSecretAtRisk = ({ originParameter, secretKey, boundAt }: SecretAtRisk): string =>
  `The parameter "${originParameter}" lets the caller choose where the request goes, and "${boundAt}" contains the secret ` +
  `"${secretKey}". Bind "${originParameter}" to a fixed value or a global, or list the origins that may receive the ` +
  "secret in the tool's allowedOrigins."
