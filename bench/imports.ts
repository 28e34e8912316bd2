/** Imports descriptions through the management API, and measures how long it takes. */
import { z } from 'zod'
import type { Patchbay, Send } from './patchbay.ts'

const POLL_MS = 20
/** Longer than Patchbay lets a job take. */
const MAX_MS = 200_000
const SECRET = 'only-for-a-benchmark-on-loopback'

const WithId = z.object({ id: z.string() })
const Cards = z.object({
  items: z.array(z.object({ id: z.string(), state: z.string(), problem: z.string().nullable(), read: z.int() })),
})
const Totals = z.object({ totals: z.object({ tools: z.int(), refused: z.int() }) })
const Report = z.object({
  created: z.array(z.unknown()),
  updated: z.array(z.unknown()),
  server: WithId.extend({ tools: z.int() }).nullable(),
})

export const createToolkit = async (send: Send): Promise<string> =>
  WithId.parse(await send('POST', '/toolkits', { title: 'Shop' })).id

export type Preview = {
  id: string
  /** Since the upload began. */
  firstRowsMs: number
  readyMs: number
  /** Peak of the processes that read the description. */
  jobBytes: number
}

/** Uploads a description with this number of operations, and waits until all can be reviewed. */
export const preview = async (
  { child }: Pick<Patchbay, 'child'>,
  send: Send,
  toolkitId: string,
  description: { bytes: Uint8Array<ArrayBuffer>; operations: number },
): Promise<Preview> => {
  const form = new FormData()
  form.append('files', new Blob([description.bytes]), 'openapi.json')
  const endWatch = child.watchDescendants()
  try {
    const from = performance.now()
    const { id } = WithId.parse(await send('POST', `/toolkits/${toolkitId}/imports`, form))
    let firstRowsMs = Number.NaN
    for (;;) {
      // Unlike the import itself, the list of imports adds up nothing, so asking often costs little.
      const { items } = Cards.parse(await send('GET', `/toolkits/${toolkitId}/imports`))
      const now = performance.now() - from
      const card = items.find(item => item.id === id)
      if (Number.isNaN(firstRowsMs) && card !== undefined && card.read > 0) firstRowsMs = now
      if (card?.state === 'ready') {
        const { totals } = Totals.parse(await send('GET', `/imports/${id}`))
        if (totals.tools === description.operations) return { id, firstRowsMs, readyMs: now, jobBytes: endWatch() }
        throw new Error(`only ${totals.tools} of ${description.operations} operations became tools`)
      }
      if (card?.state !== 'reading') throw new Error(`the import has failed: ${card?.problem}`)
      if (now > MAX_MS) throw new Error(`the import is not ready after ${MAX_MS} ms`)
      await new Promise(resolve => setTimeout(resolve, POLL_MS))
    }
  } finally {
    endWatch()
  }
}

/** Selects all operations for a server, by default a new one, and returns how long it takes to save the tools. */
export const apply = async (
  send: Send,
  { id }: Pick<Preview, 'id'>,
  operations: number,
  server: string | { newName: string } = { newName: 'Shop' },
): Promise<{ ms: number; serverId: string }> => {
  const settings = { server, secrets: { api_token: SECRET } }
  await send('PATCH', `/imports/${id}`, { select: { filter: { usable: true } }, settings })
  const from = performance.now()
  const report = Report.parse(await send('POST', `/imports/${id}/apply`))
  const ms = performance.now() - from
  const saved = report.created.length + report.updated.length
  if (saved === operations && report.server !== null) return { ms, serverId: report.server.id }
  throw new Error(`the import saved ${saved} of ${operations} tools`)
}
