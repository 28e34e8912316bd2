import type { FastifyReply } from 'fastify'
import { sendDownload } from './download.ts'

const toLines = (values: readonly unknown[]): string => values.map(value => `${JSON.stringify(value)}\n`).join('')

async function* chunksOf(batches: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  for await (const batch of batches) yield toLines(batch)
}

/** Sends values as a download with one JSON text per line, a batch at a time. */
export const sendNdjson = (
  reply: FastifyReply,
  filename: string,
  batches: AsyncIterable<readonly unknown[]>,
): FastifyReply =>
  sendDownload(reply, { name: filename, type: 'application/x-ndjson; charset=utf-8' }, chunksOf(batches))
