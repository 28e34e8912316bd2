import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Below what systems choose from by themselves (from 32768 on Linux, from 49152 elsewhere): one that was chosen so can
 * be given to another server, of another test file, between its choice and its use.
 */
const FIRST = 20_000
const COUNT = 12_000

/** Each process goes round from a place of its own. */
let next = randomInt(COUNT)

const canListen = (port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false)
      else reject(error)
    })
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })

/** A port of loopback that nobody listens on at this moment. */
export const freePort = async (): Promise<number> => {
  for (let tries = 0; tries < COUNT; tries++) {
    const port = FIRST + (next++ % COUNT)
    if (await canListen(port)) return port
  }
  throw new Error('every port is taken')
}
