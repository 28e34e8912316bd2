import { z } from 'zod'
import type { ApiClient } from '../../support/api-client.ts'

const Entry = z.object({
  id: z.uuid(),
  at: z.iso.datetime(),
  action: z.string(),
  actor: z.object({ id: z.string().nullable(), email: z.string().nullable() }).nullable(),
  target: z.object({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() }),
  address: z.string().nullable(),
  change: z.json(),
  organizationId: z.string().nullable(),
})
export type Entry = z.infer<typeof Entry>
const Page = z.object({ items: z.array(Entry), nextCursor: z.string().nullable() })

/** Returns a page of a log from the API. */
export const readPage = async (api: ApiClient, path: string): Promise<z.infer<typeof Page>> =>
  Page.parse((await api.expectOk('GET', path)).body)

/** Returns the log entries of these actions, newest first. */
export const readEntries = async (api: ApiClient, path: string, query = ''): Promise<Entry[]> =>
  (await readPage(api, `${path}?limit=200${query}`)).items

/** Downloads the log as a file. */
export const download = (api: ApiClient, path: string, signal?: AbortSignal): Promise<Response> =>
  fetch(`${api.origin}/api/v1${path}`, {
    headers: { authorization: `Bearer ${api.token}` },
    ...(signal !== undefined && { signal }),
  })

/** Parses each line of a downloaded log. */
export const linesOf = (text: string): Entry[] =>
  text
    .split('\n')
    .filter(line => line !== '')
    .map(line => Entry.parse(JSON.parse(line)))
