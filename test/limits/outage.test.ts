import { describe, expect, it, vi } from 'vitest'
import { RETRY_MS } from '../../src/limits/meter.ts'
import { makeServer, signUp } from '../support/api-client.ts'
import { startTestApp } from '../support/app.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { databaseKinds } from '../support/databases.ts'
import { echo, startFakeApi } from '../support/fake-api.ts'
import { during } from '../support/world.ts'
import { callTool, usesOf } from './limits-world.ts'

vi.setConfig({ testTimeout: 60_000 })

const postgres = databaseKinds.find(({ kind }) => kind === 'postgresql')
if (postgres === undefined) throw new Error('there is no database to test on')

const PER_DAY = 12
const PER_MINUTE = 100
const BEFORE = 2
const MEANWHILE = 5

/** Starts Patchbay behind a proxy in front of its database. Only tests let the time of the limits pass. */
const startBehindProxy = async () => {
  let now = Date.UTC(2026, 10, 28, 12)
  const database = await postgres.create()
  const proxy = await startDatabaseProxy(database.url)
  const api = await startFakeApi(echo)
  const patchbay = await startTestApp({ databaseUrl: proxy.url, services: { limitClock: () => now } })
  const owner = await signUp(patchbay.origin)
  const { url } = await makeServer(owner, [{ name: 'tool', method: 'GET', url: `${api.origin}/` }])
  const { organizationId } = await patchbay.services.db.membership.findFirstOrThrow({ where: { userId: owner.userId } })
  const path = `/organizations/${organizationId}/limits`
  const limitTo = async (period: string, amount: number): Promise<string> =>
    `${path}/${(await owner.create(path, { scope: 'organization', unit: 'calls', period, amount })).id}`
  return {
    proxy,
    owner,
    limits: { day: await limitTo('day', PER_DAY), minute: await limitTo('minute', PER_MINUTE) },
    call: () => callTool(url, owner.token),
    pass: (ms: number): void => {
      now += ms
    },
    close: async () => {
      await proxy.restore()
      await patchbay.close()
      await proxy.close()
      await database.drop()
      await api.close()
    },
  }
}

describe.each(['refuse', 'freeze'] as const)('while PostgreSQL is unreachable (%s)', outage => {
  const world = during(startBehindProxy)

  it('calls go on without the limits, and are counted when it is back', async () => {
    const { call, limits, owner, pass, proxy } = world
    const errorsOf = async (count: number) => {
      const errors: (string | undefined)[] = []
      for (let made = 0; made < count; made++) errors.push(await call())
      return errors.filter(error => error !== undefined)
    }
    const usedToday = async () => (await usesOf(owner, limits.day)).all
    expect(await errorsOf(BEFORE)).toEqual([])
    expect(await usedToday()).toBe(BEFORE)

    await proxy[outage]()
    expect(await errorsOf(MEANWHILE)).toEqual([])

    await proxy.restore()
    await vi.waitFor(async () => expect(await usedToday()).toBe(BEFORE + MEANWHILE), { timeout: 30_000 })
    expect(await errorsOf(PER_DAY - BEFORE - MEANWHILE)).toEqual([])
    expect(await call()).toContain(`Limit reached: ${PER_DAY} calls per day`)
    // Of a minute, calls are counted by the share, when the next is needed.
    await owner.expectOk('DELETE', limits.day)
    const usedThisMinute = async () => (await usesOf(owner, limits.minute)).all
    await vi.waitFor(async () => {
      // The next attempt to reach the database is due after a pause.
      pass(RETRY_MS)
      expect(await call()).toBeUndefined()
      expect(await usedThisMinute()).toBeGreaterThan(PER_DAY)
    })
  })
})
