import { connect, createServer as createRawServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { runPatchbay, runUser } from '../support/world.ts'
import { listen, passTo } from './support.ts'

const BODY = 'x'.repeat(3_000_000)
const FRAMED = {
  'of a length that is named': ['Content-Length: 3000000', BODY],
  'in chunks': ['Transfer-Encoding: chunked', `2dc6c0\r\n${BODY}\r\n0\r\n\r\n`],
} as const

describe('a passthrough server that responds before the body is complete', () => {
  const patchbay = runPatchbay()
  const api = runUser(patchbay)

  /** Sends a request with a body, and another request over the same connection. Returns the status codes. */
  const sendBoth = (path: string, [framing, body]: readonly [string, string]) => {
    const socket = connect(Number(new URL(patchbay.origin).port), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    let said = ''
    socket.on('data', chunk => {
      said += chunk
    })
    socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n${body}`)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    return () => [...said.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
  }
  const startHasty = async (answer: string) => {
    const hasty = createRawServer(socket => {
      socket.on('error', () => undefined)
      socket.on('data', chunk => {
        const text = String(chunk)
        if (text.startsWith('POST')) socket.write(answer)
        else if (text.startsWith('GET')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nget')
      })
    })
    const { port } = await listen(hasty)
    return passTo(api, `http://127.0.0.1:${port}/mcp`)
  }

  describe.each(Object.entries(FRAMED))('%s', (_, framed) => {
    it.each([
      [413, 'HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno'],
      [200, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'],
      [502, 'HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno'],
    ])('passes on a %i and handles the next request on that connection', async (status, answer) => {
      const { path } = await startHasty(answer)
      await expect.poll(sendBoth(path, framed), { timeout: 10_000 }).toEqual([status, 200])
    })

    it('reports that the upstream is down, for the next request on that connection too', async () => {
      const { path } = await passTo(api, `http://127.0.0.1:${await freePort()}/mcp`)
      await expect.poll(sendBoth(path, framed), { timeout: 10_000 }).toEqual([503, 503])
    })
  })
})
