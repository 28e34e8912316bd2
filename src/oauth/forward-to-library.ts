import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LoadEngine } from './load-engine.ts'

export type HandOver = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/**
 * Lets the library answer a request, with the headers that the reply has by now. It takes its own address from the
 * request, so the request is made to say the base URL, whatever Host it came with, and who trusted proxies say it is of.
 */
export const createHandOver = (loadEngine: LoadEngine, baseUrl: string): HandOver => {
  const { host, protocol } = new URL(baseUrl)
  return async (request, reply) => {
    const { answer } = await loadEngine()
    // The library would read the body of who has left meanwhile, and find none.
    if (reply.raw.destroyed) return
    const { headers } = request.raw
    headers.host = host
    headers['x-forwarded-host'] = host
    headers['x-forwarded-proto'] = protocol.slice(0, -1)
    headers['x-forwarded-for'] = request.ip
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value)
    }
    await answer(request.raw, reply.raw)
  }
}

/** The request's cookies without these. */
export const dropCookies = (request: FastifyRequest, names: readonly string[]): void => {
  const { headers } = request.raw
  const kept = (headers.cookie ?? '').split(/; */).filter(pair => !names.includes(pair.split('=', 1)[0] ?? ''))
  if (kept.length === 0) delete headers.cookie
  else headers.cookie = kept.join('; ')
}
