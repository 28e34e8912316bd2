import type { Transaction } from '../../lib/db/client.ts'
import { AppError, type FieldError } from '../../lib/kernel/errors.ts'
import type { JsonValue } from '../../lib/kernel/json.ts'
import { describeJsonFault, findJsonFault } from '../../lib/kernel/json-fault.ts'
import { GLOBAL_KEY } from '../../lib/kernel/names.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { castValue } from '../../templates/check-value.ts'
import type { CheckedParameter } from '../../templates/compile-parameters.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import { assertDefinition, type CompiledDefinition } from '../../tools/tool-definition.ts'
import { listGlobals } from '../globals/globals.store.ts'
import { type Binder, createGlobalLookup, settleOrigins, usesOfInstance } from '../origins/secret-origins.ts'
import type { KeyUse } from '../origins/tool-origins.ts'
import type { Binding, Bindings } from '../server.ts'
import { explainSecretAtRisk, fillFixedValue, findSecretAtRisk, globalKeysOf } from './bindings.ts'
import { refuseMixedSecret } from './mixed-secrets.ts'

/** A binding as entered in a form, where a fixed value is text. */
export type WantedBinding =
  | { source: 'fixed'; text: string }
  | { source: 'global'; key: string }
  | { source: 'exposed' }

/** Converts text to a number or boolean if the parameter has that type. Returns any other text unchanged. */
const toFixedValue = ({ parameter }: CheckedParameter, text: string): JsonValue => {
  if (parameter.type === 'string' || parameter.type === 'url' || parameter.type === 'json') return text
  const cast = castValue(parameter.type, text, 'text')
  return cast.ok ? cast.value : text
}

export const toBindingOf = (parameter: CheckedParameter, wanted: WantedBinding): Binding => {
  switch (wanted.source) {
    case 'fixed':
      return { source: 'instance', value: toFixedValue(parameter, wanted.text) }
    case 'global':
      return { source: 'server', key: wanted.key }
    case 'exposed':
      return { source: 'exposed' }
  }
}

/** Returns a description of where the JSON syntax error is, or '' if the value is valid JSON. */
const whereInJson = ({ parameter }: CheckedParameter, value: JsonValue): string => {
  const fault = parameter.type === 'json' && typeof value === 'string' ? findJsonFault(value) : undefined
  return fault === undefined ? '' : ` (${describeJsonFault(fault)})`
}

/**
 * Returns why a binding is invalid: unknown parameter, invalid key, a fixed value of the wrong type, or one that contains
 * a secret where it must not.
 */
const bindingError = (
  { parameters }: CompiledDefinition,
  name: string,
  binding: Binding,
  isSecret: (key: string) => boolean,
): string | undefined => {
  const compiled = parameters.find(({ parameter }) => parameter.name === name)
  if (compiled === undefined) {
    const known = parameters.map(({ parameter }) => `"${parameter.name}"`).join(', ')
    return known === '' ? 'the tool has no parameters' : `the tool has no such parameter; it has ${known}`
  }
  if (binding.source === 'server' && binding.key !== undefined && !GLOBAL_KEY.test(binding.key)) {
    return 'value is not a valid key of a global'
  }
  const keys = [...globalKeysOf(name, binding)]
  if (keys.some(isSecret)) return refuseMixedSecret(compiled, binding, isSecret)
  if (binding.source !== 'instance' || keys.length > 0) return undefined
  // The value contains no globals but may contain escaped braces.
  const checked = compiled.check(
    fillFixedValue(compiled, binding.value, key => key),
    'text',
  )
  if (checked.ok) return undefined
  return `value must be ${checked.error.expected}, not ${checked.error.got}${whereInJson(compiled, binding.value)}`
}

type Wired = { tool: ToolDefinition; bindings: Bindings }

export type BindingFault = { parameter: string; message: string; isSecretAtRisk: boolean }

/**
 * Returns the faults of the `changed` bindings. If there are none, checks whether all bindings
 * together put a secret at risk. `isSecret` returns whether a global is a secret.
 */
export const findBindingFaults = (
  compiled: CompiledDefinition,
  { tool, bindings }: Wired,
  { isSecret, changed = bindings }: { isSecret: (key: string) => boolean; changed?: Bindings },
): BindingFault[] => {
  const faults = Object.entries(changed).flatMap(([parameter, binding]) => {
    const message = bindingError(compiled, parameter, binding, isSecret)
    return message === undefined ? [] : [{ parameter, message, isSecretAtRisk: false }]
  })
  if (faults.length > 0) return faults
  const risk = findSecretAtRisk(compiled, tool, bindings, isSecret)
  if (risk === undefined) return []
  return [{ parameter: risk.boundAt, message: explainSecretAtRisk(risk), isSecretAtRisk: true }]
}

const toError = (parameter: string, message: string): FieldError => ({ path: `bindings.${parameter}`, message })

/**
 * Throws `invalid_request` with one error for each invalid binding. The first binding of a secret may set the secret's
 * origins, if `isChanged` returns true for it.
 */
export const assertBindings = async (
  tx: Transaction,
  { sealing, ...binder }: Binder & { sealing: Sealing },
  instance: Wired,
  isChanged?: (use: KeyUse) => boolean,
): Promise<void> => {
  const compiled = assertDefinition(instance.tool)
  const globals = await listGlobals(tx, binder.server.id)
  const secretKeys = new Set(globals.flatMap(({ key, isSecret }) => (isSecret ? key : [])))
  const faults = findBindingFaults(compiled, instance, { isSecret: key => secretKeys.has(key) })
  const [first] = faults
  if (first !== undefined) {
    const errors = faults.map(({ parameter, message }) => toError(parameter, message))
    const summary = first.isSecretAtRisk ? first.message : 'Some bindings are invalid. See errors.'
    throw new AppError('invalid_request', summary, { errors })
  }
  const uses = usesOfInstance(instance, createGlobalLookup(globals, sealing))
  const refused = await settleOrigins(tx, binder, globals, uses, isChanged)
  if (refused[0] === undefined) return
  const errors = refused.map(({ path, message }) => toError(path, message))
  throw new AppError('invalid_request', `${refused[0].message}.`, { errors })
}
