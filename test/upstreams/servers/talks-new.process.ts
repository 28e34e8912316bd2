/**
 * A stdio server built with the newest SDK. During calls it sends messages as `talks-old` does, in the stateless era.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { inputRequired, Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const NAMES = ['count', 'say', 'wait', 'told', 'touch', 'ask', 'sample', 'roots', 'meta', 'unoffered', 'die'] as const

const told: string[] = []
const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] })
const KEPT = { ttlMs: 0, cacheScope: 'private' as const }
const FORM = { type: 'object' as const, properties: { name: { type: 'string' as const } } }
const REQUESTS = {
  ask: () => inputRequired.elicit({ message: 'Who are you?', requestedSchema: FORM }),
  sample: () =>
    inputRequired.createMessage({
      messages: [{ role: 'user', content: { type: 'text', text: 'Say hello' } }],
      maxTokens: 10,
    }),
  roots: () => inputRequired.listRoots(),
} as const

serveStdio(() => {
  const capabilities = { tools: {}, logging: {}, prompts: {}, completions: {}, resources: { subscribe: true } }
  const server = new Server({ name: 'talks', version: '2' }, { capabilities })
  server.setRequestHandler('tools/list', () => ({
    ...KEPT,
    tools: NAMES.map(name => ({ name, inputSchema: { type: 'object' as const } })),
  }))
  server.setRequestHandler('prompts/list', () => ({
    ...KEPT,
    prompts: [{ name: 'greet', arguments: [{ name: 'whom' }] }],
  }))
  server.setRequestHandler('resources/list', () => ({
    ...KEPT,
    resources: ['one', 'two'].map(name => ({ name, uri: `talks://${name}` })),
  }))
  server.setRequestHandler('resources/templates/list', () => ({
    ...KEPT,
    resourceTemplates: [{ name: 'any', uriTemplate: 'talks://any/{id}' }],
  }))
  server.setRequestHandler('completion/complete', ({ params: { ref, argument, context } }) => ({
    completion: {
      values: [`${ref.type}:${argument.name}=${argument.value}`, ...Object.values(context?.arguments ?? {})],
      total: 7,
      hasMore: true,
    },
  }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const { _meta, signal, notify, inputResponses, requestState } = mcpReq
    switch (params.name) {
      case 'count':
        for (let progress = 1; progress <= 3; progress++) {
          if (_meta?.progressToken === undefined) break
          const step = { progressToken: _meta.progressToken, progress, total: 3, message: `step ${progress}` }
          await notify({ method: 'notifications/progress', params: step })
          // For the reason, see `talks-old`.
          await wait(progress === 3 ? 150 : 10)
        }
        return text('counted')
      case 'say':
        for (const level of ['debug', 'warning', 'error'] as const) await mcpReq.log(level, params.arguments, 'talks')
        return text('said')
      case 'wait':
        told.push('waiting')
        await new Promise<void>(resolve => {
          signal.addEventListener('abort', () => {
            told.push('cancelled')
            resolve()
          })
        })
        return text('over')
      case 'touch':
        for (const uri of ['talks://one', 'talks://two', 'talks://any/1/part'])
          await server.sendResourceUpdated({ uri })
        return text('touched')
      case 'ask':
      case 'sample':
      case 'roots': {
        const answered = inputResponses?.it
        if (answered !== undefined) return text({ answered, state: requestState() })
        return inputRequired({ inputRequests: { it: REQUESTS[params.name]() }, requestState: 'the state' })
      }
      case 'meta':
        return text(_meta)
      case 'unoffered':
        return inputRequired({ inputRequests: { it: REQUESTS.sample() } })
      case 'die':
        return process.exit(7)
      default:
        return text({ pid: process.pid, told })
    }
  })
  return server
})
