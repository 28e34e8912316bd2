import { expect, it } from 'vitest'
import { success } from '../../../src/lib/kernel/result.ts'
import { createExactCounts } from '../../../src/results/budget/exact-counts.ts'

it('a busy organization leaves room for the counts of others', async () => {
  const { promise: isFree, resolve: free } = Promise.withResolvers<void>()
  const counts = createExactCounts({
    countTexts: {
      timeLimitMs: 1_000,
      heapLimitMb: 10,
      run: async (_owner, texts) => {
        await isFree
        return success(texts.map(text => text.length))
      },
    },
    cutCache: {
      open: async () => ({ about: {}, read: async () => Buffer.from('text') }),
      describe: () => undefined,
    },
    maxBytes: 100,
    quietMs: () => 1_000,
    onInternalError: error => {
      throw error
    },
  })
  const count = (organizationId: string) =>
    counts.count({ serverId: 'one', organizationId, holder: 'one', cacheId: 'one', bytes: 4, about: {} })

  const busy = Array.from({ length: 20 }, () => count('busy'))
  const others = ['first', 'second'].map(count)
  expect(await Promise.all(busy.slice(4))).toEqual(Array(16).fill(undefined))
  free()
  expect(await Promise.all([...busy.slice(0, 4), ...others])).toEqual(Array(6).fill(4))
  expect(await count('busy')).toBe(4)
})
