import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer } from 'node:net'
import { promisify } from 'node:util'
import { KEEP_ALIVE_DELAY_MS } from './server.ts'

/** The errors of a machine that does not have the address. */
const ABSENT: ReadonlySet<unknown> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/**
 * Makes an HTTP server also accept connections at another address, if the machine has it. Returns a function that stops
 * this and resolves when these connections have closed. Otherwise they are like all others of the server: a second HTTP
 * server would need its own handlers, limits and shutdown.
 */
export const listenAlsoAt = async (server: Server, host: string, port: number): Promise<() => Promise<void>> => {
  const options = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_DELAY_MS }
  const other = createServer(options, socket => server.emit('connection', socket))
  other.listen({ host, port })
  try {
    await once(other, 'listening')
  } catch (error) {
    if (error instanceof Error && 'code' in error && ABSENT.has(error.code)) return async () => {}
    throw error
  }
  // Node reports failed accepts here.
  other.on('error', error => server.emit('error', error))
  return promisify(other.close.bind(other))
}
