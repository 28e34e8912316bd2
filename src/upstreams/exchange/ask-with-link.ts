import type { RequestOptions } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../kernel/index.ts'
import type { CallLink } from '../call-link.ts'
import type { UpstreamClient, UpstreamConnection } from '../connection/index.ts'
import { lowerLogLevel } from './log-levels.ts'
import { createPatience } from './patience.ts'

/** Reserved key of `_meta` (2026-07-28, basic). */
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel'

/** Sends the request; `meta` goes into its `_meta`. */
export type SendLinked = (client: UpstreamClient, meta: JsonObject, options: RequestOptions) => Promise<JsonObject>

/** What the request itself says of the client in `_meta`: our token for its progress, and in the newer era the level. */
const metaOf = (client: UpstreamClient, { logLevel }: CallLink, progressToken: string | undefined): JsonObject => ({
  ...(progressToken !== undefined && { progressToken }),
  ...(logLevel !== undefined && client.getProtocolEra() === 'modern' && { [LOG_LEVEL]: logLevel }),
})

/** Sends a request of a client that wants to hear how it goes; what it hears keeps the request from being given up. */
export const askWithLink = async (
  connection: UpstreamConnection,
  link: CallLink,
  signal: AbortSignal,
  send: SendLinked,
): Promise<JsonObject> => {
  const { onProgress } = link
  let touch = (): void => {}
  const heard =
    onProgress &&
    connection.hearProgress(step => {
      touch()
      onProgress(step)
    })
  try {
    return await connection.run(async (client, options) => {
      await lowerLogLevel(client, link.logLevel)
      const meta = metaOf(client, link, heard?.token)
      if (heard === undefined) return send(client, meta, options)
      const patience = createPatience(options)
      touch = patience.touch
      try {
        return await send(client, meta, patience.options)
      } finally {
        patience.end()
      }
    }, signal)
  } finally {
    heard?.stop()
  }
}
