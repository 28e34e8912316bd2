import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createGroupedLru } from '../../../src/lib/cache/grouped-lru.ts'
import { runsOf } from '../../support/cases-of-run.ts'

describe('an LRU cache with groups', () => {
  it('stays within its limits and returns only the latest, unexpired value of a key', () => {
    const step = fc.record({
      kind: fc.constantFrom('set', 'set', 'set', 'get', 'get', 'wait', 'delete'),
      group: fc.constantFrom('a', 'b', 'c'),
      key: fc.constantFrom('1', '2', '3', '4', '5', '6', '7', '8'),
      size: fc.integer({ min: 1, max: 80 }),
      ttlMs: fc.integer({ min: 1, max: 200_000 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), steps => {
        let nowMs = 1
        const sizes = new Map<number, { group: string; size: number }>()
        const evicted: number[] = []
        const cache = createGroupedLru<number>({
          maxSize: 200,
          maxGroupSize: 60,
          now: () => nowMs,
          onEvict: (_key, value) => void evicted.push(value),
        })
        const latest = new Map<string, { value: number; until: number }>()
        for (const [value, { kind, group, key, size, ttlMs }] of steps.entries()) {
          const place = `${group} ${key}`
          if (kind === 'wait') nowMs += ttlMs
          if (kind === 'set') {
            expect(cache.set(group, place, value, size, ttlMs)).toBe(size <= 60)
            if (size <= 60) latest.set(place, { value, until: nowMs + ttlMs })
            else latest.delete(place)
            sizes.set(value, { group, size })
          }
          if (kind === 'delete') {
            cache.deleteGroup(group)
            for (const other of [...latest.keys()]) if (other.startsWith(group)) latest.delete(other)
          }
          const found = cache.get(place)
          if (found !== undefined) {
            expect(found).toBe(latest.get(place)?.value)
            expect(latest.get(place)?.until).toBeGreaterThanOrEqual(nowMs)
          } else if (latest.has(place) && (latest.get(place)?.until ?? 0) >= nowMs) {
            expect(evicted).toContain(latest.get(place)?.value)
          }
          const places = ['a', 'b', 'c'].flatMap(name => [1, 2, 3, 4, 5, 6, 7, 8].map(at => `${name} ${at}`))
          const there = places.flatMap(name => sizes.get(cache.peek(name) ?? -1) ?? [])
          for (const name of ['a', 'b', 'c']) {
            const own = there.filter(entry => entry.group === name)
            expect(own.reduce((sum, entry) => sum + entry.size, 0)).toBeLessThanOrEqual(60)
          }
          expect(cache.stats().size).toBeLessThanOrEqual(200)
        }
        cache.clear()
        expect(cache.stats()).toEqual({ entries: 0, size: 0, groups: 0 })
      }),
      { numRuns: runsOf(300) },
    )
  })

  it('evicts what a busy group used least recently, and leaves its neighbours alone', () => {
    const cache = createGroupedLru<string>({ maxSize: 100, maxGroupSize: 30 })
    cache.set('quiet', 'quiet', 'here', 10, 60_000)
    for (let index = 0; index < 50; index++) {
      cache.set('busy', String(index), 'here', 10, 60_000)
      cache.get('0')
    }
    const found = ['quiet', '0', '47', '48', '49'].filter(key => cache.get(key) !== undefined)
    expect(found).toEqual(['quiet', '0', '48', '49'])
  })

  it('removes expired entries when it is purged', () => {
    let nowMs = 1
    const cache = createGroupedLru<string>({ maxSize: 100, maxGroupSize: 100, now: () => nowMs, ttlMs: 1_000 })
    for (const key of ['1', '2', '3']) cache.set('a', key, 'here', 1)
    nowMs += 1_001
    cache.set('b', '4', 'here', 1)
    cache.purge()
    expect(cache.stats()).toEqual({ entries: 1, size: 1, groups: 1 })
  })
})
