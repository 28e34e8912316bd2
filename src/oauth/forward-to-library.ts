import type { FastifyReply, FastifyRequest } from 'fastify'
import { REQUEST_ID } from '../lib/http/request-ids.ts'
import type { Engine } from './engine.ts'
import type { EngineParts } from './engine-parts.ts'

export type LoadEngine = () => Promise<Engine>

/**
 * Loads the engine on first use. Its library takes a third of a second and 20 MB, and many installations never need it.
 */
export const createEngineLoader = (parts: EngineParts): LoadEngine => {
  let loading: Promise<Engine> | undefined
  return () => {
    loading ??= import('./engine.ts')
      .then(({ createEngine }) => createEngine(parts))
      .catch(error => {
        // Lets the next request try again, for example when the database is reachable again.
        loading = undefined
        throw error
      })
    return loading
  }
}

export type ForwardToLibrary = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/**
 * Passes a request to the library, with the headers that are already set on the reply. The library
 * derives its own URL and the client's address from headers, so these are overwritten with the base
 * URL and the address that trusted proxies reported.
 */
export const createForwardToLibrary = (loadEngine: LoadEngine, baseUrl: string): ForwardToLibrary => {
  const { host, protocol } = new URL(baseUrl)
  return async (request, reply) => {
    const { handle } = await loadEngine()
    // If the client has disconnected, the library would fail to read the body.
    if (reply.raw.destroyed) return
    const { headers } = request.raw
    headers.host = host
    headers['x-forwarded-host'] = host
    headers['x-forwarded-proto'] = protocol.slice(0, -1)
    headers['x-forwarded-for'] = request.ip
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value)
    }
    reply.raw.setHeader(REQUEST_ID, request.id)
    await handle(request.raw, reply.raw)
  }
}

export const dropCookies = (request: FastifyRequest, names: readonly string[]): void => {
  const { headers } = request.raw
  const kept = (headers.cookie ?? '').split(/; */).filter(pair => !names.includes(pair.split('=', 1)[0] ?? ''))
  if (kept.length === 0) delete headers.cookie
  else headers.cookie = kept.join('; ')
}
