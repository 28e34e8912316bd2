import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/lib/db/client.ts'
import { createCallAdmission } from '../../src/limits/call-admission.ts'
import type { Limit } from '../../src/limits/limit.ts'
import { createLimitUses } from '../../src/limits/limit-uses.store.ts'
import { createLimit } from '../../src/limits/limits.store.ts'
import { createMeters, type LimitLevel } from '../../src/limits/meters.ts'
import type { LimitPeriod } from '../../src/limits/period.ts'
import { databaseKinds } from '../support/databases.ts'

const NOON = Date.UTC(2026, 10, 28, 12)
const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

describe.each(databaseKinds)('the limits of a process on $kind', kind => {
  /** Starts a process. Its clock, that of the database, and whether the database can be reached are what a test sets. */
  const start = async () => {
    const database = await kind.create()
    onTestFinished(database.drop)
    const db = await openDatabase(database.target)
    onTestFinished(() => db.close())
    const { id: organizationId } = await db.organization.create({ data: { name: 'Limited' } })
    const state = { process: 0, database: NOON, isAway: false, writes: 0 }
    const levels: LimitLevel['level'][] = []
    const open = () => {
      const meters = createMeters({
        uses: createLimitUses(db, () => state.database),
        databaseHealth: {
          whileReachable: work => {
            state.writes++
            return state.isAway ? Promise.reject(new Error('the database is away')) : work()
          },
        },
        onLevel: ({ level }) => levels.push(level),
        clock: () => state.process,
      })
      onTestFinished(meters.close)
      const admission = createCallAdmission(meters)
      const call = { organizationId, serverId: 's', toolId: 'any', userId: undefined, tokenId: undefined, price: 0 }
      const tryOne = async (): Promise<boolean> => {
        const admitted = await admission.admit(call)
        return admitted === undefined || !('refusal' in admitted)
      }
      return {
        meters,
        admission,
        /** Tries calls one after another. Returns how many may start. */
        tryCalls: async (calls: number): Promise<number> => {
          let started = 0
          for (let index = 0; index < calls; index++) if (await tryOne()) started++
          return started
        },
      }
    }
    return {
      db,
      state,
      levels,
      open,
      pass: (ms: number): void => {
        state.process += ms
        state.database += ms
      },
      limitTo: (amount: number, period: LimitPeriod): Promise<Limit> => {
        const kindOf = { scope: 'organization', targetId: undefined, unit: 'calls' } as const
        return createLimit(db, { organizationId, ...kindOf, period, amount }, organizationId)
      },
    }
  }

  it.each(['minute', 'day'] as const)('go on without the database, and count those calls later (%s)', async period => {
    const { state, pass, limitTo, open } = await start()
    const limit = await limitTo(20, period)
    const { admission, tryCalls, meters } = open()
    admission.replace([limit])
    state.isAway = true
    expect(await tryCalls(15)).toBe(15)
    state.isAway = false
    pass(2 * SECOND_MS)
    await tryCalls(1)
    await meters.flush()
    expect(await tryCalls(30)).toBe(4)
    await meters.flush()
    const second = open()
    second.admission.replace([limit])
    // Another process may take at most a share of a minute before it knows.
    expect(await second.tryCalls(30)).toBeLessThanOrEqual(period === 'minute' ? 2 : 0)
  })

  it('follow the clock of the database if the clocks of processes differ', async () => {
    const { state, limitTo, open } = await start()
    const limit = await limitTo(10, 'minute')
    const [one, two] = [open(), open()]
    for (const { admission } of [one, two]) admission.replace([limit])
    state.process = 5 * HOUR_MS
    expect((await one.tryCalls(20)) + (await two.tryCalls(20))).toBeLessThanOrEqual(10 + 2)
  })

  it.each([
    ['forward', 3 * HOUR_MS],
    ['back', -3 * HOUR_MS],
  ])('work in the next minute after the clock was set %s', async (_, stepMs) => {
    const { state, pass, limitTo, open } = await start()
    const { admission, tryCalls } = open()
    admission.replace([await limitTo(10, 'minute')])
    expect(await tryCalls(20)).toBe(10)
    state.database += stepMs
    expect(await tryCalls(20)).toBe(0)
    pass(MINUTE_MS)
    expect(await tryCalls(20)).toBe(10)
  })

  it('apply a changed amount at once, to what was already used', async () => {
    const { limitTo, open } = await start()
    const limit = await limitTo(10, 'day')
    const { admission, tryCalls } = open()
    admission.replace([limit])
    expect(await tryCalls(20)).toBe(10)
    admission.replace([{ ...limit, amount: 15 }])
    expect(await tryCalls(20)).toBe(5)
    admission.replace([{ ...limit, amount: 5 }])
    expect(await tryCalls(20)).toBe(0)
    admission.replace([])
    expect(await tryCalls(20)).toBe(20)
  })

  it('forget what they have counted once they are deleted', async () => {
    const { db, state, limitTo, open } = await start()
    const limit = await limitTo(10, 'day')
    const { admission, tryCalls, meters } = open()
    admission.replace([limit])
    expect(await tryCalls(3)).toBe(3)
    await db.limit.delete({ where: { id: limit.id } })
    admission.replace([])
    await meters.flush()
    const { writes } = state
    await meters.flush()
    expect(state.writes).toBe(writes)
  })

  it('report 80 % and all of a limit once, whichever process reaches it', async () => {
    const { levels, limitTo, open } = await start()
    const limit = await limitTo(20, 'day')
    const [one, two] = [open(), open()]
    for (const { admission } of [one, two]) admission.replace([limit])
    await one.tryCalls(10)
    await one.meters.flush()
    expect(levels).toEqual([])
    await two.tryCalls(7)
    await two.meters.flush()
    expect(levels).toEqual(['warning'])
    await one.tryCalls(10)
    await one.meters.flush()
    expect(levels).toEqual(['warning', 'reached'])
  })

  it.each([
    ['minute', /^\d{4}-\d\d-\d\dT\d\d:\d\d$/],
    ['day', /^\d{4}-\d\d-\d\d$/],
    ['month', /^\d{4}-\d\d$/],
  ] as const)("count a %s by the database's clock in UTC", async (period, form) => {
    const { db, limitTo } = await start()
    const before = Date.now()
    const uses = createLimitUses(db)
    const limit = await limitTo(1, period)
    const { nowMs, ...sum } = await uses.add(limit, '', 3_000_000_000)
    expect(sum).toEqual({ total: 3_000_000_000, period: expect.stringMatching(form) })
    expect(new Date(nowMs).toISOString().startsWith(sum.period)).toBe(true)
    expect(Math.abs(nowMs - before)).toBeLessThan(MINUTE_MS)
  })
})
