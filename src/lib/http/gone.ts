import type { FastifyReply } from 'fastify'

/** Returns a signal that aborts if the client disconnects before the response has been sent. */
export const signalOf = ({ raw }: FastifyReply): AbortSignal => {
  const controller = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort()
  })
  return controller.signal
}
