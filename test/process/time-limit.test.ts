import { expect, it } from 'vitest'
import { isDoneWithin } from '../../src/lib/process/time-limit.ts'

/** Blocks without using CPU. */
const sleep = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

it('work that was starved of CPU is retried, and work that computes forever is not', () => {
  const tries: boolean[] = []
  const isDone = isDoneWithin(200, isRetry => {
    tries.push(isRetry)
    if (!isRetry) sleep(60_000)
  })
  expect(isDone).toBe(true)
  // On a busy machine, the retry can be starved too.
  expect(tries.slice(0, 2)).toEqual([false, true])
  let count = 0
  const isEndlessDone = isDoneWithin(200, () => {
    for (;;) count++
  })
  expect(isEndlessDone).toBe(false)
  expect(count).toBeGreaterThan(0)
})
