import { expect, it } from 'vitest'
import { isDoneWithin } from '../../src/lib/process/time-limit.ts'

/** Blocks without using CPU. */
const sleep = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

it('work that was starved of CPU is retried, and work that computes forever is not', () => {
  const steps: string[] = []
  const work = (): void => {
    steps.push('work')
    if (steps.length === 1) sleep(60_000)
  }
  // Takes longer than the work may.
  const reset = (): void => {
    steps.push('reset')
    const end = performance.now() + 300
    while (performance.now() < end);
  }
  expect(isDoneWithin(200, work, reset)).toBe(true)
  // On a busy machine, the retry can be starved too.
  expect(steps.slice(0, 3)).toEqual(['work', 'reset', 'work'])
  let count = 0
  const isEndlessDone = isDoneWithin(200, () => {
    for (;;) count++
  })
  expect(isEndlessDone).toBe(false)
  expect(count).toBeGreaterThan(0)
})
