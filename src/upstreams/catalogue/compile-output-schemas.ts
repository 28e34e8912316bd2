import { Ajv } from 'ajv'
import type { JsonObject } from '../../lib/kernel/json.ts'

/** Why a schema cannot be compiled, in the compiler's words, or undefined if it can. */
export type CompileProblem = string | undefined

/** Compiles the schema as clients do, but without inlining references, which could make it grow without limit. */
export const findCompileProblem = (schema: JsonObject): CompileProblem => {
  const ajv = new Ajv({
    strict: false,
    validateSchema: false,
    validateFormats: false,
    inlineRefs: false,
    logger: false,
  })
  try {
    ajv.compile(schema)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
}

/** The job's function: compiles large schemas. */
export const findCompileProblems = (schemas: readonly JsonObject[]): CompileProblem[] => schemas.map(findCompileProblem)
