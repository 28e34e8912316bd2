import Sqlite from 'better-sqlite3'
import { expect, it, vi } from 'vitest'
import { type ApiClient, createApiClient } from '../support/api-client.ts'
import { createBrowser } from '../support/browser.ts'
import { echo, startFakeApi } from '../support/fake-api.ts'
import { startPatchbay } from '../support/process.ts'
import { callTool, serveApi } from './calls.ts'

vi.setConfig({ testTimeout: 90_000 })

const WRITERS = 5
const CALLERS = 2
const ENOUGH_WRITES = 60
/** Calls that were older than this at the kill must be in the history. Well above the 250 ms that may be lost. */
const SAFE_AGE_MS = 1_000
const ENOUGH_CALLS = 20

/** An acknowledged change: a GET of `path` returns `status` and `body`. */
type Acknowledged = { path: string; status: number; body: object }

/** Keeps making changes until the process ends. Records only acknowledged changes. */
const writeOn = async (api: ApiClient, writer: number, acknowledged: Map<string, Acknowledged>): Promise<void> => {
  const note = (path: string, status: number, body: object): void => {
    acknowledged.set(path, { path, status, body })
  }
  for (let turn = 0; ; turn++) {
    const name = `${writer}-${turn}`
    const toolkit = await api.create('/toolkits', { title: name })
    note(`/toolkits/${toolkit.id}`, 200, { title: name })
    const server = await api.create('/servers', { name })
    note(`/servers/${server.id}`, 200, { name })
    await api.expectOk('PUT', `/servers/${server.id}/globals/key`, { value: name })
    note(`/servers/${server.id}/globals`, 200, { items: [{ key: 'key', value: name }] })
    // Until a change is acknowledged, the old and the new state are both valid.
    acknowledged.delete(`/toolkits/${toolkit.id}`)
    await api.expectOk('PATCH', `/toolkits/${toolkit.id}`, { title: `${name} changed` })
    note(`/toolkits/${toolkit.id}`, 200, { title: `${name} changed` })
    if (turn % 2 === 0) continue
    acknowledged.delete(`/servers/${server.id}`)
    acknowledged.delete(`/servers/${server.id}/globals`)
    await api.expectOk('DELETE', `/servers/${server.id}`)
    note(`/servers/${server.id}`, 404, {})
  }
}

const callOn = async (url: string, answeredAt: number[]): Promise<void> => {
  for (;;) {
    const { status } = await callTool(url, 'get_thing')
    if (status === 200) answeredAt.push(performance.now())
  }
}

it('Patchbay killed during writes and calls has everything that it acknowledged after a restart, undamaged', async () => {
  const patchbay = await startPatchbay()
  const fake = await startFakeApi(echo)
  const { url, builder } = await serveApi(patchbay, fake)
  const browser = createBrowser(patchbay.origin)
  expect((await browser.signUp('cyd@example.com', 'correct horse battery')).status).toBe(201)
  const acknowledged = new Map<string, Acknowledged>()
  const answeredAt: number[] = []
  const clients = [
    ...Array.from({ length: WRITERS }, (_, writer) => writeOn(builder, writer, acknowledged)),
    ...Array.from({ length: CALLERS }, () => callOn(url, answeredAt)),
  ]
  const ended = Promise.allSettled(clients)
  const safeCalls = (): number => answeredAt.filter(at => at < performance.now() - SAFE_AGE_MS).length
  await vi.waitFor(
    () => {
      expect(acknowledged.size).toBeGreaterThan(ENOUGH_WRITES)
      expect(safeCalls()).toBeGreaterThan(ENOUGH_CALLS)
    },
    { timeout: 60_000, interval: 20 },
  )
  const mustBeKept = safeCalls()
  patchbay.kill('SIGKILL')
  expect(await patchbay.ended).toMatchObject({ signal: 'SIGKILL' })
  expect((await ended).map(({ status }) => status)).toEqual(clients.map(() => 'rejected'))
  await fake.close()

  const db = new Sqlite(patchbay.databaseFile)
  expect(db.pragma('integrity_check')).toEqual([{ integrity_check: 'ok' }])
  expect(db.pragma('foreign_key_check')).toEqual([])
  const stored = db.prepare<[], { count: number }>('SELECT count(*) AS count FROM "Execution"').get()?.count
  db.close()
  expect(stored).toBeGreaterThanOrEqual(mustBeKept)

  const again = await startPatchbay(patchbay.settings)
  const api = createApiClient(again.origin, builder.token)
  for (const { path, status, body } of acknowledged.values()) {
    expect(await api.send('GET', path), path).toMatchObject({ status, body })
  }
  expect((await browser.send('GET', '/session')).status).toBe(200)
  expect(await again.stop()).toMatchObject({ code: 0, stderr: '' })
})
