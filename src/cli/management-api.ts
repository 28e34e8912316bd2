import { z } from 'zod'
import { AppError, type AppErrorCode, type JsonObject } from '../kernel/index.ts'
import { createTrustedFetch, OutboundError } from '../platform/net/index.ts'

/** What came of one request; `why` is there where it was refused, and says so. */
export type ApiAnswer = { status: number; body: unknown; why: string | undefined }

/** The management API, wherever the installation is. */
export type ManagementApi = {
  /** `path` begins after `/api/v1`. Any status is an answer; throws where there is none. */
  send: (method: string, path: string, body?: JsonObject) => Promise<ApiAnswer>
  close: () => Promise<void>
}

export const API_PREFIX = '/api/v1'
const TIMEOUT_MS = 30_000
const MAX_ANSWER_BYTES = 16 * 1_024 * 1_024

const Problem = z.object({
  detail: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
})

const explain = (status: number, body: unknown): string | undefined => {
  if (status < 300) return undefined
  const problem = Problem.safeParse(body).data
  if (problem === undefined) return `It was answered with the status ${status}.`
  const rest = (problem.errors ?? []).filter(({ message }) => !problem.detail.includes(message))
  const details = rest.map(({ path, message }) => `${path} ${message}`).join('; ')
  return details === '' ? problem.detail : `${problem.detail.replace(/\.$/, '')} (${details}).`
}

/** An answer as it came, and what it says where it is a refusal. */
export const toAnswer = (status: number, text: string): ApiAnswer => {
  let body: unknown
  try {
    body = text === '' ? undefined : JSON.parse(text)
  } catch {
    body = undefined
  }
  return { status, body, why: explain(status, body) }
}

/** The API of a Patchbay that runs, by a personal access token. */
export const connectApi = (origin: string, token: string): ManagementApi => {
  const { fetch, close } = createTrustedFetch({ timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_ANSWER_BYTES })
  return {
    send: async (method, path, body) => {
      try {
        const response = await fetch(`${origin}${API_PREFIX}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${token}`,
            accept: 'application/json',
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        return toAnswer(response.status, await response.text())
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error
        throw new AppError('unavailable', `Patchbay gave no answer at ${origin}: ${error.message}.`, { cause: error })
      }
    },
    close,
  }
}

const CODES: ReadonlyMap<number, AppErrorCode> = new Map([
  [401, 'unauthenticated'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [409, 'conflict'],
])

/** As `send`, for what must succeed: throws what the API says otherwise. */
export const expectAnswer = async <T>(
  { send }: ManagementApi,
  method: string,
  path: string,
  schema: z.ZodType<T>,
  body?: JsonObject,
): Promise<T> => {
  const answer = await send(method, path, body)
  if (answer.why !== undefined) throw new AppError(CODES.get(answer.status) ?? 'invalid_request', answer.why)
  return schema.parse(answer.body)
}

/** All pages of a list. */
export const listAll = async <T>(api: ManagementApi, path: string, item: z.ZodType<T>): Promise<T[]> => {
  const Page = z.object({ items: z.array(item), nextCursor: z.string().nullish() })
  const items: T[] = []
  for (let cursor = ''; ; ) {
    const page = await expectAnswer(api, 'GET', `${path}?limit=200${cursor}`, Page)
    items.push(...page.items)
    if (!page.nextCursor) return items
    cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`
  }
}
