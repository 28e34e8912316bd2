import { describe, expect, it } from 'vitest'
import { createTimeShare } from '../../../src/results/ledger/time-share.ts'

describe('a share of time', () => {
  const begin = () => {
    const clock = { ms: 0 }
    return { clock, share: createTimeShare({ msPerSecond: 20, maxSavedMs: 100 }, () => clock.ms) }
  }

  it('is filled up as time goes by, and never above what may be saved', () => {
    const { clock, share } = begin()
    share.spend(100)
    expect(share.leftMs()).toBe(0)
    clock.ms += 2_000
    expect(share.leftMs()).toBe(40)
    clock.ms += 60_000
    expect(share.leftMs()).toBe(100)
  })

  it('is made up for where more was taken than was left', () => {
    const { clock, share } = begin()
    share.spend(300)
    clock.ms += 9_000
    expect(share.leftMs()).toBe(-20)
    clock.ms += 2_000
    expect(share.leftMs()).toBe(20)
  })
})
