import { expect, it, onTestFinished, vi } from 'vitest'
import { createScopeWatches } from '../../src/web/live/scope-watch.ts'

const SCOPE = { organizationId: 'o', serverIds: ['s'], ownServerIds: [], readerId: 'u' }

it('the history of an organization is read less often if reading takes long', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  let reads = 0
  const { watch } = createScopeWatches({
    listNewest: async () => {
      reads++
      await new Promise(resolve => setTimeout(resolve, 500))
      return []
    },
    onTrouble: error => {
      throw error
    },
  })
  onTestFinished(watch(SCOPE, () => undefined))
  await vi.advanceTimersByTimeAsync(500 + 9_999)
  expect(reads).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(reads).toBe(2)
})
