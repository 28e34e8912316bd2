import type { FieldError } from '../lib/kernel/errors.ts'
import { failure, type Result, success } from '../lib/kernel/result.ts'
import { MAX_PARAMETERS_MS } from './limits.ts'
import { compileParameterCheck, type MetaProblem, type ParameterCheck, type ParameterMeta } from './parameter-check.ts'
import type { TemplateParameter } from './template.ts'

/** A parameter with what is said of it; `default` and `required` of `parameter` count both in. */
export type CheckedParameter = { parameter: TemplateParameter; meta: ParameterMeta; check: ParameterCheck }

const mergeDefault = (parameter: TemplateParameter, meta: ParameterMeta, check: ParameterCheck): TemplateParameter => {
  const value = meta.default === undefined ? undefined : check(meta.default)
  return value?.ok ? { ...parameter, required: false, default: value.value } : parameter
}

const checkOne = (
  parameter: TemplateParameter,
  meta: ParameterMeta,
): Result<CheckedParameter, readonly MetaProblem[]> => {
  const { type } = parameter
  if (parameter.default !== undefined && meta.default !== undefined) {
    return failure([{ key: 'default', message: 'the template has a default for it already: keep one of the two' }])
  }
  const check = compileParameterCheck(
    type,
    parameter.default === undefined ? meta : { ...meta, default: parameter.default },
  )
  return check.ok ? success({ parameter: mergeDefault(parameter, meta, check.value), meta, check: check.value }) : check
}

/**
 * Joins a template's parameters with what is said of them, in the template's order. Errors name the parameter in
 * their path: `parameters.limit.minimum`.
 */
export const compileParameters = (
  parameters: readonly TemplateParameter[],
  metas: Readonly<Record<string, ParameterMeta>>,
): Result<readonly CheckedParameter[], readonly FieldError[]> => {
  const errors: FieldError[] = []
  const checked: CheckedParameter[] = []
  const startedAt = performance.now()
  for (const parameter of parameters) {
    const { name } = parameter
    // Patterns are a tenant's, and nobody else has a turn while they are read.
    if (performance.now() - startedAt > MAX_PARAMETERS_MS) {
      const message = `${name}: the parameters take too long to read: make their patterns smaller`
      return failure([...errors, { path: `parameters.${name}`, message }])
    }
    const one = checkOne(parameter, Object.hasOwn(metas, name) ? (metas[name] ?? {}) : {})
    if (one.ok) checked.push(one.value)
    else {
      errors.push(
        ...one.error.map(({ key, message }) => ({ path: `parameters.${name}.${key}`, message: `${name}: ${message}` })),
      )
    }
  }
  const known = new Set(parameters.map(({ name }) => name))
  for (const name of Object.keys(metas)) {
    if (!known.has(name))
      errors.push({ path: `parameters.${name}`, message: `the template has no place named "${name}"` })
  }
  return errors.length > 0 ? failure(errors) : success(checked)
}
