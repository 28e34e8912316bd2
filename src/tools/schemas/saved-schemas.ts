import { isDeepStrictEqual } from 'node:util'
import { AppError, type FieldError } from '../../lib/kernel/errors.ts'
import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import type { Tenant } from '../../lib/worker/fair-queue.ts'
import { castValue } from '../../templates/check-value.ts'
import type { CheckedParameter } from '../../templates/compile-parameters.ts'
import { schemaOfParameters } from '../../templates/parameter-schema.ts'
import type { ToolDefinition } from '../tool.ts'
import { checkDefinition } from '../tool-definition.ts'
import { isNewestDialect } from './compile-schema.ts'
import type { SchemaChecks } from './schema-check.ts'

const DIALECT = 'has a "$schema" of another dialect than JSON Schema 2020-12. Remove "$schema"'

type Problem = { path: string; message: string } | undefined

/** Returns the first problem of a schema. Throws `unavailable` if its check could not start. */
const findProblemOf = async (
  { findProblem }: Pick<SchemaChecks, 'findProblem'>,
  path: string,
  schema: JsonObject,
  tenant: Tenant,
): Promise<Problem> => {
  if (!isNewestDialect(schema)) return { path, message: DIALECT }
  const problem = await findProblem(schema, tenant)
  if (problem?.kind === 'busy') throw new AppError('unavailable', `The check of ${path} ${problem.message}.`)
  return problem && { path, message: problem.message }
}

/** Names the parameter whose schema a message about the schema of all parameters quotes. */
const nameParameter = ({ message }: { message: string }, parameters: readonly CheckedParameter[]): FieldError => {
  const [, quoted] = /\/properties\/([A-Za-z0-9_.-]+)/.exec(message) ?? []
  const names = parameters.flatMap(({ parameter: { name }, meta }) => (meta.schema === undefined ? [] : [name]))
  const name = names.length === 1 ? names[0] : names.find(one => one === quoted)
  return name === undefined
    ? { path: 'parameters', message: `the schema of all parameters ${message}` }
    : { path: `parameters.${name}.schema`, message: `${name}: the schema ${message}` }
}

/** Returns the defaults and examples that do not match the schemas of their parameters: of each, the first one. */
const mismatchesOf = async (
  { createCheck }: Pick<SchemaChecks, 'createCheck'>,
  schema: JsonObject,
  parameters: readonly CheckedParameter[],
  tenant: Tenant,
): Promise<FieldError[]> => {
  const errors: FieldError[] = []
  for (const key of ['default', 'example'] as const) {
    const values = parameters.flatMap(({ parameter, meta }): [string, JsonValue][] => {
      const value = key === 'default' ? parameter.default : meta.example
      const cast = value === undefined ? undefined : castValue(parameter.type, value)
      return cast?.ok ? [[parameter.name, cast.value]] : []
    })
    const names = { rootName: 'the values', schemaName: 'the schema' }
    const checked = await createCheck(schema, names, tenant)(Object.fromEntries(values), undefined)
    if (checked.kind !== 'mismatch') continue
    const [, name = '', rest = ''] = /^\/([A-Za-z0-9_.-]+)(.*)$/s.exec(checked.message) ?? []
    const message = `${name}: the ${key} does not match the schema: ${rest.startsWith('/') ? '' : 'it'}${rest}`
    errors.push({ path: `parameters.${name}.${key}`, message })
  }
  return errors
}

const listSchemas = ({ parameters = {} }: CheckedSchemas) =>
  Object.entries(parameters).flatMap(([name, { schema }]) => (schema === undefined ? [] : [{ name, schema }]))

/** Checks the schemas of all parameters at once, so that a tool takes one check however many it has. */
const findParameterErrors = async (
  checks: Pick<SchemaChecks, 'findProblem' | 'createCheck'>,
  definition: ToolDefinition,
  tenant: Tenant,
  saved: CheckedSchemas | undefined,
): Promise<FieldError[]> => {
  const own = listSchemas(definition)
  if (own.length === 0) return []
  const other = own.find(({ schema }) => !isNewestDialect(schema))
  if (other !== undefined) {
    return [{ path: `parameters.${other.name}.schema`, message: `${other.name}: the schema ${DIALECT}` }]
  }
  const compiled = checkDefinition(definition)
  const schema = compiled.ok ? schemaOfParameters(compiled.value.parameters) : undefined
  // The errors of a definition that cannot be compiled are reported with the rest of the definition.
  if (!compiled.ok || schema === undefined) return []
  const { parameters } = compiled.value
  const isSaved = isDeepStrictEqual(own, listSchemas(saved ?? {}))
  const problem = isSaved ? undefined : await findProblemOf(checks, 'parameters', schema, tenant)
  return problem === undefined ? mismatchesOf(checks, schema, parameters, tenant) : [nameParameter(problem, parameters)]
}

/** The parts of a saved tool that were checked with its schemas. */
export type CheckedSchemas = Partial<Pick<ToolDefinition, 'inputSchema' | 'outputSchema' | 'parameters'>>

/**
 * Returns the errors in the schemas of a tool that is to be saved. Does not check schemas that equal those of `saved`,
 * so that a tool can still be changed if its schemas were saved under other rules. Throws `unavailable` if a check
 * could not start.
 */
export const findSchemaErrors = async (
  checks: Pick<SchemaChecks, 'findProblem' | 'createCheck'>,
  definition: ToolDefinition,
  tenant: Tenant,
  saved: CheckedSchemas | undefined,
): Promise<FieldError[]> => {
  const errors: FieldError[] = []
  for (const path of ['inputSchema', 'outputSchema'] as const) {
    const schema = definition[path]
    if (schema === undefined || isDeepStrictEqual(schema, saved?.[path])) continue
    const problem = await findProblemOf(checks, path, schema, tenant)
    if (problem !== undefined) errors.push(problem)
  }
  return [...errors, ...(await findParameterErrors(checks, definition, tenant, saved))]
}
