import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../kernel/errors.ts'
import { CUT_OFF } from './drain.ts'

const END = 'Patchbay is shutting down and has ended this request. It may have taken effect.'

/** Sends an error for each request of this scope that a shutdown cuts off before its response has begun. */
export const respondToCutOff = (
  app: FastifyInstance,
  send: (request: FastifyRequest, reply: FastifyReply, error: AppError) => FastifyReply,
): void => {
  app.addHook('onRequest', async (request, reply) => {
    reply.raw.once(CUT_OFF, () => {
      if (reply.sent || reply.raw.headersSent) return
      void send(request, reply, new AppError('unavailable', END, { retryAfterSeconds: 1 }))
    })
  })
}
