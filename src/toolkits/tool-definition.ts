import { Ajv2020 } from 'ajv/dist/2020.js'
import { AppError, type FieldError, isJsonObject, type Result, failure, success } from '../kernel/index.ts'
import {
  type CompiledTemplate,
  compileParameterCheck,
  compileTemplate,
  type ParameterCheck,
  type ParameterMeta,
  type TemplateParameter,
} from '../templates/index.ts'
import type { ToolDefinition } from './tool.ts'

/** A parameter as the template and the builder together describe it, with its compiled check. */
export type CompiledParameter = {
  parameter: TemplateParameter
  meta: ParameterMeta
  /** Casts a value to the parameter's type and holds it against enum, limits and pattern. */
  check: ParameterCheck
}

/** A definition whose every part was checked. */
export type CompiledDefinition = {
  template: CompiledTemplate
  parameters: readonly CompiledParameter[]
}

const templateErrors = (definition: ToolDefinition): Result<CompiledTemplate, FieldError[]> => {
  const compiled = compileTemplate(definition)
  if (compiled.ok) return compiled
  return failure(
    compiled.error.map(({ field, line, column, message }) => ({
      path: field,
      message: `line ${line}, column ${column}: ${message}`,
    })),
  )
}

const compileParameters = (
  template: CompiledTemplate,
  metas: ToolDefinition['parameters'],
): Result<CompiledParameter[], FieldError[]> => {
  const errors: FieldError[] = []
  const compiled: CompiledParameter[] = []
  for (const parameter of template.parameters) {
    const meta = Object.hasOwn(metas, parameter.name) ? (metas[parameter.name] ?? {}) : {}
    const check = compileParameterCheck(parameter, meta)
    if (check.ok) compiled.push({ parameter, meta, check: check.value })
    else errors.push({ path: `parameters.${parameter.name}`, message: check.error })
  }
  for (const name of Object.keys(metas)) {
    if (template.parameters.some(parameter => parameter.name === name)) continue
    errors.push({ path: `parameters.${name}`, message: `the template has no place {{${name}}}` })
  }
  return errors.length === 0 ? success(compiled) : failure(errors)
}

/** Whether a schema is valid JSON Schema 2020-12; the reason when it is not. */
const outputSchemaError = (schema: unknown): string | undefined => {
  if (!isJsonObject(schema)) return 'is no JSON Schema object'
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  if (ajv.validateSchema(schema) !== true) return `is no JSON Schema 2020-12: ${ajv.errorsText()}`
  try {
    ajv.compile(schema)
    return undefined
  } catch (error) {
    return `cannot be compiled: ${error instanceof Error ? error.message : 'unknown reason'}`
  }
}

/** Compiles a definition's template and parameters; all errors at once. */
export const checkDefinition = (definition: ToolDefinition): Result<CompiledDefinition, readonly FieldError[]> => {
  const template = templateErrors(definition)
  if (!template.ok) return template
  const parameters = compileParameters(template.value, definition.parameters)
  if (!parameters.ok) return parameters
  return success({ template: template.value, parameters: parameters.value })
}

/** For what is about to be saved: throws `invalid_request` with every error beside its field. */
export const assertDefinition = (definition: ToolDefinition): CompiledDefinition => {
  const checked = checkDefinition(definition)
  const schemaError = definition.outputSchema && outputSchemaError(definition.outputSchema)
  const errors: FieldError[] = checked.ok ? [] : [...checked.error]
  if (schemaError) errors.push({ path: 'outputSchema', message: schemaError })
  if (checked.ok && errors.length === 0) return checked.value
  throw new AppError('invalid_request', 'This tool cannot be saved as it is: see errors.', { errors })
}

/** Drops what is said of parameters that an edited template no longer has. */
export const withoutLostParameters = (definition: ToolDefinition): ToolDefinition => {
  const template = compileTemplate(definition)
  if (!template.ok) return definition
  const names = new Set(template.value.parameters.map(parameter => parameter.name))
  const kept = Object.entries(definition.parameters).filter(([name]) => names.has(name))
  return { ...definition, parameters: Object.fromEntries(kept) }
}
