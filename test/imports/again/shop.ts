import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { JsonObject } from '../../../src/lib/kernel/json.ts'
import type { ApiClient } from '../../support/api-client.ts'
import { startFakeApi } from '../../support/fake-api.ts'
import { descriptionOf } from '../reading.ts'
import { newToolkit, review } from '../reviews/reviewing.ts'

type Operation = { summary?: string; parameters?: JsonObject[]; operationId?: string | undefined }

const query = (name: string, more: JsonObject = {}) => ({ name, in: 'query', schema: { type: 'integer', ...more } })
export const LIMIT = query('limit', { maximum: 100 })
export const AFTER = query('after')

/** Returns the description of a shop, with some of its operations changed, or left out where they are undefined. */
export const shopOf = (changes: Readonly<Record<string, Operation | undefined>> = {}, title = 'Shop') => {
  const operations: Record<string, Operation | undefined> = {
    '/orders': { operationId: 'listOrders', summary: 'List orders', parameters: [LIMIT] },
    '/orders/{id}': { operationId: 'getOrder', summary: 'Get an order', parameters: [] },
    '/health': { operationId: 'getHealth', summary: 'Get the health' },
    ...changes,
  }
  const paths = Object.entries(operations).flatMap(([path, operation]) => {
    if (operation === undefined) return []
    const { parameters = [], ...rest } = operation
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    }))
    return [[path, { get: { responses: {}, ...rest, parameters: [...inPath, ...parameters] } }]]
  })
  return { ...descriptionOf({ paths: Object.fromEntries(paths) }), info: { title, version: '1' } }
}

/** Serves a document with an ETag. Counts the requests that were answered with it, and those with 304. */
export const startSource = async (first: unknown) => {
  let text = JSON.stringify(first)
  let status = 200
  const counts = { sent: 0, unchanged: 0 }
  const api = await startFakeApi(({ headers }, response) => {
    const etag = `"${createHash('sha256').update(text).digest('hex')}"`
    if (status !== 200) response.writeHead(status).end('no')
    else if (headers['if-none-match'] === etag) {
      counts.unchanged++
      response.writeHead(304, { etag }).end()
    } else {
      counts.sent++
      response.writeHead(200, { etag, 'content-type': 'application/json' }).end(text)
    }
  })
  return {
    url: `${api.origin}/openapi.json`,
    counts,
    put: (next: unknown): void => {
      text = JSON.stringify(next)
    },
    fail: (code: number): void => {
      status = code
    },
    close: api.close,
  }
}

const Report = z.looseObject({
  created: z.array(z.looseObject({ id: z.string(), name: z.string(), key: z.string() })),
  updated: z.array(z.looseObject({ id: z.string(), name: z.string() })),
  unchanged: z.int(),
})

export const apply = async (api: ApiClient, id: string) =>
  Report.parse((await api.expectOk('POST', `/imports/${id}/apply`)).body)

/** Imports a source into a new toolkit. Returns the toolkit, and the IDs of its tools by name. */
export const importNew = async (api: ApiClient, source: JsonObject) => {
  const toolkitId = await newToolkit(api)
  const { id } = await review(api, toolkitId, source)
  const { created } = await apply(api, id)
  return { toolkitId, tools: Object.fromEntries(created.map(tool => [tool.name, tool.id])) }
}

const Changes = z.object({
  items: z.array(
    z.looseObject({
      key: z.string(),
      name: z.string(),
      state: z.string(),
      impact: z.string(),
      selected: z.boolean(),
      breaking: z.array(z.looseObject({ message: z.string() })),
      pieces: z.array(z.looseObject({ piece: z.string(), change: z.string() })),
      servers: z.array(z.looseObject({ name: z.string() })),
    }),
  ),
})

export const changesOf = async (api: ApiClient, id: string, query = '') =>
  Changes.parse((await api.expectOk('GET', `/imports/${id}/changes${query}`)).body).items

/** Imports a source again, and returns the import with its changes. */
export const importAgain = async (api: ApiClient, toolkitId: string, source: JsonObject) => {
  const { id, state } = await review(api, toolkitId, source)
  return { id, state, changes: await changesOf(api, id) }
}
