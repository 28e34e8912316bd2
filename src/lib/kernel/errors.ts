/** HTTP status of each public error code (RFC 9110 §15; 507: RFC 4918 §11.5). */
const STATUS = {
  invalid_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  limit_exceeded: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
  storage_full: 507,
} as const

export type AppErrorCode = keyof typeof STATUS

/** An invalid field of a request; `path` is a JSON path into the body, such as `headers[0].value`. */
export type FieldError = { path: string; message: string }

export type AppErrorOptions = ErrorOptions & {
  errors?: readonly FieldError[] | undefined
  retryAfterSeconds?: number | undefined
  /** Details for the terminal and the log only, such as a file path. */
  operatorNote?: string | undefined
}

/** An error that the caller can act on. Only `message` and `errors` may be shown to the caller. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: AppErrorCode
  readonly errors: readonly FieldError[] | undefined
  /** Value of the Retry-After header (RFC 9110 §10.2.3). */
  readonly retryAfterSeconds: number | undefined
  readonly operatorNote: string | undefined

  constructor(code: AppErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options)
    this.code = code
    this.errors = options.errors
    this.retryAfterSeconds = options.retryAfterSeconds
    this.operatorNote = options.operatorNote
  }

  get status(): number {
    return STATUS[this.code]
  }
}

/** Returns the error for a URL that matches no route or object. */
export const unknownAddress = (options?: ErrorOptions): AppError =>
  new AppError('not_found', 'There is nothing at this address.', options)
