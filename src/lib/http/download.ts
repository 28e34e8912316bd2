import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/**
 * Sends the parts of a text as a download. Takes each part after the previous one has been sent, and stops when the
 * client disconnects. An error after the first part closes the connection, so that a partial file cannot be mistaken for
 * a complete one.
 */
export const sendDownload = (
  reply: FastifyReply,
  { name, type }: { name: string; type: string },
  parts: AsyncIterable<string>,
): FastifyReply => {
  reply.header('content-type', type)
  reply.header('content-disposition', `attachment; filename="${name}"`)
  // For HEAD requests, Fastify would read the whole stream without sending it.
  return reply.send(reply.request.method === 'HEAD' ? '' : Readable.from(parts))
}
