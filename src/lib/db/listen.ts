import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { toPgConfig } from './postgres.ts'
import type { PostgresTarget } from './target.ts'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** How often the connection is probed. A dead connection raises no error by itself. */
const HEARTBEAT_MS = 15_000
const ANSWER_TIMEOUT_MS = 5_000

export type ListenOptions = {
  /** A lower-case identifier. */
  channel: string
  onMessage: (payload: string) => void
  /** Called when listening resumes after a lost connection. Messages sent while the connection was down are lost. */
  onResumed: () => void
  onLost: (error: unknown) => void
}

/**
 * Listens for `pg_notify(channel, …)` on a separate connection, and reconnects until `close` is called. Resolves once
 * it is listening, or rejects if the first connection fails.
 */
export const listen = async (
  target: PostgresTarget,
  options: ListenOptions,
): Promise<{ close: () => Promise<void> }> => {
  const { channel, onMessage, onResumed, onLost } = options
  // Loaded on first use, so that processes on SQLite do not load the driver.
  const pg = await import('pg')
  const closing = new AbortController()
  let current: Client | undefined

  const connect = async (): Promise<void> => {
    const client = new pg.Client({
      ...toPgConfig(target),
      application_name: 'patchbay events',
      query_timeout: ANSWER_TIMEOUT_MS,
    })
    let isLost = false
    const lose = (error: unknown): void => {
      if (isLost || closing.signal.aborted) return
      isLost = true
      void client.end().catch(() => undefined)
      if (current !== client) return // Not listening yet, so connect() rejects.
      onLost(error)
      void resume()
    }
    client.on('error', lose)
    client.on('end', () => lose(new Error('the connection was closed')))
    client.on('notification', ({ payload }) => {
      if (payload !== undefined) onMessage(payload)
    })
    try {
      await client.connect()
      await client.query(`LISTEN ${client.escapeIdentifier(channel)}`)
    } catch (error) {
      isLost = true
      void client.end().catch(() => undefined)
      throw error
    }
    if (closing.signal.aborted) return client.end()
    current = client
    beat(client, lose)
  }

  const beat = (client: Client, lose: (error: unknown) => void): void => {
    const timer = setTimeout(() => {
      if (current !== client || closing.signal.aborted) return
      client.query('SELECT 1').then(() => beat(client, lose), lose)
    }, HEARTBEAT_MS)
    timer.unref()
  }

  const resume = async (): Promise<void> => {
    for (let pauseMs = FIRST_PAUSE_MS; !closing.signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        await delay(pauseMs * (0.5 + Math.random()), undefined, { signal: closing.signal, ref: false })
        await connect()
        return onResumed()
      } catch {
        // The lost connection has already been reported, so keep trying.
      }
    }
  }

  await connect()
  return {
    close: async () => {
      closing.abort()
      await current?.end().catch(() => undefined)
    },
  }
}
