import { beforeAll, describe, expect, it, vi } from 'vitest'
import { POST_HEADERS, statelessRequest } from '../mcp/wire.ts'
import { startPatchbay } from '../support/process.ts'
import { during } from '../support/world.ts'
import { openRaw, serveApi } from './calls.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const TOO_LARGE = 5 * 1_024 * 1_024

describe('the running server', () => {
  let serverId: string
  let token: string | undefined
  const patchbay = during(() => startPatchbay())
  beforeAll(async () => {
    const made = await serveApi(patchbay, { origin: 'http://127.0.0.1:9' })
    serverId = made.serverId
    token = made.builder.token
  })

  /** Sends raw bytes and returns everything received until the connection was closed. */
  const exchange = async (...bytes: string[]): Promise<string> => {
    const { socket, received, closed } = await openRaw(patchbay.port)
    for (const part of bytes) socket.write(part)
    await closed
    return received()
  }

  it.each([
    ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6'],
    ['an invalid length', 'Content-Length: -1'],
    ['an unknown transfer coding', 'Transfer-Encoding: chunked, identity'],
  ])('responds with 400 to a request with %s, and closes the connection', async (_what, framing) => {
    for (const path of [`/s/${serverId}`, '/api/v1/session']) {
      expect(await exchange(`POST ${path} HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n0\r\n\r\n`)).toMatch(
        /^HTTP\/1\.1 400 /,
      )
    }
  })

  it('responds with 413 to a body of 5 MiB, with or without a declared length, and names the limit', async () => {
    const list = statelessRequest('tools/list')
    const headers = { ...POST_HEADERS, ...list.headers, authorization: `Bearer ${token}` }
    const body = JSON.stringify({ ...list.body, padding: 'x'.repeat(TOO_LARGE) })
    for (const path of [`/s/${serverId}`, '/api/v1/toolkits']) {
      for (const sent of [body, new Blob([body]).stream()]) {
        const init = { method: 'POST', headers, body: sent, duplex: 'half' } as const
        const response = await fetch(`${patchbay.origin}${path}`, init)
        expect(response.status).toBe(413)
        expect(await response.text()).toContain('PATCHBAY_MAX_REQUEST_BYTES')
      }
    }
  })

  it('responds with 413 only after reading the whole body, so that the response is not lost with the connection', async () => {
    const body = JSON.stringify({ padding: 'x'.repeat(TOO_LARGE) })
    const fields = `Host: localhost\r\nContent-Type: application/json\r\nAccept: ${POST_HEADERS.accept}\r\nConnection: close`
    for (const path of [`/s/${serverId}`, '/api/v1/toolkits']) {
      const { socket, received, closed } = await openRaw(patchbay.port)
      const credentials = `Authorization: Bearer ${token}\r\nContent-Length: ${body.length}`
      socket.write(`POST ${path} HTTP/1.1\r\n${fields}\r\n${credentials}\r\n\r\n${body.slice(0, -1)}`)
      await vi.waitUntil(() => socket.writableLength === 0)
      expect((await fetch(`${patchbay.origin}/healthz`)).status).toBe(200)
      expect(received()).toBe('')
      socket.write(body.slice(-1))
      await closed
      expect(received()).toMatch(/^HTTP\/1\.1 413 .*PATCHBAY_MAX_REQUEST_BYTES/s)
    }
  })

  it('is healthy after invalid requests', async () => {
    expect((await fetch(`${patchbay.origin}/readyz`)).status).toBe(200)
    expect(await patchbay.stop()).toMatchObject({ code: 0, stderr: '' })
  })
})
