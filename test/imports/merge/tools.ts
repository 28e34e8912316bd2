import fc from 'fast-check'
import type { ToolDefinition } from '../../../src/tools/tool.ts'

export const toolOf = (changes: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name: 'list_orders',
  description: 'Lists orders.',
  method: 'GET',
  url: '{{url:base_url}}/orders?limit={{integer:limit?}}&after={{after?}}',
  headers: [{ name: 'Accept', value: 'application/json' }],
  parameters: {
    base_url: { binding: { source: 'server', key: 'base_url', secret: false } },
    limit: { description: 'How many', maximum: 100 },
    after: { description: 'A cursor' },
  },
  ...changes,
})

const NAMES = ['a', 'b', 'c', 'd'] as const
const TYPES = ['', 'integer:', 'json:', 'boolean:'] as const

/** A placeholder: different types under the same name would be invalid, so each place has names of its own. */
const placeholder = (name: string) => fc.constantFrom(...TYPES).map(type => `{{${type}${name}}}`)

const subsetOf = (prefix: string) => fc.subarray([...NAMES]).map(names => names.map(name => prefix + name))

const pairsOf = (prefix: string) =>
  subsetOf(prefix).chain(names =>
    fc.tuple(
      ...names.map(name => fc.oneof(placeholder(name), fc.constantFrom('1', 'x%20y')).map(text => `${name}=${text}`)),
    ),
  )

const headers = subsetOf('X-').chain(names =>
  fc.tuple(...names.map(name => fc.constantFrom('1', `{{h_${name}}}`, 'a b').map(value => ({ name, value })))),
)

const jsonBody = subsetOf('m_').chain(names =>
  fc
    .tuple(...names.map(name => fc.oneof(placeholder(name), fc.constantFrom('1', '"x"', '{"y": [1]}'))))
    .map(values => `{${names.map((name, index) => `"${name}": ${values[index]}`).join(', ')}}`),
)

const bodies = fc.oneof(
  fc.constant({ type: 'text/plain', body: undefined }),
  jsonBody.map(body => ({ type: 'application/json', body })),
  pairsOf('f_').map(pairs => ({ type: 'application/x-www-form-urlencoded', body: pairs.join('&') || undefined })),
  fc.constantFrom('Hello {{name}}', 'Hi').map(body => ({ type: 'text/plain', body })),
)

const meta = fc.constantFrom(
  { description: 'One' },
  { description: 'Two', example: 1 },
  { description: 'Three', example: 'x' },
)

/** Tools that have some of the same pieces. The metadata is that of their parameters. */
export const anyTool: fc.Arbitrary<ToolDefinition> = fc
  .record({
    name: fc.constantFrom('list', 'find'),
    title: fc.constantFrom(undefined, 'Orders'),
    description: fc.constantFrom('Lists.', 'Finds.'),
    method: fc.constantFrom('GET', 'POST'),
    path: fc.constantFrom('https://a.example/x', 'https://a.example/y/{{id}}'),
    query: pairsOf('q_'),
    headers,
    body: bodies,
    readOnlyHint: fc.constantFrom(undefined, true, false),
    metas: fc.array(meta, { minLength: 20, maxLength: 20 }),
  })
  .map(({ path, query, headers: given, body: { type, body }, readOnlyHint, metas, title, ...rest }) => {
    const url = path + (query.length > 0 ? `?${query.join('&')}` : '')
    const texts = [url, ...given.map(({ value }) => value), body ?? '']
    const names = [
      ...new Set(
        texts.flatMap(text => [...text.matchAll(/\{\{(?:\w+:)?(\w[\w-]*)\}\}/g)].map(([, name = '']) => name)),
      ),
    ]
    return {
      ...rest,
      ...(title !== undefined && { title }),
      url,
      headers: [...given, { name: 'Content-Type', value: type }],
      ...(body !== undefined && { body }),
      parameters: Object.fromEntries(names.map((name, index) => [name, metas[index % metas.length] ?? {}])),
      ...(readOnlyHint !== undefined && { annotations: { readOnlyHint } }),
    }
  })
