import { isDeepStrictEqual } from 'node:util'
import { AppError, type FieldError } from '../../lib/kernel/errors.ts'
import type { Tenant } from '../../lib/worker/fair-queue.ts'
import type { ToolDefinition } from '../tool.ts'
import { isNewestDialect } from './compile-schema.ts'
import type { SchemaChecks } from './schema-check.ts'

export type ToolSchemas = Pick<ToolDefinition, 'inputSchema' | 'outputSchema'>

/**
 * Returns the errors in the schemas of a tool that is to be saved. Does not check schemas that equal those of `saved`,
 * so that a tool can still be changed if its schemas were saved under other rules. Throws `unavailable` if a check
 * could not start.
 */
export const findSchemaErrors = async (
  { findProblem }: Pick<SchemaChecks, 'findProblem'>,
  schemas: ToolSchemas,
  tenant: Tenant,
  saved: ToolSchemas | undefined,
): Promise<FieldError[]> => {
  const errors: FieldError[] = []
  for (const path of ['inputSchema', 'outputSchema'] as const) {
    const schema = schemas[path]
    if (schema === undefined || isDeepStrictEqual(schema, saved?.[path])) continue
    if (!isNewestDialect(schema)) {
      errors.push({ path, message: 'has a "$schema" of another dialect than JSON Schema 2020-12. Remove "$schema"' })
      continue
    }
    const problem = await findProblem(schema, tenant)
    if (problem?.kind === 'busy') throw new AppError('unavailable', `The check of ${path} ${problem.message}.`)
    if (problem !== undefined) errors.push({ path, message: problem.message })
  }
  return errors
}
