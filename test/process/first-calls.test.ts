import { setTimeout as delay } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { expect, it, vi } from 'vitest'
import { echo, startFakeApi } from '../support/fake-api.ts'
import { startPatchbay } from '../support/process.ts'
import { callTool, serveApi } from './calls.ts'

vi.setConfig({ testTimeout: 90_000 })

/** If the process is killed, only calls of the last 250 ms may be missing. Twice that, because the machine may be busy. */
const SAFE_AGE_MS = 500
const STARTS = 2

it('a call right after the start is in the history if the process is killed soon after it', async () => {
  const first = await startPatchbay()
  const api = await startFakeApi(echo)
  const { url } = await serveApi(first, api)
  expect(await first.stop()).toMatchObject({ code: 0 })
  for (let start = 0; start < STARTS; start++) {
    const patchbay = await startPatchbay(first.settings)
    expect(await callTool(url, 'get_thing')).toMatchObject({ status: 200 })
    await delay(SAFE_AGE_MS)
    patchbay.kill('SIGKILL')
    await patchbay.ended
  }
  await api.close()
  const db = new Sqlite(first.databaseFile)
  const stored = db.prepare<[], { count: number }>('SELECT count(*) AS count FROM "Execution"').get()?.count
  db.close()
  expect(stored).toBe(STARTS)
})
