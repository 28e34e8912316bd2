/** A stdio server with many items, which always have the same names. Its first argument identifies the server. */
import { createInterface } from 'node:readline'

const who = process.argv[2] ?? ''
const tools = Array.from({ length: 1_000 }, (_, index) => ({
  name: `tool_${index}`,
  title: `Tool ${index}`,
  description: `Does the thing number ${index}, as described at length in the manual of all things.`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  annotations: { readOnlyHint: true, 'x-own': index },
  _meta: { 'example.com/own': index },
}))
const resources = [
  ...Array.from({ length: 450 }, (_, index) => ({
    uri: `${who}:///${String(index).padStart(3, '0')}`,
    name: `own ${index}`,
    size: index,
  })),
  {
    uri: 'file:///shared',
    name: 'shared',
    mimeType: 'text/plain',
    size: 12,
    annotations: { audience: ['user'], priority: 0.5 },
  },
]
const resourceTemplates = [{ uriTemplate: 'file:///made/{id}', name: 'made', mimeType: 'text/plain' }]
const prompts = [{ name: 'ask', arguments: [{ name: 'topic', required: true }] }]

const contentsOf = (uri: string) => [
  { uri, mimeType: 'text/plain', text: `${uri} of ${who}` },
  { uri: `${uri}#image`, mimeType: 'image/png', blob: 'AAAA' },
]
const RESULTS: Readonly<Record<string, (params: Record<string, unknown>) => object>> = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {}, resources: {}, prompts: {} },
    serverInfo: { name: 'large', version: '1' },
    instructions: `Everything that ${who} knows.`,
  }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name, arguments: given }) => ({
    content: [{ type: 'text', text: `${String(name)} of ${who}: ${JSON.stringify(given)}` }],
    structuredContent: { given },
    _meta: { 'example.com/own': who },
  }),
  'resources/list': () => ({ resources }),
  'resources/templates/list': () => ({ resourceTemplates }),
  'resources/read': ({ uri }) => ({ contents: contentsOf(String(uri)) }),
  'prompts/list': () => ({ prompts }),
  'prompts/get': ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `${String(name)} of ${who}` } }],
  }),
}

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const result = RESULTS[method]?.(params ?? {})
  const outcome = result === undefined ? { error: { code: -32_601, message: 'Unknown' } } : { result }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`)
})
