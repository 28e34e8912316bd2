import { expect, vi } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../../../src/lib/kernel/json.ts'
import { type ApiClient, WithId } from '../../support/api-client.ts'

const WAIT = { timeout: 60_000, interval: 50 }

export const Review = z.looseObject({
  id: z.string(),
  state: z.string(),
  problem: z.string().nullable(),
  needs: z.array(z.string()),
  totals: z.object({
    tools: z.int(),
    refused: z.int(),
    selected: z.int(),
    tokens: z.int(),
    selectedTokens: z.int(),
  }),
  summary: z.looseObject({ notes: z.array(z.string()) }).nullable(),
})
export type Review = z.infer<typeof Review>

const Item = z.looseObject({
  key: z.string(),
  name: z.string().nullable(),
  reason: z.string().nullable(),
  tokens: z.int().nullable(),
  selected: z.boolean(),
})
const ItemPage = z.object({ items: z.array(Item), nextCursor: z.string().nullable() })

export const getReview = async (api: ApiClient, id: string): Promise<Review> =>
  Review.parse((await api.expectOk('GET', `/imports/${id}`)).body)

/** Waits until the source of an import has been read, or could not be. */
export const finished = async (api: ApiClient, id: string): Promise<Review> => {
  await vi.waitFor(async () => expect((await getReview(api, id)).state).not.toBe('reading'), WAIT)
  return getReview(api, id)
}

/** Imports a source into a toolkit, and waits until it has been read. */
export const review = async (api: ApiClient, toolkitId: string, source: JsonObject): Promise<Review> => {
  const started = await api.send('POST', `/toolkits/${toolkitId}/imports`, source)
  expect(started).toMatchObject({ status: 202, body: { state: 'reading' } })
  return finished(api, WithId.parse(started.body).id)
}

/** Like `review`, with files in a form. */
export const reviewFiles = async (
  api: ApiClient,
  toolkitId: string,
  files: readonly (readonly [name: string, content: string | Uint8Array<ArrayBuffer>])[],
  kind?: string,
): Promise<Review> => {
  const form = new FormData()
  if (kind !== undefined) form.append('kind', kind)
  for (const [name, content] of files) form.append('files', new Blob([content]), name)
  const response = await fetch(`${api.origin}/api/v1/toolkits/${toolkitId}/imports`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api.token}` },
    body: form,
  })
  const body: unknown = await response.json()
  expect({ status: response.status, body }).toMatchObject({ status: 202 })
  return finished(api, WithId.parse(body).id)
}

/** Returns one page of operations. */
export const pageOfItems = async (api: ApiClient, id: string, query = '') =>
  ItemPage.parse((await api.expectOk('GET', `/imports/${id}/items${query}`)).body)

export const namesOf = async (api: ApiClient, id: string, query = ''): Promise<(string | null)[]> =>
  (await pageOfItems(api, id, query)).items.map(({ name }) => name)

export const newToolkit = async (api: ApiClient, organizationId?: string): Promise<string> =>
  (await api.create('/toolkits', { title: 'Imported', ...(organizationId !== undefined && { organizationId }) })).id
