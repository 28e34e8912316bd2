import type { DefaultBinding, ParameterMeta } from '../../templates/check-value.ts'
import { checkDefinition } from '../../tools/tool-definition.ts'
import type { Binding, Bindings, Instance } from '../server.ts'
import { bindingOf, globalKeysOf } from './bindings.ts'

type Declared = Readonly<Record<string, Pick<ParameterMeta, 'binding'>>>

/** Returns the bindings that an instance of a tool has unless it sets its own. */
export const defaultBindingsOf = ({ parameters }: { parameters: Declared }): Bindings =>
  Object.fromEntries(
    Object.entries(parameters).flatMap(([name, { binding }]): [string, Binding][] =>
      binding === undefined
        ? []
        : [[name, binding.source === 'server' ? { source: 'server', key: binding.key } : binding]],
    ),
  )

/**
 * Returns the tool's default bindings that an instance lacks. When an instance changes, `before` is what it was: a
 * parameter that the model supplied then is not bound, even if the tool has a default for it by now.
 */
export const missingDefaults = ({ tool, bindings }: Instance, before: Instance | undefined): Bindings => {
  const compiled = before && checkDefinition(before.tool)
  const isExposed = (name: string): boolean =>
    before !== undefined &&
    bindingOf(before.bindings, name).source === 'exposed' &&
    (!compiled?.ok || compiled.value.parameters.some(({ parameter }) => parameter.name === name))
  const missing = Object.entries(defaultBindingsOf(tool)).filter(
    ([name]) => !Object.hasOwn(bindings, name) && !isExposed(name),
  )
  return Object.fromEntries(missing)
}

/**
 * Returns the default of a parameter that nobody has bound, not even to the model. It comes from the model then, because
 * the tool got the default after it was added to the server.
 */
export const findUnboundDefault = (
  { name, binding }: { name: string; binding?: DefaultBinding | undefined },
  bindings: Bindings,
): DefaultBinding | undefined => (Object.hasOwn(bindings, name) ? undefined : binding)

type FromServer = Extract<DefaultBinding, { source: 'server' }>

/** Returns whether the binding in effect is the tool's default. */
const isDefault = (name: string, binding: Binding, declared: FromServer): boolean =>
  binding.source === 'server' && (binding.key ?? name) === declared.key

/**
 * The value that a bound parameter lacks: a global, or the secret that its default binding asks for. `isNeeded` is
 * whether calls fail without it. An optional parameter that its tool binds by default is left out instead.
 */
export type LackingValue = { name: string; key: string; isSecret: boolean; isPlain: boolean; isNeeded: boolean }

type Declaration = { name: string; required: boolean; binding?: DefaultBinding | undefined }

/**
 * Returns what a parameter lacks. `isSecretKey` returns whether a global is a secret, or undefined if the global does
 * not exist.
 */
export const findLacking = (
  { name, required, binding: declared }: Declaration,
  binding: Binding,
  isSecretKey: (key: string) => boolean | undefined,
): LackingValue | undefined => {
  const fromServer = declared?.source === 'server' ? declared : undefined
  const asksForSecret = fromServer?.secret === true && binding.source === 'server'
  const isPlain = (key: string): boolean =>
    fromServer !== undefined && asksForSecret && isDefault(name, binding, fromServer) && isSecretKey(key) === false
  const key = [...globalKeysOf(name, binding)].find(one => isSecretKey(one) === undefined || isPlain(one))
  if (key === undefined) return undefined
  const isNeeded = required || fromServer === undefined || binding.source !== 'server'
  return { name, key, isSecret: asksForSecret, isPlain: isPlain(key), isNeeded }
}

/** Returns a sentence that names the parameter and the global. */
export const explainLacking = ({ name, key, isSecret, isPlain }: LackingValue): string => {
  const what = isSecret ? `the secret "${key}"` : `the global "${key}"`
  const why = isPlain
    ? 'which is stored on this server, but not as a secret. Store it as a secret'
    : 'which does not exist on this server. Add it'
  return `This tool needs a value: "${name}" comes from ${what}, ${why} on the server's Globals tab, or bind "${name}" to something else.`
}
