import type { FastifySchemaCompiler } from 'fastify'
import type { z } from 'zod'
import { AppError, type FieldError } from '../kernel/errors.ts'
import { faultInWords } from './pages/fault-words.ts'

/** `headers[0].value` for ['headers', 0, 'value']; empty for the whole. */
const toJsonPath = (segments: readonly PropertyKey[]): string =>
  segments.reduce<string>((path, segment) => {
    if (typeof segment === 'number') return `${path}[${segment}]`
    const name = String(segment)
    if (!/^[A-Za-z_$][\w$]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`
    return path === '' ? name : `${path}.${name}`
  }, '')

const OR = { type: 'disjunction' } as const

/** A union that no option went into, by what its options want: `expected string, number or boolean`. */
const refusedByAll = (issue: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue => {
  const expected = issue.errors.flat().flatMap(inner => (inner.code === 'invalid_type' ? [inner.expected] : []))
  if (expected.length === 0 || expected.length < issue.errors.length) return issue
  return { ...issue, message: `Invalid input: expected ${new Intl.ListFormat('en-GB', OR).format(expected)}` }
}

/** The issues of a union are those of the option that went furthest; "Invalid input" would help nobody. */
const flatten = (issue: z.core.$ZodIssue): z.core.$ZodIssue[] => {
  if (issue.code !== 'invalid_union') return [issue]
  const depthOf = (option: readonly z.core.$ZodIssue[]): number => Math.max(0, ...option.map(({ path }) => path.length))
  const [closest] = issue.errors.toSorted((a, b) => depthOf(b) - depthOf(a))
  if (closest === undefined || depthOf(closest) === 0) return [refusedByAll(issue)]
  return closest.map(inner => ({ ...inner, path: [...issue.path, ...inner.path] })).flatMap(flatten)
}

/** Faults shown of one request: who sent more mends these first. */
const MAX_ERRORS = 100

/** What a zod schema found wrong, each with its JSON path; the first of it, cut before there is much to build. */
const toFieldErrors = (error: z.ZodError): FieldError[] =>
  error.issues
    .slice(0, MAX_ERRORS)
    .flatMap(flatten)
    .slice(0, MAX_ERRORS)
    .map(({ path, message }) => ({ path: toJsonPath(path), message }))

/** What was sent does not fit the route's schema; the server's error handler knows which part of the request it was. */
export class SchemaRefusal extends Error {
  override readonly name = 'SchemaRefusal'
  readonly errors: readonly FieldError[]
  /** Set by Fastify. */
  validationContext: string | undefined
  constructor(error: z.ZodError) {
    super('the request does not fit its schema', { cause: error })
    this.errors = toFieldErrors(error)
  }
}

/** Validates a route's input with its zod schemas. In place of the type provider's own, which joins paths with slashes. */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  data => {
    const parsed = schema.safeParse(data)
    return parsed.success ? { value: parsed.data } : { error: new SchemaRefusal(parsed.error) }
  }

const PLACES = new Map([
  ['querystring', 'query'],
  ['headers', 'headers'],
])

export const refusalToAppError = (refusal: SchemaRefusal): AppError => {
  // A path with a malformed id names nothing, like one with an id that nothing has.
  if (refusal.validationContext === 'params') return new AppError('not_found', 'There is nothing at this address.')
  const place = PLACES.get(refusal.validationContext ?? '') ?? 'body'
  const [first] = refusal.errors
  const where = first?.path ? `${first.path}: ` : ''
  const more = refusal.errors.length > 1 ? ` (and ${refusal.errors.length - 1} more)` : ''
  const detail = `The ${place} is not valid: ${where}${first?.message ?? 'see errors'}${more}`
  return new AppError('invalid_request', detail, { errors: refusal.errors, cause: refusal.cause })
}

/**
 * Input that did not come by the API, but by a form or the command line, through the same schemas, and in words for
 * people. Throws `invalid_request`.
 */
export const parseInput = <T extends z.ZodType>(schema: T, input: unknown): z.output<T> => {
  const parsed = schema.safeParse(input, { error: faultInWords })
  if (parsed.success) return parsed.data
  const errors = toFieldErrors(parsed.error)
  throw new AppError('invalid_request', errors.map(({ path, message }) => `${path}: ${message}`).join('; '), { errors })
}
