import type { FastifyInstance } from 'fastify'
import { AppError, parseJson } from '../../kernel/index.ts'

const hasBody = (headers: NodeJS.Dict<string | string[]>): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/**
 * Makes this scope read JSON bodies and nothing else, as strangers' JSON: bounded depth, no `__proto__`,
 * no compression (a bomb costs its sender nothing).
 */
export const readJsonBodies = (app: FastifyInstance, maxDepth: number): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<string>(
    'application/json',
    { parseAs: 'string' },
    async (_request: unknown, text: string) => {
      // DELETE and the like are often sent with the type and no body.
      if (text === '') return undefined
      const parsed = parseJson(text, maxDepth)
      if (parsed.ok) return parsed.value
      const { reason, message } = parsed.error
      const named = reason === 'depth' ? `${message} (PATCHBAY_MAX_JSON_DEPTH)` : message
      throw new AppError('invalid_request', `The body is no JSON that is taken: ${named}.`)
    },
  )
  app.addHook('preParsing', async (request, _reply, payload) => {
    const { 'content-encoding': encoding, 'content-type': type } = request.headers
    if (encoding !== undefined && encoding !== 'identity') {
      throw new AppError('unsupported_media_type', `The body must not be compressed (Content-Encoding: ${encoding}).`)
    }
    // Without a type Fastify would leave the body unread and the route would say that everything is missing.
    if (type === undefined && hasBody(request.headers)) {
      throw new AppError('unsupported_media_type', 'The body must be JSON: send Content-Type: application/json.')
    }
    return payload
  })
}
