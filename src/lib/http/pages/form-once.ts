import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createNewestEntries } from '../../process/newest-entries.ts'
import { isSafeMethod } from '../access.ts'
import { sessionIdOf } from '../sessions.ts'
import { isFragmentRequest } from './views.ts'

/** So long after its answer a form is taken for the second half of a double click. */
const SAME_CLICK_MS = 1_000
/** Forms that are being answered or just were, of all sessions; one forgotten too early is only done again. */
const MAX_REMEMBERED = 10_000

type Answer = { location: Promise<string | undefined>; settle: (location: string | undefined) => void }

/** The token in a form is another on each page that is shown: the same text is the same form, sent again. */
const keyOf = (request: FastifyRequest): string | undefined => {
  const sessionId = sessionIdOf(request)
  if (sessionId === undefined || isSafeMethod(request.method) || isFragmentRequest(request)) return undefined
  return hash('sha256', JSON.stringify([sessionId, request.url, request.body]), 'base64')
}

/**
 * Does once what is sent twice by a double click, where no script holds the second back: it goes where the first one
 * led. What did not lead on is done again. Of one process; to be set up after the form's token is checked.
 */
export const takeFormsOnce = (pages: FastifyInstance): void => {
  const answers = createNewestEntries<Answer>(MAX_REMEMBERED)
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

  // Also of a request whose browser has gone on to the second: what it asked for is done all the same.
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
