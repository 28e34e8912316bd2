import type { FastifyReply } from 'fastify'

/** Aborted when the client goes away before it is answered: what is done for it alone need not be finished. */
export const signalOf = ({ raw }: FastifyReply): AbortSignal => {
  const controller = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort()
  })
  return controller.signal
}
