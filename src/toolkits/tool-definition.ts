import { Ajv2020 } from 'ajv/dist/2020.js'
import { AppError, type FieldError, failure, isJsonObject, type Result, success } from '../kernel/index.ts'
import { type CheckedParameter, type CompiledTemplate, compileParameters, compileTemplate } from '../templates/index.ts'
import type { ToolDefinition } from './tool.ts'

/** A definition whose every part was checked. */
export type CompiledDefinition = {
  template: CompiledTemplate
  parameters: readonly CheckedParameter[]
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
  const parameters = compileParameters(template.value.parameters, definition.parameters)
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
