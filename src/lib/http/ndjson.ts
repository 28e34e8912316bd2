import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

const toLines = (values: readonly unknown[]): string => values.map(value => `${JSON.stringify(value)}\n`).join('')

async function* chunksOf(batches: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  for await (const batch of batches) yield toLines(batch)
}

/**
 * Sends values as a file to keep, one JSON text a line. A batch is asked for when the one before has gone out, and
 * none any more when the client is gone; what fails after the first one cuts the connection, so that nobody takes a
 * part for the whole.
 */
export const sendNdjson = (
  reply: FastifyReply,
  filename: string,
  batches: AsyncIterable<readonly unknown[]>,
): FastifyReply => {
  reply.header('content-type', 'application/x-ndjson; charset=utf-8')
  reply.header('content-disposition', `attachment; filename="${filename}"`)
  // Fastify reads what it then does not send in answer to a HEAD.
  return reply.send(reply.request.method === 'HEAD' ? '' : Readable.from(chunksOf(batches)))
}
