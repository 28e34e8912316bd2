import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { isSafeMethod } from '../access.ts'
import { sessionIdOf } from '../sessions.ts'
import { isFragmentRequest } from './views.ts'

/** A form sent again within this time after the response counts as a double click. */
const SAME_CLICK_MS = 1_000
/**
 * Maximum number of forms remembered across all sessions. If a form is evicted early, its duplicate is also processed.
 */
const MAX_REMEMBERED = 10_000

/** The redirect target of a form's response, or undefined without a redirect. */
type Location = PromiseWithResolvers<string | undefined>

/** Returns a key that only a resent form shares, because each page view has a different CSRF token. */
const keyOf = (request: FastifyRequest): string | undefined => {
  const sessionId = sessionIdOf(request)
  if (sessionId === undefined || isSafeMethod(request.method) || isFragmentRequest(request)) return undefined
  return hash('sha256', JSON.stringify([sessionId, request.url, request.body]), 'base64')
}

/**
 * Processes a form only once if a double click sends it twice, for browsers without scripts. The second request gets
 * the redirect of the first. If the first request did not redirect, the form is processed again. Works within one
 * process. Call after the CSRF check is set up.
 */
export const takeFormsOnce = (pages: FastifyInstance): void => {
  const locations = new LRUCache<string, Location>({ maxSize: MAX_REMEMBERED, sizeCalculation: () => 1 })
  const own = new WeakMap<FastifyRequest, { key: string; location: Location }>()

  pages.addHook('preHandler', async (request, reply) => {
    const key = keyOf(request)
    if (key === undefined) return undefined
    const earlier = await locations.get(key)?.promise
    if (earlier !== undefined) return reply.redirect(earlier, 303)
    const location: Location = Promise.withResolvers()
    locations.set(key, location)
    own.set(request, { key, location })
    return undefined
  })

  // Runs even if the browser has canceled the first request, because the server completes it anyway.
  pages.addHook('onSend', async (request, reply) => {
    const entry = own.get(request)
    if (entry === undefined) return
    const { key, location } = entry
    const target = reply.statusCode === 303 ? reply.getHeader('location')?.toString() : undefined
    location.resolve(target)
    if (target === undefined) locations.delete(key)
    else locations.set(key, location, { ttl: SAME_CLICK_MS })
  })
}
