/**
 * A stdio server built with the older generation of the SDK. During calls it sends progress, log messages, resource
 * updates and requests to its client. It also offers completions. Its tools return the other messages that it received.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListRootsResultSchema,
  ListToolsRequestSchema,
  RootsListChangedNotificationSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/sdk/types.js'

const NAMES = [
  'count',
  'say',
  'late',
  'wait',
  'told',
  'touch',
  'ask',
  'pester',
  'sample',
  'roots',
  'go',
  'meta',
  'die',
] as const
const CAPABILITIES = {
  tools: {},
  logging: {},
  prompts: {},
  completions: {},
  resources: { subscribe: true },
}

const server = new Server({ name: 'talks', version: '1' }, { capabilities: CAPABILITIES })
const subscribed = new Set<string>()
const told: string[] = []

const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] })
const FORM = { type: 'object' as const, properties: { name: { type: 'string' as const } } }

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: NAMES.map(name => ({ name, inputSchema: { type: 'object' as const } })),
}))
server.setRequestHandler(SetLevelRequestSchema, ({ params }) => {
  told.push(`level ${params.level}`)
  return {}
})
server.setRequestHandler(ListPromptsRequestSchema, () => ({
  prompts: [{ name: 'greet', arguments: [{ name: 'whom' }] }],
}))
server.setRequestHandler(ListResourcesRequestSchema, () => ({
  resources: ['one', 'two'].map(name => ({ name, uri: `talks://${name}` })),
}))
server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
  resourceTemplates: [{ name: 'any', uriTemplate: 'talks://any/{id}' }],
}))
server.setRequestHandler(CompleteRequestSchema, ({ params: { ref, argument, context } }) => ({
  completion: {
    values: [`${ref.type}:${argument.name}=${argument.value}`, ...Object.values(context?.arguments ?? {})],
    total: 7,
    hasMore: true,
  },
}))
server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
  if (uri === 'talks://any/never') throw new Error('never')
  subscribed.add(uri)
  return {}
})
server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
  subscribed.delete(uri)
  return {}
})
server.setNotificationHandler(RootsListChangedNotificationSchema, () => {
  told.push('roots changed')
})

server.setRequestHandler(
  CallToolRequestSchema,
  async ({ params }, { signal, sendNotification, sendRequest, _meta }) => {
    const args = params.arguments ?? {}
    switch (params.name) {
      case 'count':
        for (let progress = 1; progress <= 3; progress++) {
          if (_meta?.progressToken === undefined) break
          const step = { progressToken: _meta.progressToken, progress, total: 3, message: `step ${progress}` }
          await sendNotification({ method: 'notifications/progress', params: step })
          // When a response arrives, clients of the older SDK generation remove the call's handlers and lose messages
          // that arrived just before.
          await wait(progress === 3 ? 150 : 10)
        }
        return text('counted')
      case 'say':
        for (const level of ['debug', 'warning', 'error'] as const) {
          await sendNotification({ method: 'notifications/message', params: { level, logger: 'talks', data: args } })
        }
        return text('said')
      case 'late':
        // Sends the message after the result of the call.
        setTimeout(() => void server.sendLoggingMessage({ level: 'error', data: args }), 100)
        return text('later')
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
        for (const uri of subscribed) {
          await sendNotification({ method: 'notifications/resources/updated', params: { uri } })
        }
        return text([...subscribed])
      case 'ask': {
        const asked = { message: 'Who are you?', requestedSchema: FORM, ...args }
        return text(await sendRequest({ method: 'elicitation/create', params: asked }, ElicitResultSchema))
      }
      case 'pester': {
        const params = { message: 'And now?', requestedSchema: FORM }
        const asked = Array.from({ length: 30 }, () =>
          sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema).then(
            () => 'answered',
            (error: unknown) => String(error),
          ),
        )
        return text(await Promise.all(asked))
      }
      case 'go':
        if (told.includes('sent')) return text('went')
        told.push('sent')
        throw new UrlElicitationRequiredError(
          [{ mode: 'url', elicitationId: 'e1', url: 'https://example.com/go', message: 'Go there first' }],
          'Go there first',
        )
      case 'sample': {
        const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Say hello' } }]
        const asked = { messages, maxTokens: 10 }
        return text(await sendRequest({ method: 'sampling/createMessage', params: asked }, CreateMessageResultSchema))
      }
      case 'roots':
        return text(await sendRequest({ method: 'roots/list' }, ListRootsResultSchema))
      case 'meta':
        return text(_meta)
      case 'die':
        process.exit(7)
        break
      default:
        return text({ pid: process.pid, told, subscribed: [...subscribed], offered: server.getClientCapabilities() })
    }
  },
)

await server.connect(new StdioServerTransport())
