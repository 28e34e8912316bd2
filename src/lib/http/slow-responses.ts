import type { Server } from 'node:http'
import { findResponse, trackConnections } from './connections.ts'

/** Event emitted on a response that has not ended after 15 seconds, and every 15 seconds from then on. */
export const SLOW = 'patchbaySlow'

const TICK_MS = 1_000
const SLOW_TICKS = 15

/**
 * Emits SLOW on the responses of a server. Finds them through the connections, so that a quick response costs nothing.
 * Call it before the server listens. Returns a function that stops it.
 */
export const watchSlowResponses = (server: Server): (() => void) => {
  const sockets = trackConnections(server)
  /** Ticks since the one that first saw a response. */
  const ages = new WeakMap<object, number>()
  const tick = (): void => {
    for (const socket of sockets) {
      const response = findResponse(socket)
      if (response === undefined) continue
      const age = (ages.get(response) ?? -1) + 1
      ages.set(response, age)
      if (age > 0 && age % SLOW_TICKS === 0) response.emit(SLOW)
    }
  }
  const timer = setInterval(tick, TICK_MS).unref()
  return () => clearInterval(timer)
}
