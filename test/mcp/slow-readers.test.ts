import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeServer, makeTool, startTestApp, type TestApp, text } from './support.ts'
import { statelessRequest } from './wire.ts'

const server = makeServer({
  tools: [
    makeTool('huge', { call: async () => text('x'.repeat(16 * 1_024 * 1_024)) }),
    makeTool('large', { call: async () => text('x'.repeat(100 * 1_024)) }),
  ],
})
let app: TestApp
beforeEach(async () => {
  app = await startTestApp({ servers: [server] })
})
afterEach(() => app.close())

/** Calls a tool and returns both ends of the connection. */
const call = async (name: string): Promise<{ ours: Socket; theirs: Socket }> => {
  const accepted = new Promise<Socket>(resolve => app.app.server.once('connection', resolve))
  const theirs = connect(app.port, '127.0.0.1')
  const request = statelessRequest('tools/call', { name, arguments: {} })
  const body = JSON.stringify(request.body)
  const fields = Object.entries({
    ...request.headers,
    host: 'localhost',
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'content-length': String(body.length),
  })
  const head = fields.map(([field, value]) => `${field}: ${value}\r\n`).join('')
  theirs.write(`POST /s/${server.id} HTTP/1.1\r\n${head}\r\n${body}`)
  return { ours: await accepted, theirs }
}

/** Resolves at the first bytes. Before the server's first write, the remaining size is unknown. */
const firstBytes = (socket: Socket): Promise<void> => new Promise(resolve => socket.once('readable', () => resolve()))

describe('a large response', () => {
  it('that is not read is aborted after 30 seconds without progress', async () => {
    const { ours, theirs } = await call('huge')
    await firstBytes(theirs)
    expect(ours.timeout).toBe(30_000)
    const closed = new Promise<void>(resolve => ours.once('close', () => resolve()))
    ours.emit('timeout')
    await closed
    theirs.destroy()
  })

  it('that was read leaves the connection unchanged', async () => {
    const { ours, theirs } = await call('large')
    let taken = 0
    for await (const chunk of theirs) {
      taken += chunk.length
      if (taken > 100 * 1_024) break
    }
    expect(ours.timeout).not.toBe(30_000)
    theirs.destroy()
  })
})
