import { describe, expect, it } from 'vitest'
import { createStop } from '../../../src/lib/kernel/stop-signal.ts'

describe('the signal that ends a call early', () => {
  it('tells everybody who listens, once, however often it is given', () => {
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

  it('tells nobody who has stopped listening', () => {
    const stop = createStop()
    const told: string[] = []
    const listener = () => told.push('told')
    stop.addEventListener('abort', listener)
    stop.removeEventListener('abort', listener)
    stop.abort()
    expect(told).toEqual([])
  })
})
