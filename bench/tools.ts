/** The 20 tools that every target of the benchmark serves, and the requests that the load sends. */

type Property = { type: 'string' | 'integer' | 'boolean'; description: string }
export type BenchTool = {
  name: string
  description: string
  properties: Record<string, Property>
  required: string[]
  /** Path and query, as a Patchbay template. */
  template: string
}

const FILLERS = 17
const text = (description: string): Property => ({ type: 'string', description })

const filler = (index: number): BenchTool => ({
  name: `filler_${index}`,
  description: `Filler tool number ${index}: stands for an ordinary API operation with a handful of parameters.`,
  properties: {
    id: text('Record id'),
    filter: text('Filter expression'),
    page: { type: 'integer', description: 'Page number' },
    expand: { type: 'boolean', description: 'Include related records' },
  },
  required: ['id'],
  template: `/filler_${index}/{{id}}?filter={{filter?}}&page={{integer:page?}}&expand={{boolean:expand?}}`,
})

export const TOOLS: readonly BenchTool[] = [
  {
    name: 'get_user',
    description: 'Returns one user record by its id.',
    properties: { id: text('The id of the user') },
    required: ['id'],
    template: '/users/{{id}}',
  },
  {
    name: 'search',
    description: 'Searches items and returns the matching records.',
    properties: { q: text('Search words') },
    required: ['q'],
    template: '/search?q={{q}}',
  },
  { name: 'big', description: 'Returns every record.', properties: {}, required: [], template: '/big' },
  ...Array.from({ length: FILLERS }, (_, index) => filler(index)),
]

/** Returns the tool list of the floor and of the SDK server. */
export const toListedTools = (tools: readonly BenchTool[], prefix = '') =>
  tools.map(({ name, description, properties, required }) => ({
    name: `${prefix}${name}`,
    description,
    inputSchema: { type: 'object' as const, properties, required },
  }))

/** Returns the path and query for a call, or undefined for a tool that the floor does not have. */
export const pathOf = (name: unknown, args: Record<string, unknown>): string | undefined => {
  if (name === 'get_user') return `/users/${encodeURIComponent(String(args.id))}`
  if (name === 'search') return `/search?q=${encodeURIComponent(String(args.q))}`
  if (name === 'big') return '/big'
  return undefined
}

/** A request that the load repeats, and what its response must contain. */
export type Work = {
  title: string
  method: 'tools/call' | 'tools/list'
  params: Record<string, unknown>
  /** Must occur in the text of a call's result, or in the list. */
  expected: string
}

export const WORKS = {
  user: {
    title: 'tools/call, 300 bytes',
    method: 'tools/call',
    params: { name: 'get_user', arguments: { id: '42' } },
    expected: 'user42@example.test',
  },
  list: { title: 'tools/list, 20 tools', method: 'tools/list', params: {}, expected: '"filler_16"' },
  search: {
    title: 'tools/call, 50 kB',
    method: 'tools/call',
    params: { name: 'search', arguments: { q: 'abc' } },
    expected: 'SKU-000255',
  },
  big: {
    title: 'tools/call, 2 MB',
    method: 'tools/call',
    params: { name: 'big', arguments: {} },
    expected: 'SKU-009999',
  },
} as const satisfies Record<string, Work>
