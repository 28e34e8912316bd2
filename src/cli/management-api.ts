import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { AppError, type AppErrorCode } from '../lib/kernel/errors.ts'
import type { JsonObject } from '../lib/kernel/json.ts'
import { createTrustedFetch } from '../lib/outbound/bounded-fetch.ts'
import { OutboundError } from '../lib/outbound/outbound-request.ts'
import { withDetails } from './failure-lines.ts'

/** The response to one request. `why` is the error message if the request was rejected. */
export type ApiResponse = { status: number; body: unknown; why: string | undefined }

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A form with text files (RFC 7578). */
export type FileForm = {
  fields: Readonly<Record<string, string>>
  files: readonly { name: string; text: string }[]
}

/** The management API of a local or remote installation. */
export type ManagementApi = {
  /** Sends a request to `path`, which follows `/api/v1`. Returns responses of any status; throws if there is none. */
  send: (method: Method, path: string, body?: JsonObject) => Promise<ApiResponse>
  /** Like `send` with POST. Has no limit for JSON, and is not sent twice. */
  sendFiles: (path: string, form: FileForm) => Promise<ApiResponse>
  close: () => Promise<void>
}

export const API_PREFIX = '/api/v1'
const TIMEOUT_MS = 30_000
const MAX_RESPONSE_BYTES = 16 * 1_024 * 1_024

const Problem = z.object({
  detail: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
})

const explain = (status: number, body: unknown): string | undefined => {
  if (status < 300) return undefined
  const problem = Problem.safeParse(body).data
  return problem ? withDetails(problem.detail, problem.errors) : `The server responded with status ${status}.`
}

/** Parses a response. If it is an error, also returns its message. */
export const toResponse = (status: number, text: string): ApiResponse => {
  let body: unknown
  try {
    body = text === '' ? undefined : JSON.parse(text)
  } catch {
    body = undefined
  }
  return { status, body, why: explain(status, body) }
}

const quoted = (text: string): string => `"${text.replaceAll(/[\r\n"]/g, encodeURIComponent)}"`

/** Returns a form as the body of a request, with its content type. */
export const toFormBody = ({ fields, files }: FileForm): { contentType: string; payload: string } => {
  const boundary = `patchbay-${randomUUID()}`
  const parts = [
    ...Object.entries(fields).map(([name, value]) => `name=${quoted(name)}\r\n\r\n${value}`),
    ...files.map(({ name, text }) => `name="files"; filename=${quoted(name)}\r\n\r\n${text}`),
  ]
  const written = parts.map(part => `--${boundary}\r\ncontent-disposition: form-data; ${part}\r\n`)
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    payload: `${written.join('')}--${boundary}--\r\n`,
  }
}

/** Connects to the management API of a running Patchbay with a personal access token. */
export const connectApi = (origin: string, token: string): ManagementApi => {
  const { fetch, close } = createTrustedFetch({ timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_RESPONSE_BYTES })
  const request = async (method: Method, path: string, body?: { contentType: string; payload: string }) => {
    try {
      const response = await fetch(`${origin}${API_PREFIX}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': body.contentType }),
        },
        ...(body !== undefined && { body: body.payload }),
      })
      return toResponse(response.status, await response.text())
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error
      throw new AppError('unavailable', `No response from Patchbay at ${origin}: ${error.message}.`, { cause: error })
    }
  }
  return {
    send: (method, path, body) =>
      request(method, path, body && { contentType: 'application/json', payload: JSON.stringify(body) }),
    sendFiles: (path, form) => request('POST', path, toFormBody(form)),
    close,
  }
}

const CODES: ReadonlyMap<number, AppErrorCode> = new Map([
  [401, 'unauthenticated'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [409, 'conflict'],
])

/** Returns the parsed body of a response. Throws the API's error message if the request failed. */
export const parseSuccess = <T>(response: ApiResponse, schema: z.ZodType<T>): T => {
  if (response.why !== undefined) throw new AppError(CODES.get(response.status) ?? 'invalid_request', response.why)
  return schema.parse(response.body)
}

/** Sends a request and returns the parsed body. Throws the API's error message if the request fails. */
export const expectSuccess = async <T>(
  { send }: ManagementApi,
  method: Method,
  path: string,
  schema: z.ZodType<T>,
  body?: JsonObject,
): Promise<T> => parseSuccess(await send(method, path, body), schema)

/** Returns the items of all pages of a list. */
export const listAll = async <T>(api: ManagementApi, path: string, item: z.ZodType<T>): Promise<T[]> => {
  const Page = z.object({ items: z.array(item), nextCursor: z.string().nullish() })
  const items: T[] = []
  for (let cursor = ''; ; ) {
    const page = await expectSuccess(api, 'GET', `${path}?limit=200${cursor}`, Page)
    items.push(...page.items)
    if (!page.nextCursor) return items
    cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`
  }
}
