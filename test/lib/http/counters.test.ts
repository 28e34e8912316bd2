import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../../src/lib/db/client.ts'
import { createDatabaseCounters } from '../../../src/lib/db/counters.store.ts'
import { type Counters, createMemoryCounters } from '../../../src/lib/db/counters.ts'
import { databaseKinds } from '../../support/databases.ts'

type Implementation = { name: string; create: (now: () => number) => Promise<Counters> }

const implementations: Implementation[] = [
  { name: 'memory', create: async now => createMemoryCounters(now) },
  ...databaseKinds.map(kind => ({
    name: kind.kind,
    create: async (now: () => number) => {
      const database = await kind.create()
      onTestFinished(database.drop)
      const db = await openDatabase(database.target)
      onTestFinished(db.close)
      return createDatabaseCounters(db, now)
    },
  })),
]

describe.each(implementations)('counters in $name', ({ create }) => {
  const build = async () => {
    const clock = { now: Date.parse('2026-11-22T12:00:00Z') }
    return { clock, counters: await create(() => clock.now) }
  }

  it('give ten concurrent increments ten different counts', async () => {
    const { counters } = await build()
    const results = await Promise.all(Array.from({ length: 10 }, () => counters.increment('k', 60_000)))
    expect(results.map(({ count }) => count).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('count each key separately', async () => {
    const { counters } = await build()
    await counters.increment('a', 60_000)
    expect((await counters.increment('b', 60_000)).count).toBe(1)
  })

  it('start a window with the first increment, and a new one after it has ended', async () => {
    const { clock, counters } = await build()
    expect(await counters.increment('k', 60_000)).toEqual({ count: 1, resetsInMs: 60_000 })
    clock.now += 59_999
    expect(await counters.increment('k', 60_000)).toEqual({ count: 2, resetsInMs: 1 })
    clock.now += 1
    expect(await counters.increment('k', 60_000)).toEqual({ count: 1, resetsInMs: 60_000 })
  })

  it('undo increments, but not below zero', async () => {
    const { counters } = await build()
    await counters.decrement('k')
    await counters.increment('k', 60_000)
    await counters.decrement('k')
    await counters.decrement('k')
    expect((await counters.increment('k', 60_000)).count).toBe(1)
  })

  it('can be reset', async () => {
    const { counters } = await build()
    await counters.increment('k', 60_000)
    await counters.reset('k')
    expect((await counters.increment('k', 60_000)).count).toBe(1)
  })
})
