import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import type { z } from 'zod'
import { AppError, type FieldError, unknownAddress } from '../kernel/errors.ts'
import { faultInWords } from './pages/fault-words.ts'

/** Returns `headers[0].value` for ['headers', 0, 'value'], and '' for the root. */
const toJsonPath = (segments: readonly PropertyKey[]): string =>
  segments.reduce<string>((path, segment) => {
    if (typeof segment === 'number') return `${path}[${segment}]`
    const name = String(segment)
    if (!/^[A-Za-z_$][\w$]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`
    return path === '' ? name : `${path}.${name}`
  }, '')

const OR = { type: 'disjunction' } as const

/** Lists the types if all options of a union expect another type: `expected string, number or boolean`. */
const refusedByAll = (issue: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue => {
  const expected = issue.errors.flat().flatMap(inner => (inner.code === 'invalid_type' ? [inner.expected] : []))
  if (expected.length === 0 || expected.length < issue.errors.length) return issue
  return { ...issue, message: `Invalid input: expected ${new Intl.ListFormat('en-GB', OR).format(expected)}` }
}

/** Replaces a union's issue, "Invalid input", with the issues of the option that matched best. */
const flatten = (issue: z.core.$ZodIssue): z.core.$ZodIssue[] => {
  if (issue.code !== 'invalid_union') return [issue]
  const depthOf = (option: readonly z.core.$ZodIssue[]): number => Math.max(0, ...option.map(({ path }) => path.length))
  const [closest] = issue.errors.toSorted((a, b) => depthOf(b) - depthOf(a))
  if (closest === undefined || depthOf(closest) === 0) return [refusedByAll(issue)]
  return closest.map(inner => ({ ...inner, path: [...issue.path, ...inner.path] })).flatMap(flatten)
}

/** Maximum number of errors reported for a request. */
const MAX_ERRORS = 100

/**
 * Converts zod issues to field errors with JSON paths. Also truncates before flattening, so that many issues cost
 * little.
 */
const toFieldErrors = (error: z.ZodError): FieldError[] =>
  error.issues
    .slice(0, MAX_ERRORS)
    .flatMap(flatten)
    .slice(0, MAX_ERRORS)
    .map(({ path, message }) => ({ path: toJsonPath(path), message }))

/** Thrown if part of a request does not match the route's schema. */
export class SchemaRefusal extends Error {
  override readonly name = 'SchemaRefusal'
  readonly errors: readonly FieldError[]
  /** The part of the request that failed validation. Set by Fastify. */
  validationContext: string | undefined
  constructor(error: z.ZodError) {
    super('the request does not match its schema', { cause: error })
    this.errors = toFieldErrors(error)
  }
}

/** Validates requests with zod. Replaces the type provider's compiler, which joins path segments with slashes. */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  data => {
    const parsed = schema.safeParse(data)
    return parsed.success ? { value: parsed.data } : { error: new SchemaRefusal(parsed.error) }
  }

/** Serializes responses by their schema. Unknown fields are omitted, and missing fields may become null. */
export const serializerCompiler: FastifySerializerCompiler<z.ZodType> =
  ({ schema }) =>
  data =>
    JSON.stringify(schema.parse(data))

export const refusalToAppError = (refusal: SchemaRefusal): AppError => {
  // A malformed id gets the same response as an id that does not exist.
  if (refusal.validationContext === 'params') return unknownAddress()
  const place = refusal.validationContext === 'querystring' ? 'query' : 'body'
  const [first] = refusal.errors
  const where = first?.path ? `${first.path}: ` : ''
  const more = refusal.errors.length > 1 ? ` (and ${refusal.errors.length - 1} more)` : ''
  const detail = `The ${place} is not valid: ${where}${first?.message ?? 'see errors'}${more}`
  return new AppError('invalid_request', detail, { errors: refusal.errors, cause: refusal.cause })
}

/**
 * Validates input from forms or the command line against the API's schemas, with messages for people. Throws
 * `invalid_request`.
 */
export const parseInput = <T extends z.ZodType>(schema: T, input: unknown): z.output<T> => {
  const parsed = schema.safeParse(input, { error: faultInWords })
  if (parsed.success) return parsed.data
  const errors = toFieldErrors(parsed.error)
  throw new AppError('invalid_request', errors.map(({ path, message }) => `${path}: ${message}`).join('; '), { errors })
}
