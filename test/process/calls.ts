import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { POST_HEADERS, statelessRequest } from '../mcp/wire.ts'
import { makeServer, signUp } from '../support/api-client.ts'
import { type Answerer, answerJson, type FakeApi, startFakeApi } from '../support/fake-api.ts'
import type { Patchbay } from '../support/process.ts'

export type CallAnswer = { status: number; headers: Headers; text: string }

/** Calls a tool as a stateless client does, over connections that are kept open. */
export const callTool = async (
  url: string,
  name: string,
  args: JsonObject = {},
  headers: Record<string, string> = {},
): Promise<CallAnswer> => {
  const request = statelessRequest('tools/call', { name, arguments: args })
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...POST_HEADERS, ...request.headers, ...headers },
    body: JSON.stringify(request.body),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

export type HeldApi = Pick<FakeApi, 'origin' | 'seen'> & {
  /** Resolves once this many requests are waiting for a response. */
  waiting: (count: number) => Promise<void>
  /** Responds to all waiting requests, and from then on to every request immediately. */
  release: () => void
}

/** Starts an API that does not respond until the test releases it. */
export const startHeldApi = async (): Promise<HeldApi> => {
  const held: (() => void)[] = []
  let onWaiting = (): void => undefined
  let isReleased = false
  const answer: Answerer = (_request, response) => {
    const reply = (): void => answerJson(response, { answered: true })
    if (isReleased) reply()
    else held.push(reply)
    onWaiting()
  }
  const api = await startFakeApi(answer)
  onTestFinished(api.close)
  return {
    origin: api.origin,
    seen: api.seen,
    waiting: count =>
      new Promise(resolve => {
        onWaiting = () => {
          if (held.length >= count) resolve()
        }
        onWaiting()
      }),
    release: () => {
      isReleased = true
      for (const reply of held.splice(0)) reply()
    },
  }
}

/** Creates a public server with one tool, `get_thing`, which calls this API. */
export const serveApi = async (patchbay: Patchbay, api: Pick<FakeApi, 'origin'>) => {
  const builder = await signUp(patchbay.origin)
  const made = await makeServer(builder, [{ name: 'get_thing', method: 'GET', url: `${api.origin}/thing` }])
  return { ...made, builder }
}

export type RawConnection = { socket: Socket; received: () => string; closed: Promise<void> }

/** Opens a connection on which the test writes raw bytes. */
export const openRaw = (port: number): Promise<RawConnection> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
    })
    const closed = new Promise<void>(done => {
      socket.once('close', () => done())
    })
    socket.once('connect', () => resolve({ socket, received: () => text, closed }))
    socket.on('error', reject)
  })
