import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

const toLines = (values: readonly unknown[]): string => values.map(value => `${JSON.stringify(value)}\n`).join('')

async function* chunksOf(batches: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  for await (const batch of batches) yield toLines(batch)
}

/**
 * Sends values as a download with one JSON text per line. Fetches each batch after the previous one has been sent, and
 * stops when the client disconnects. An error after the first batch closes the connection, so that a partial file
 * cannot be mistaken for a complete one.
 */
export const sendNdjson = (
  reply: FastifyReply,
  filename: string,
  batches: AsyncIterable<readonly unknown[]>,
): FastifyReply => {
  reply.header('content-type', 'application/x-ndjson; charset=utf-8')
  reply.header('content-disposition', `attachment; filename="${filename}"`)
  // For HEAD requests, Fastify would read the whole stream without sending it.
  return reply.send(reply.request.method === 'HEAD' ? '' : Readable.from(chunksOf(batches)))
}
