/**
 * A stateless stdio server that is slow to open streams, the first one most of all, so that several streams opened at
 * once arrive in a different order. Its tool `told` returns how many streams were opened, and how many are open.
 */
import { createInterface } from 'node:readline'

const DELAYS_MS = [400, 50]
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'

type Request = {
  id?: number
  method?: string
  params?: { name?: string; notifications?: { resourceSubscriptions?: string[] }; requestId?: number }
}

const open = new Map<number, readonly string[]>()
let opened = 0

const write = (message: object): void =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const answer = (id: number | undefined, result: object): void =>
  write({ id, result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result } })
const text = (value: unknown) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] })

const listen = (id: number, uris: readonly string[]): void => {
  const delayMs = DELAYS_MS[opened++] ?? 0
  open.set(id, uris)
  setTimeout(() => {
    const params = { notifications: { resourceSubscriptions: uris.filter(uri => uri !== 'late://none') } }
    write({
      method: 'notifications/subscriptions/acknowledged',
      params: { ...params, _meta: { [SUBSCRIPTION]: id } },
    })
  }, delayMs)
}

const touch = (): void => {
  for (const [id, uris] of open) {
    for (const uri of uris) {
      write({ method: 'notifications/resources/updated', params: { uri, _meta: { [SUBSCRIPTION]: id } } })
    }
  }
}

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params }: Request = JSON.parse(line)
  switch (method) {
    case 'server/discover':
      return answer(id, {
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {}, resources: { subscribe: true } },
        serverInfo: { name: 'late', version: '1' },
      })
    case 'tools/list':
      return answer(id, { tools: ['touch', 'told'].map(name => ({ name, inputSchema: { type: 'object' } })) })
    case 'resources/list':
      return answer(id, { resources: ['one', 'two', 'none'].map(name => ({ name, uri: `late://${name}` })) })
    case 'resources/templates/list':
      return answer(id, { resourceTemplates: [] })
    case 'tools/call':
      if (params?.name === 'touch') touch()
      return answer(id, text({ opened, open: open.size }))
    case 'subscriptions/listen':
      if (id !== undefined) listen(id, params?.notifications?.resourceSubscriptions ?? [])
      return
    case 'notifications/cancelled':
      if (params?.requestId !== undefined) open.delete(params.requestId)
      return
    default:
      if (id !== undefined) write({ id, error: { code: -32_601, message: 'Method not found' } })
  }
})
