import type { FastifyInstance } from 'fastify'
import { AppError } from '../kernel/errors.ts'
import { isJsonObject, type JsonValue, parseJson, someValue } from '../kernel/json.ts'
import { JSON_REQUIRED } from './problem.ts'

/** Returns whether a request with these headers has a body, which may be empty if it is chunked. */
export const hasBody = (headers: NodeJS.Dict<string | string[]>): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** Returns whether a string or a key contains NUL or a lone surrogate, which PostgreSQL cannot store. */
const isUnstorable = (value: JsonValue): boolean =>
  typeof value === 'string' ? !isStorable(value) : isJsonObject(value) && !Object.keys(value).every(isStorable)

const badJson = (reason: string): AppError =>
  new AppError('invalid_request', `The body cannot be accepted as JSON: ${reason}.`)

const parseBody = (text: string, maxDepth: number): JsonValue | undefined => {
  // Clients often send DELETE requests with a content type but no body.
  if (text === '') return undefined
  const parsed = parseJson(text, maxDepth)
  if (!parsed.ok) {
    const { reason, message } = parsed.error
    throw badJson(reason === 'depth' ? `${message} (PATCHBAY_MAX_JSON_DEPTH)` : message)
  }
  // In JSON text, NUL and lone surrogates can only appear as escapes.
  if (text.includes('\\u') && someValue(parsed.value, isUnstorable)) {
    throw badJson('a string contains NUL or a lone surrogate')
  }
  return parsed.value
}

/**
 * Makes this scope accept only JSON bodies. Rejects bodies that are nested too deeply, have a `__proto__` key, contain
 * text that the database cannot store, or are compressed (a small body could expand without limit).
 */
export const readJsonBodies = (app: FastifyInstance, maxDepth: number): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, async (_request: unknown, text: string) =>
    parseBody(text, maxDepth),
  )
  app.addHook('preParsing', async (request, _reply, payload) => {
    const { 'content-encoding': encoding, 'content-type': type } = request.headers
    if (encoding !== undefined && encoding !== 'identity') {
      throw new AppError('unsupported_media_type', `The body must not be compressed (Content-Encoding: ${encoding}).`)
    }
    // If there is no content type, Fastify would skip the body and the route would report every field as missing.
    if (type === undefined && hasBody(request.headers)) {
      throw new AppError('unsupported_media_type', JSON_REQUIRED)
    }
    return payload
  })
}
