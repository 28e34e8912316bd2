import { describe, expect, it } from 'vitest'
import { createExecutionIds, newExecutionId } from '../../src/history/execution-id.ts'

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const timeOf = (id: string): number => Number.parseInt(id.replace('-', '').slice(0, 12), 16)

describe('ids of executions', () => {
  it('are UUIDs of version 7 with the time of creation', () => {
    const before = Date.now()
    const id = newExecutionId()
    expect(id).toMatch(UUID_V7)
    expect(timeOf(id)).toBeGreaterThanOrEqual(before)
    expect(timeOf(id)).toBeLessThanOrEqual(Date.now())
  })

  it('created in a row ascend, also if a millisecond needs more than its counter holds', () => {
    const newId = createExecutionIds(() => 1_793_000_000_000)
    const ids = Array.from({ length: 20_000 }, newId)
    expect(ids.every(id => UUID_V7.test(id))).toBe(true)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toEqual(ids.toSorted())
  })

  it('still ascend if the clock is set back by an hour', () => {
    let now = 1_793_000_000_000
    const newId = createExecutionIds(() => now)
    const earlier = newId()
    now -= 3_600_000
    const later = newId()
    expect(later > earlier).toBe(true)
    expect(timeOf(later)).toBe(1_793_000_000_000)
  })

  it('of two generators at the same time differ in their random tail', () => {
    const tails = Array.from({ length: 100 }, () => createExecutionIds(() => 1)().slice(-16))
    expect(new Set(tails).size).toBe(100)
  })
})
