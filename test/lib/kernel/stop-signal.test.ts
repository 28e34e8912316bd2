import { describe, expect, it } from 'vitest'
import { createStop } from '../../../src/lib/kernel/stop-signal.ts'

describe('the signal that cancels a call', () => {
  it('notifies every listener once, however often it is aborted', () => {
    const stop = createStop()
    const told: string[] = []
    stop.addEventListener('abort', () => told.push('first'))
    stop.addEventListener('abort', () => told.push('second'))
    expect(stop.aborted).toBe(false)
    stop.abort()
    stop.abort()
    expect(stop.aborted).toBe(true)
    expect(told).toEqual(['first', 'second'])
  })

  it('does not notify a removed listener', () => {
    const stop = createStop()
    const told: string[] = []
    const listener = () => told.push('told')
    stop.addEventListener('abort', listener)
    stop.removeEventListener('abort', listener)
    stop.abort()
    expect(told).toEqual([])
  })
})
