/** Generates OpenAPI descriptions of any size from a fixed seed, with operations and schemas like those of public APIs. */
import { createRandom, padded, pick, type Random } from './answers/random.ts'

const NOUNS = ['invoice', 'order', 'member', 'project', 'device', 'ticket', 'report', 'backup', 'coupon', 'webhook']
const PARTS = ['status', 'owner', 'label', 'region', 'amount', 'note', 'source', 'reference', 'version', 'locale']
const WORDS = (
  'the of a is for and in to with account record value date customer workspace response request returned only if ' +
  'when default maximum number identifier created changed deleted active listed by its this each optional'
).split(' ')

/** Operations of one resource. */
const OPERATIONS_PER_RESOURCE = 5
const RESOURCES_PER_TAG = 4
const SCHEMA_FIELDS = 30
const INPUT_FIELDS = 16

const sentence = (random: Random, words: number): string => {
  const text = Array.from({ length: words }, () => pick(random, WORDS)).join(' ')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: object) => ({ content: { 'application/json': { schema } } })

/** Returns the schema of one field. One in five has a format, one an enum, and one is a list. */
const fieldOf = (random: Random, index: number): object => {
  const description = sentence(random, 6 + random(10))
  const kinds = [
    { type: 'string', maxLength: 200 },
    { type: 'string', enum: ['draft', 'open', 'closed'] },
    { type: 'integer', minimum: 0 },
    { type: 'string', format: 'date-time' },
    { type: 'array', items: { type: 'string' }, maxItems: 50 },
  ]
  return { ...kinds[index % kinds.length], description }
}

const fieldsOf = (random: Random, count: number): Record<string, object> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`${pick(random, PARTS)}_${padded(index, 2)}`, fieldOf(random, index)]),
  )

const schemasOf = (random: Random, name: string): Record<string, object> => {
  const fields = fieldsOf(random, SCHEMA_FIELDS)
  const input = fieldsOf(random, INPUT_FIELDS)
  return {
    [name]: {
      type: 'object',
      description: sentence(random, 12),
      properties: { id: { type: 'string' }, ...fields, address: ref('Address') },
      required: ['id', ...Object.keys(fields).slice(0, 4)],
    },
    [`${name}Input`]: {
      type: 'object',
      properties: { ...input, address: ref('Address') },
      required: Object.keys(input).slice(0, 3),
    },
  }
}

/** Returns the parameters that a later revision of the API has in addition. */
const addedBy = (random: Random, revision: number): readonly object[] =>
  Array.from({ length: revision }, (_, index) => ({
    name: `revision_${index + 1}`,
    in: 'query',
    schema: { type: 'boolean' },
    description: sentence(random, 8),
  }))

/** Returns a path of a list and one of its members, with the five usual operations. */
const pathsOf = (random: Random, at: number, name: string, path: string, revision: number): Record<string, object> => {
  const member = {
    name: 'id',
    in: 'path',
    required: true,
    schema: { type: 'string' },
    description: sentence(random, 8),
  }
  const filters = Array.from({ length: 5 }, (_, index) => ({
    name: `${pick(random, PARTS)}_${index}`,
    in: 'query',
    schema: fieldOf(random, index),
    description: sentence(random, 8 + random(10)),
  }))
  const page = [{ $ref: '#/components/parameters/limit' }, { $ref: '#/components/parameters/cursor' }]
  const added = addedBy(random, revision)
  const errors = Object.fromEntries([401, 404, 422].map(status => [status, { $ref: '#/components/responses/Error' }]))
  const operation = (verb: string, parameters: readonly object[], response: object, body?: string) => ({
    operationId: `${verb}_${name}`,
    summary: `${verb} ${name}: ${sentence(random, 5)}`,
    description: `${sentence(random, 24)} ${sentence(random, 40 + random(40))}`,
    tags: [`Part ${padded(Math.floor(at / RESOURCES_PER_TAG), 3)}`],
    parameters: [...parameters, ...added],
    ...(body !== undefined && { requestBody: { required: true, ...json(ref(body)) } }),
    responses: { 200: { description: sentence(random, 6), ...json(response) }, ...errors },
  })
  const list = { type: 'object', properties: { items: { type: 'array', items: ref(name) }, next: { type: 'string' } } }
  return {
    [path]: {
      get: operation('list', [...filters, ...page], list),
      post: operation('create', [], ref(name), `${name}Input`),
    },
    [`${path}/{id}`]: {
      get: operation('get', [member], ref(name)),
      patch: operation('change', [member], ref(name), `${name}Input`),
      delete: operation('delete', [member], ref(name)),
    },
  }
}

const SHARED = {
  parameters: {
    limit: { name: 'limit', in: 'query', description: 'Maximum number of items.', schema: { type: 'integer' } },
    cursor: { name: 'cursor', in: 'query', description: 'Where the page starts.', schema: { type: 'string' } },
  },
  responses: { Error: { description: 'The request failed.', ...json(ref('Problem')) } },
  securitySchemes: { api_token: { type: 'http', scheme: 'bearer' } },
}
const SHARED_SCHEMAS = {
  Address: {
    type: 'object',
    properties: { street: { type: 'string' }, city: { type: 'string' }, country: { type: 'string', maxLength: 2 } },
  },
  Problem: { type: 'object', properties: { code: { type: 'string' }, message: { type: 'string' } } },
}

/**
 * Returns a description of an API as JSON, about 2.7 kB per operation; `operations` is a multiple of 5. Each revision
 * adds a parameter to every operation.
 */
export const generateDescription = (operations: number, revision = 0): Uint8Array<ArrayBuffer> => {
  const paths: Record<string, object> = {}
  const schemas: Record<string, object> = { ...SHARED_SCHEMAS }
  for (let at = 0; at < operations / OPERATIONS_PER_RESOURCE; at++) {
    const random = createRandom(at)
    const name = `${pick(random, NOUNS)}_${padded(at, 4)}`
    Object.assign(schemas, schemasOf(random, name))
    Object.assign(paths, pathsOf(random, at, name, `/v1/${name}s`, revision))
  }
  const description = {
    openapi: '3.1.0',
    info: { title: 'Shop', version: `1.${revision}.0` },
    servers: [{ url: 'https://api.example.com' }],
    security: [{ api_token: [] }],
    paths,
    components: { ...SHARED, schemas },
  }
  return new TextEncoder().encode(JSON.stringify(description))
}
