import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer } from 'node:net'
import { promisify } from 'node:util'
import { KEEP_ALIVE_DELAY_MS } from './server.ts'

/** Errors of listening at an address that the machine does not have. */
const ABSENT: ReadonlySet<unknown> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/**
 * Makes an HTTP server also accept connections at another address, if the machine has it. They get the server's
 * handlers, limits and shutdown, which a second HTTP server would not share. Returns a function that stops listening
 * there and resolves when these connections have closed.
 */
export const listenAlsoAt = async (server: Server, host: string, port: number): Promise<() => Promise<void>> => {
  const options = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_DELAY_MS }
  const other = createServer(options, socket => {
    // Node tracks connections, for timeouts and shutdown, only once the server itself listens.
    if (server.listening) server.emit('connection', socket)
    else socket.destroy()
  })
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
