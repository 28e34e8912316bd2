import { z } from 'zod'
import { listen } from '../db/listen.ts'
import type { PostgresTarget } from '../db/target.ts'
import type { Feed, FeedListener } from './feed.ts'

const CHANNEL = 'patchbay_changes'
/** PostgreSQL rejects payloads of 8,000 bytes or more. An event has an id and a name, about 90 bytes in total. */
const EVENTS_PER_MESSAGE = 50

const Message = z.object({ origin: z.string(), events: z.array(z.unknown()) })

/** Sends events as NOTIFY payloads, which PostgreSQL delivers when the transaction commits. */
export const createPostgresFeed = async (
  target: PostgresTarget,
  origin: string,
  listener: FeedListener,
): Promise<Feed> => {
  const receive = (payload: string): void => {
    try {
      const message = Message.parse(JSON.parse(payload))
      if (message.origin !== origin) for (const event of message.events) listener.onEvent(event)
    } catch (error) {
      listener.onTrouble(error)
    }
  }
  const listening = await listen(target, {
    channel: CHANNEL,
    onMessage: receive,
    onResumed: listener.onMissed,
    onLost: listener.onTrouble,
  })
  return {
    send: async (tx, events) => {
      for (let at = 0; at < events.length; at += EVENTS_PER_MESSAGE) {
        const payload = JSON.stringify({ origin, events: events.slice(at, at + EVENTS_PER_MESSAGE) })
        await tx.$executeRaw`SELECT pg_notify(${CHANNEL}, ${payload})`
      }
    },
    close: listening.close,
  }
}
