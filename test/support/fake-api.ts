import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

export type SeenRequest = { method: string; url: string; headers: IncomingMessage['headers']; body: string }
export type Answerer = (request: SeenRequest, response: ServerResponse, incoming: IncomingMessage) => void

const readBody = async (incoming: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

export const answerJson = (response: ServerResponse, body: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Starts an HTTP API on loopback that stands in for a third-party API, and records its requests. */
export const startFakeApi = async (answer: Answerer) => {
  const seen: SeenRequest[] = []
  const server = createServer(async (incoming, response) => {
    const body = await readBody(incoming).catch(() => '')
    const request = { method: incoming.method ?? '', url: incoming.url ?? '', headers: incoming.headers, body }
    seen.push(request)
    answer(request, response, incoming)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    origin: `http://127.0.0.1:${port}`,
    seen,
    close: async (): Promise<void> => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
export type FakeApi = Awaited<ReturnType<typeof startFakeApi>>

/** Responds with the request that it received. */
export const echo: Answerer = ({ method, url, headers, body }, response) =>
  answerJson(response, { method, url, headers, body })
