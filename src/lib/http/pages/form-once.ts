import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { isSafeMethod } from '../access.ts'
import { sessionIdOf } from '../sessions.ts'
import { isFragmentRequest } from './views.ts'

/** A form sent again within this time after its response counts as a double click. */
const SAME_CLICK_MS = 1_000
/** Forms remembered across all sessions. If one is evicted early, its duplicate is processed again. */
const MAX_REMEMBERED = 10_000

/** The redirect target of a form's response, undefined without a redirect. */
type Location = PromiseWithResolvers<string | undefined>

/** Returns a key that only the same form sent again has: each page view has its own CSRF token. */
const keyOf = (request: FastifyRequest): string | undefined => {
  const sessionId = sessionIdOf(request)
  if (sessionId === undefined || isSafeMethod(request.method) || isFragmentRequest(request)) return undefined
  return hash('sha256', JSON.stringify([sessionId, request.url, request.body]), 'base64')
}

/**
 * Processes a form once when a double click sends it twice and no script prevents that: the second request redirects to
 * where the first one led. If the first did not redirect, the form is processed again. Works within one process. Call
 * after the CSRF check is set up.
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

  // Runs even if the browser has dropped the first request for the second: its work is done all the same.
  pages.addHook('onSend', async (request, reply) => {
    const asked = own.get(request)
    if (asked === undefined) return
    const { key, location } = asked
    const target = reply.statusCode === 303 ? reply.getHeader('location')?.toString() : undefined
    location.resolve(target)
    if (target === undefined) locations.delete(key)
    else locations.set(key, location, { ttl: SAME_CLICK_MS })
  })
}
