import type { JsonValue } from '../../lib/kernel/json.ts'
import { failure, type Result } from '../../lib/kernel/result.ts'
import type { CheckedParameter } from '../../templates/compile-parameters.ts'
import type { Bindings } from '../server.ts'
import { bindingOf, fillFixedValue } from './bindings.ts'

class MissingGlobal extends Error {
  readonly key: string
  constructor(key: string) {
    super(key)
    this.key = key
  }
}

const fixedValue = (
  checked: CheckedParameter,
  bindings: Bindings,
  findValue: (key: string) => string | undefined,
): JsonValue | undefined => {
  const readGlobal = (key: string): string => {
    const value = findValue(key)
    if (value === undefined) throw new MissingGlobal(key)
    return value
  }
  const { name } = checked.parameter
  const binding = bindingOf(bindings, name)
  switch (binding.source) {
    case 'instance':
      return fillFixedValue(checked, binding.value, readGlobal)
    case 'server':
      return readGlobal(binding.key ?? name)
    case 'exposed':
      return undefined
  }
}

/** Returns the value of a bound parameter, cast to its type. The error says what to change, and contains no value. */
export const resolveConstant = (
  checked: CheckedParameter,
  bindings: Bindings,
  findValue: (key: string) => string | undefined,
): Result<JsonValue, string> => {
  const { name } = checked.parameter
  try {
    const constant = checked.check(fixedValue(checked, bindings, findValue) ?? null, 'text')
    if (constant.ok) return constant
    const { expected, got } = constant.error
    return failure(`The value bound to "${name}" must be ${expected}, and is ${got}. Change the binding or the global.`)
  } catch (error) {
    if (!(error instanceof MissingGlobal)) throw error
    return failure(
      `The global "${error.key}", which "${name}" is bound to, does not exist on this server. Create it again.`,
    )
  }
}
