/** A stdio server with invalid lists, which its first argument selects. */
import { createInterface } from 'node:readline'

const inputSchema = { type: 'object' }
const deep = (levels: number): object => (levels === 0 ? {} : { items: deep(levels - 1) })

const TOOLS: Readonly<Record<string, readonly unknown[]>> = {
  names: [
    { name: 'plain', inputSchema },
    { name: 'with spaces', inputSchema },
    { name: `${'long'.repeat(75)}`, inputSchema },
    { name: 'plain', description: 'again', inputSchema },
    { name: 'hid\u200bden', description: 'Adds.\u202e\u0007 And \u{e0041}more.\nA line.', inputSchema },
    { name: 'schema', inputSchema: { type: 'object', description: 'in \u2066here', additionalProperties: false } },
    { name: '', inputSchema },
    { name: 'array', inputSchema: { type: 'array' } },
    { name: 'deep', inputSchema: { type: 'object', ...deep(100) } },
    { name: 'large', inputSchema: { type: 'object', description: 'x'.repeat(1_024 * 1_024) } },
    {
      name: 'whole',
      title: 'Whole',
      inputSchema: { type: 'object', properties: { self: { $ref: '#' } }, 'x-own': [1] },
      outputSchema: { type: 'object', 'x-own': true },
      annotations: { readOnlyHint: true, 'x-own': 'kept' },
      icons: [{ src: 'data:image/png;base64,AAAA' }],
      _meta: { 'example.com/own': { a: 1 } },
      'x-more': 'kept',
    },
  ],
  large: Array.from({ length: 36 }, (_, index) => ({
    name: `tool${index}`,
    inputSchema: { type: 'object', 'x-own': 'x'.repeat(200 * 1_024) },
  })),
  // Items that make some clients reject the whole list.
  misfits: [
    null,
    'sound',
    { name: 'sound', inputSchema: { type: 'object', properties: { any: true, none: false } } },
    { name: 'required', inputSchema: { type: 'object', required: 'all' } },
    { name: 'hints', inputSchema, annotations: { readOnlyHint: 'yes' } },
    { name: 'icons', inputSchema, icons: 'none' },
    { name: 'meta', inputSchema, _meta: 'none' },
    { name: 'lost', inputSchema, outputSchema: { type: 'object', properties: { a: { $ref: '#/$defs/missing' } } } },
    { name: 'pattern', inputSchema, outputSchema: { type: 'object', properties: { a: { pattern: '(' } } } },
    { name: 'kind', inputSchema, outputSchema: { type: 'banana' } },
    { name: 'recursive', inputSchema, outputSchema: { type: 'object', properties: { self: { $ref: '#' } } } },
    { name: 'wide', inputSchema, outputSchema: { type: 'object', description: 'x'.repeat(100_000) } },
  ],
}

const RESOURCES: readonly object[] = [
  { uri: 'odd://sound', name: 'sound' },
  { uri: 'odd://nameless' },
  { uri: 'odd://size', name: 'size', size: 'large' },
]
const TEMPLATES: readonly object[] = [{ uriTemplate: 'odd://{nameless}' }]
const PROMPTS: readonly object[] = [{ name: 'sound' }, { name: 'arguments', arguments: 'none' }]

const contentOf = (name: unknown): object => {
  const block = { type: 'text', text: String(name), annotations: { priority: 1 }, 'x-own': 'kept' }
  return { content: [block], _meta: { 'example.com/own': 1 }, 'x-own': 'kept' }
}

const answer = (id: unknown, result: object): boolean =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  const serverInfo = { name: 'odd', version: '1' }
  const hasAll = process.argv[2] === 'misfits'
  const capabilities = { tools: {}, ...(hasAll && { resources: {}, prompts: {} }) }
  if (method === 'initialize') answer(id, { protocolVersion: '2025-11-25', capabilities, serverInfo })
  else if (hasAll && method === 'resources/list') answer(id, { resources: RESOURCES })
  else if (hasAll && method === 'resources/templates/list') answer(id, { resourceTemplates: TEMPLATES })
  else if (hasAll && method === 'prompts/list') answer(id, { prompts: PROMPTS })
  else if (method === 'tools/list') answer(id, { tools: TOOLS[process.argv[2] ?? 'names'] })
  else if (method === 'tools/call') answer(id, contentOf(params.name))
  else if (id !== undefined) {
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'Unknown' } })}\n`)
  }
})
