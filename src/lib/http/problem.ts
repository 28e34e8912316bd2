import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AppError, type AppErrorCode, unknownAddress } from '../kernel/errors.ts'
import { QueueFullError } from '../worker/fair-queue.ts'
import { REQUEST_ID } from './request-ids.ts'
import { refusalToAppError, SchemaRefusal } from './validation.ts'

export const PROBLEM_MEDIA_TYPE = 'application/problem+json'
export const JSON_REQUIRED = 'The body must be JSON: send Content-Type: application/json.'
export const BEARER_CHALLENGE = 'Bearer realm="Patchbay"'

/** Body of every failed API request (RFC 9457 §3). */
export const problemSchema = z
  .object({
    type: z.string().describe('The kind of problem: urn:patchbay:error:CODE'),
    title: z.string().describe('A short text for the kind of problem, the same each time'),
    status: z.int().min(400).max(599),
    detail: z.string().describe('What happened this time, and what to change'),
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .describe('All errors in the request, each with a JSON path'),
    requestId: z
      .string()
      .optional()
      .describe('As in the header x-request-id and in the log; missing only if the request could not be read'),
  })
  .meta({ id: 'Problem' })
export type Problem = z.infer<typeof problemSchema>

const TITLES = {
  invalid_request: 'The request is not valid',
  unauthenticated: 'Not signed in',
  forbidden: 'Not allowed',
  not_found: 'Not found',
  method_not_allowed: 'Method not allowed',
  conflict: 'Conflict',
  payload_too_large: 'Too large',
  unsupported_media_type: 'Media type not supported',
  limit_exceeded: 'Limit exceeded',
  rate_limited: 'Too many requests',
  internal: 'Internal error',
  unavailable: 'Not available at the moment',
  storage_full: 'Storage is full',
} as const satisfies Record<AppErrorCode, string>

/** Converts an error to a problem document. */
export const toProblem = (error: AppError, requestId: string): Problem => ({
  type: `urn:patchbay:error:${error.code}`,
  title: TITLES[error.code],
  status: error.status,
  detail: error.message,
  ...(error.errors && { errors: [...error.errors] }),
  requestId,
})

/** Sends an error as a problem document, with a Retry-After header if the error specifies when to retry. */
export const sendProblem = (request: FastifyRequest, reply: FastifyReply, error: AppError): FastifyReply => {
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds))
  reply.header(REQUEST_ID, request.id)
  // RFC 9110 §15.5.2: every 401 needs a challenge. For a refused token, a more specific one is already set.
  if (error.code === 'unauthenticated' && !reply.hasHeader('www-authenticate')) {
    reply.header('www-authenticate', BEARER_CHALLENGE)
  }
  // Serialized here because the routes' response schemas do not include problems.
  return reply
    .code(error.status)
    .header('content-type', PROBLEM_MEDIA_TYPE)
    .serializer((value: unknown) => JSON.stringify(value))
    .send(toProblem(error, request.id))
}

const CODE_OF_STATUS = {
  400: 'invalid_request',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  422: 'limit_exceeded',
  429: 'rate_limited',
  503: 'unavailable',
} as const satisfies Record<number, AppErrorCode>

const codeOf = (statusCode: number): AppErrorCode | undefined =>
  Object.entries(CODE_OF_STATUS).find(([status]) => Number(status) === statusCode)?.[1]

/** Body size limits in bytes: the route's limit and the default limit. */
type BodyLimits = { bodyLimit: number; maxRequestBytes: number }

/** Converts errors from Fastify and its plugins. Replaces messages that would not help the client. */
const fromFastify = (error: FastifyError, { bodyLimit, maxRequestBytes }: BodyLimits): AppError | undefined => {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE': {
      const setting = bodyLimit === maxRequestBytes ? ' (PATCHBAY_MAX_REQUEST_BYTES)' : ''
      return new AppError('payload_too_large', `The request body is larger than ${bodyLimit} bytes${setting}.`, {
        cause: error,
      })
    }
    // The parameter is longer than any id or key, so what it names cannot exist.
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return unknownAddress({ cause: error })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new AppError('unsupported_media_type', JSON_REQUIRED, { cause: error })
    case 'FST_CSRF_MISSING_SECRET':
    case 'FST_CSRF_INVALID_TOKEN':
      return new AppError(
        'forbidden',
        'The CSRF token is missing or wrong: send the one from GET /api/v1/session in the header x-csrf-token.',
        { cause: error },
      )
  }
  const code = error.statusCode === undefined ? undefined : codeOf(error.statusCode)
  return code && new AppError(code, error.message, { cause: error })
}

/** Converts any thrown value to an AppError. Unknown errors become `internal` with a message that reveals nothing. */
const toAppError = (error: unknown, limits: BodyLimits): AppError => {
  if (error instanceof AppError) return error
  if (error instanceof SchemaRefusal) return refusalToAppError(error)
  if (error instanceof QueueFullError) return new AppError('unavailable', TOO_BUSY, { ...RETRY_LATER, cause: error })
  const known = isFastifyError(error) ? fromFastify(error, limits) : undefined
  return known ?? new AppError('internal', 'Something went wrong inside Patchbay.', { cause: error })
}

/** Queues are emptied in seconds. */
const RETRY_LATER = { retryAfterSeconds: 30 }
const TOO_BUSY = 'Patchbay has too much to do at the moment. Try again in half a minute.'

const isFastifyError = (error: unknown): error is FastifyError =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && 'statusCode' in error

/**
 * Returns a function that converts a thrown value to an AppError. Logs server errors with the request id that the
 * response contains.
 */
export const createErrorReader =
  (maxRequestBytes: number) =>
  (error: unknown, request: FastifyRequest): AppError => {
    const bodyLimit = request.routeOptions.bodyLimit ?? maxRequestBytes
    const known = toAppError(error, { bodyLimit, maxRequestBytes })
    if (known.status >= 500) {
      request.log.error({ err: error, requestId: request.id, method: request.method, route: request.routeOptions.url })
    }
    return known
  }

/** Returns a Fastify error handler that sends problem documents. */
export const createErrorHandler = (maxRequestBytes: number) => {
  const read = createErrorReader(maxRequestBytes)
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    sendProblem(request, reply, read(error, request))
}
