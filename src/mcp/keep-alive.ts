import type { PostChannel } from './client-channel.ts'
import { type HttpExchange, writeWhiteSpace } from './http-exchange.ts'

const TICK_MS = 1_000
/** 15 seconds. Many proxies cut a connection on which nothing was sent for 30 or 60 seconds. */
const BEAT_TICKS = 15

/** A request without a response. `tick` is that of its start or its last beat. */
type Waiting = { http: HttpExchange; channel: PostChannel | undefined; tick: number }

const beat = ({ http, channel }: Waiting): void => {
  if (channel?.isOpen) channel.beat()
  else writeWhiteSpace(http)
}

/**
 * Creates a function that keeps the connection of a slow request open: with comments in an event stream, or with white
 * space before the JSON if the client does not accept streams. It returns a function that stops this. All requests share
 * a timer, because one for each would take 5 % of the time of a call.
 */
export const createKeepAlive = () => {
  const waiting = new Set<Waiting>()
  let ticks = 0
  let timer: NodeJS.Timeout | undefined

  const tick = (): void => {
    ticks += 1
    for (const request of waiting) {
      if (ticks - request.tick < BEAT_TICKS) continue
      request.tick = ticks
      beat(request)
    }
    if (waiting.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return (http: HttpExchange, channel?: PostChannel): (() => void) => {
    const request = { http, channel, tick: ticks }
    waiting.add(request)
    timer ??= setInterval(tick, TICK_MS).unref()
    return () => void waiting.delete(request)
  }
}
export type KeepAlive = ReturnType<typeof createKeepAlive>
