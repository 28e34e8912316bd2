import type { JsonValue } from '../../lib/kernel/json.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { castValue } from '../../templates/check-value.ts'
import type { CheckedParameter } from '../../templates/compile-parameters.ts'
import type { Binding, Bindings } from '../server.ts'
import { bindingOf, fillFixedValue, globalKeysOf } from './bindings.ts'
import { fillUrl, isMixed, NOT_A_URL, refuseMixedSecret } from './mixed-secrets.ts'

type Found = { value: string; isSecret: boolean }
/** Returns the value of a global of the server. */
export type FindGlobal = (key: string) => Found | undefined

class MissingGlobal extends Error {
  readonly key: string
  constructor(key: string) {
    super(key)
    this.key = key
  }
}

const boundValue = (
  checked: CheckedParameter,
  binding: Binding,
  readGlobal: (key: string) => string,
): JsonValue | undefined => {
  switch (binding.source) {
    case 'instance':
      return fillFixedValue(checked, binding.value, readGlobal)
    case 'server':
      return readGlobal(binding.key ?? checked.parameter.name)
    case 'exposed':
      return undefined
  }
}

/**
 * Returns the value of a bound parameter, cast to its type. The error says what to change, and contains no value. The
 * other rules of the parameter do not apply to a value that contains a secret: whoever writes them could find out the
 * secret from whether it satisfies them.
 */
export const resolveConstant = (
  checked: CheckedParameter,
  bindings: Bindings,
  findGlobal: FindGlobal,
): Result<JsonValue, string> => {
  const { name, type } = checked.parameter
  const binding = bindingOf(bindings, name)
  const fail = (problem: string): Result<never, string> =>
    failure(`The value bound to "${name}" ${problem}. Change the binding or the global.`)
  const readGlobal = (key: string): Found => {
    const found = findGlobal(key)
    if (found === undefined) throw new MissingGlobal(key)
    return found
  }
  const isSecretKey = (key: string): boolean => findGlobal(key)?.isSecret === true
  const isSecret = [...globalKeysOf(name, binding)].some(isSecretKey)
  const refusal = isSecret ? refuseMixedSecret(checked, binding, isSecretKey) : undefined
  if (refusal !== undefined) return fail(refusal)
  try {
    if (isSecret && type === 'url' && isMixed(binding)) {
      const url = fillUrl(binding.value, readGlobal)
      return url === undefined ? fail(NOT_A_URL) : success(url)
    }
    const value = boundValue(checked, binding, key => readGlobal(key).value) ?? null
    const constant = isSecret ? castValue(type, value, 'text') : checked.check(value, 'text')
    return constant.ok ? constant : fail(`must be ${constant.error.expected}, and is ${constant.error.got}`)
  } catch (error) {
    if (!(error instanceof MissingGlobal)) throw error
    return failure(
      `The global "${error.key}", which "${name}" is bound to, does not exist on this server. Create it again.`,
    )
  }
}
