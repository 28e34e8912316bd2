import { type JsonValue, parseJson } from '../../lib/kernel/json.ts'
import { MAX_JSON_DEPTH } from '../../lib/kernel/limits.ts'
import type { CheckedParameter } from '../../templates/checked-parameters.ts'
import type { CompiledDefinition } from '../../tools/tool-definition.ts'
import type { Binding, Bindings } from '../server.ts'

export const GLOBAL_KEY = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/

/** A global inside a fixed value; `\{{` stands for itself. */
const REFERENCE = /\\\{\{|\{\{\s*([A-Za-z_][A-Za-z0-9_.-]{0,63})\s*\}\}/g

/** Replaces every `{{global}}` in the texts of a value; `readGlobal` gives a global's value. */
const fillReferences = (value: JsonValue, readGlobal: (key: string) => string): JsonValue => {
  if (typeof value === 'string') {
    return value.replace(REFERENCE, (_match, key: string | undefined) => (key === undefined ? '{{' : readGlobal(key)))
  }
  if (Array.isArray(value)) return value.map(item => fillReferences(item, readGlobal))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fillReferences(item, readGlobal)]))
}

/**
 * A fixed value as it is for a call: every `{{global}}` in its texts replaced by what `readGlobal` gives. A text that
 * is JSON is taken apart first, so that a global inside one of its strings stays there, whatever it holds.
 */
export const fillFixedValue = (
  { parameter }: CheckedParameter,
  value: JsonValue,
  readGlobal: (key: string) => string,
): JsonValue => {
  const parsed = parameter.type === 'json' && typeof value === 'string' ? parseJson(value, MAX_JSON_DEPTH) : undefined
  return parsed?.ok ? JSON.stringify(fillReferences(parsed.value, readGlobal)) : fillReferences(value, readGlobal)
}

/** Keys of the globals that a binding of `parameter` reads. */
export const globalKeysOf = (parameter: string, binding: Binding): ReadonlySet<string> => {
  const keys = new Set<string>()
  if (binding.source === 'server') keys.add(binding.key ?? parameter)
  if (binding.source === 'instance') {
    const note = (key: string): string => {
      keys.add(key)
      return ''
    }
    fillReferences(binding.value, note)
    // A text of JSON may write the braces as escapes: it is taken apart here as it is for a call, whatever the type.
    const parsed = typeof binding.value === 'string' ? parseJson(binding.value, MAX_JSON_DEPTH) : undefined
    if (parsed?.ok) fillReferences(parsed.value, note)
  }
  return keys
}

/** The binding in force: what is not bound is exposed. */
export const bindingOf = (bindings: Bindings, parameter: string): Binding =>
  (Object.hasOwn(bindings, parameter) ? bindings[parameter] : undefined) ?? { source: 'exposed' }

export type SecretAtRisk = { originParameter: string; secretKey: string; boundAt: string }

/**
 * Whether a secret could be sent wherever the caller likes: an exposed parameter decides the origin, a secret is bound
 * somewhere in the tool, and no `allowedOrigins` says where it may go.
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
  `The parameter "${originParameter}" lets the caller choose where the request goes, and "${boundAt}" carries the secret ` +
  `"${secretKey}" there. Bind "${originParameter}" to a fixed value or a global, or list the origins that may get the ` +
  "secret in the tool's allowedOrigins."
