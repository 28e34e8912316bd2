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

type Answer = { location: Promise<string | undefined>; settle: (location: string | undefined) => void }

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
  const answers = new LRUCache<string, Answer>({ maxSize: MAX_REMEMBERED, sizeCalculation: () => 1 })
  const own = new WeakMap<FastifyRequest, { key: string; answer: Answer }>()

  pages.addHook('preHandler', async (request, reply) => {
    const key = keyOf(request)
    if (key === undefined) return undefined
    const location = await answers.get(key)?.location
    if (location !== undefined) return reply.redirect(location, 303)
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const answer = { location: promise, settle: resolve }
    answers.set(key, answer)
    own.set(request, { key, answer })
    return undefined
  })

  // Runs even if the browser has dropped the first request for the second: its work is done all the same.
  pages.addHook('onSend', async (request, reply) => {
    const asked = own.get(request)
    if (asked === undefined) return
    const { key, answer } = asked
    const location = reply.statusCode === 303 ? reply.getHeader('location') : undefined
    answer.settle(location?.toString())
    if (location === undefined) answers.delete(key)
    else answers.set(key, answer, { ttl: SAME_CLICK_MS })
  })
}
