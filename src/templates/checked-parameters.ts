import type { FieldError } from '../lib/kernel/errors.ts'
import { failure, type Result, success } from '../lib/kernel/result.ts'
import { MAX_PARAMETERS_MS } from './limits.ts'
import { compileParameterCheck, type MetaProblem, type ParameterCheck, type ParameterMeta } from './parameter-check.ts'
import type { TemplateParameter } from './template.ts'

/** A parameter with its metadata, which is merged into `default` and `required`. */
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
    return failure([{ key: 'default', message: 'the template already has a default for it. Remove one of the two' }])
  }
  const check = compileParameterCheck(
    type,
    parameter.default === undefined ? meta : { ...meta, default: parameter.default },
  )
  return check.ok ? success({ parameter: mergeDefault(parameter, meta, check.value), meta, check: check.value }) : check
}

/**
 * Merges a template's parameters with their metadata, in the template's order. Error paths name the parameter, as in
 * `parameters.limit.minimum`.
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
    // Patterns come from tenants, and parsing them blocks the event loop.
    if (performance.now() - startedAt > MAX_PARAMETERS_MS) {
      const message = `${name}: the parameters take too long to check. Simplify their patterns`
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
      errors.push({ path: `parameters.${name}`, message: `the template has no parameter named "${name}"` })
  }
  return errors.length > 0 ? failure(errors) : success(checked)
}
