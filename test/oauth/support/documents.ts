import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { LookupFunction } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { portOf } from '../../mcp/wire.ts'

const pem = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../support/tls', `${name}.pem`), 'utf8')

/** The host name in the test certificate. */
const HOST = 'api.test'

export type DocumentAnswer = { status?: number; headers?: Record<string, string>; body?: unknown } | 'never'

export type DocumentHost = {
  /** `https://api.test:PORT`. */
  origin: string
  port: number
  /** Requested paths, in order. */
  asked: string[]
  connections: () => number
  /** Serves a document at a path. `answer` receives the document's URL, which is also returned. */
  put: (path: string, answer: (url: string) => DocumentAnswer) => string
  close: () => Promise<void>
}

/** Resolves every name to this machine. */
export const lookupLoopback: LookupFunction = (_hostname, options, callback) => {
  if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }])
  else callback(null, '127.0.0.1', 4)
}

/** Starts a host of client metadata documents on loopback, over TLS that this process trusts until it is closed. */
export const startDocumentHost = async (): Promise<DocumentHost> => {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, pem('self-signed')])
  const answers = new Map<string, (url: string) => DocumentAnswer>()
  const asked: string[] = []
  const sockets = new Set<Duplex>()
  let connections = 0
  const server: Server = createServer({ key: pem('key'), cert: pem('self-signed') }, (request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const answer = answers.get(path)?.(`${origin}${path}`) ?? { status: 404 }
    if (answer === 'never') return
    const body = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? {})
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers }).end(body)
  })
  server.on('connection', socket => {
    connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const port = portOf(server)
  const origin = `https://${HOST}:${port}`
  return {
    origin,
    port,
    asked,
    connections: () => connections,
    put: (path, answer) => {
      answers.set(path, answer)
      return `${origin}${path}`
    },
    close: async () => {
      setDefaultCACertificates(before)
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
