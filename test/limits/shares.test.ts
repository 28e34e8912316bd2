import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/lib/db/client.ts'
import type { Limit } from '../../src/limits/limit.ts'
import { createLimit, listLimitsInForce } from '../../src/limits/limits.store.ts'
import { shareOf } from '../../src/limits/rate-meter.ts'
import { runsOf } from '../support/cases-of-run.ts'
import { databaseKinds } from '../support/databases.ts'

const PROGRAM = fileURLToPath(new URL('replica.process.ts', import.meta.url))
const REPLICAS = 3
const MINUTE_MS = 60_000
const START = Date.UTC(2026, 10, 28, 12)

type Step = { calls: readonly number[]; afterMs: number }

const stepsOf = fc.array(
  fc.record({
    calls: fc.array(fc.integer({ min: 0, max: 40 }), { minLength: REPLICAS, maxLength: REPLICAS }),
    afterMs: fc.constantFrom(0, 0, 1_000, 20_000, MINUTE_MS, 5 * MINUTE_MS),
  }),
  { minLength: 1, maxLength: 6 },
)

/** Starts a process on the database. `tryCalls` resolves to how many of the calls may start. */
const startReplica = async (url: string) => {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, url], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error('the process has no streams')
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  await lines.next()
  return {
    tryCalls: async (limit: Limit, now: number, calls: number): Promise<number> => {
      stdin.write(`${JSON.stringify({ limit, now, calls })}\n`)
      return Number((await lines.next()).value)
    },
  }
}

/** Runs the steps, each at all replicas at once. Returns the calls that were tried and that started, by minute. */
const run = async (replicas: Awaited<ReturnType<typeof startReplica>>[], limit: Limit, steps: readonly Step[]) => {
  const minutes = new Map<number, { tried: number; started: number }>()
  let now = START
  for (const { calls, afterMs } of steps) {
    now += afterMs
    const started = await Promise.all(replicas.map((replica, index) => replica.tryCalls(limit, now, calls[index] ?? 0)))
    const minute = Math.floor(now / MINUTE_MS)
    const before = minutes.get(minute) ?? { tried: 0, started: 0 }
    const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)
    const tried = sum(calls.slice(0, replicas.length))
    minutes.set(minute, { tried: before.tried + tried, started: before.started + sum(started) })
  }
  return [...minutes.values()]
}

describe.each(databaseKinds)('three processes with a limit per minute on $kind', kind => {
  const start = async () => {
    const database = await kind.create()
    onTestFinished(database.drop)
    const db = await openDatabase(database.target)
    onTestFinished(() => db.close())
    const { id: organizationId } = await db.organization.create({ data: { name: 'Limited' } })
    return {
      startReplica: () => startReplica(database.url),
      limitTo: async (amount: number): Promise<Limit> => {
        const kindOf = { scope: 'organization', targetId: undefined, unit: 'calls', period: 'minute' } as const
        const { id } = await createLimit(db, { organizationId, ...kindOf, amount }, organizationId)
        const [limit] = (await listLimitsInForce(db)).filter(one => one.id === id)
        if (limit === undefined) throw new Error('the limit is missing')
        return limit
      },
    }
  }

  it('exceed it by at most one share each, and let all calls start that their shares allow', async () => {
    const world = await start()
    const replicas = await Promise.all(Array.from({ length: REPLICAS }, world.startReplica))
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 90 }), stepsOf, async (amount, steps) => {
        const share = shareOf(amount)
        for (const { tried, started } of await run(replicas, await world.limitTo(amount), steps)) {
          expect(started).toBeLessThanOrEqual(Math.min(tried, amount + REPLICAS * share))
          // A replica that stops calling leaves at most its last two shares unused.
          expect(started).toBeGreaterThanOrEqual(Math.min(tried, amount - (REPLICAS - 1) * 2 * share))
        }
      }),
      { numRuns: runsOf(50) },
    )
  }, 120_000)

  it('hold it exactly if only one of them gets calls', async () => {
    const world = await start()
    const replica = await world.startReplica()
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 90 }), stepsOf, async (amount, steps) => {
        for (const { tried, started } of await run([replica], await world.limitTo(amount), steps)) {
          expect(started).toBe(Math.min(tried, amount))
        }
      }),
      { numRuns: runsOf(25) },
    )
  }, 120_000)
})
