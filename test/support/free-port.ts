import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'

/** Whether this machine has the address ::1. */
export const HAS_IPV6_LOOPBACK = Object.values(networkInterfaces()).some(list =>
  list?.some(({ address }) => address === '::1'),
)

/**
 * The first port to use. It is below the range from which systems choose ports (from 32768 on Linux, from 49152
 * elsewhere): a port in that range could be given to another server before it is used.
 */
const FIRST = 20_000
/** Test files that run at the same time use different parts of the ports, because a port is free until it is used. */
const PARTS = 16
const COUNT = 12_000 / PARTS
const first = FIRST + COUNT * (Number(process.env.VITEST_POOL_ID ?? 0) % PARTS)

/** Each process starts at a random port, because other runs of the tests may use the same part. */
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

/** Returns a loopback port on which nothing is listening at the moment. */
export const freePort = async (): Promise<number> => {
  for (let tries = 0; tries < COUNT; tries++) {
    const port = first + (next++ % COUNT)
    if (await canListen(port)) return port
  }
  throw new Error('every port is taken')
}
