import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAnswerShelves, type KeptAnswer } from '../../../src/results/cache/cached-result.ts'
import type { ToolResult } from '../../../src/runtime/call/compiled-server.ts'

const text = (length: number): ToolResult => ({ content: [{ type: 'text', text: 'x'.repeat(length) }] })
const answer = (result: ToolResult, answeredAtMs = 0): KeptAnswer => ({
  result,
  status: 200,
  responseBytes: 2,
  answeredAtMs,
})

describe('the memory of kept answers', () => {
  const LIMITS = { maxAnswerBytes: 6_000, maxServerBytes: 12_000, maxServerAnswers: 6, maxBytes: 20_000, maxAnswers: 9 }

  it('stays within its bounds, gives nothing but what was kept under that key, and nothing too late', () => {
    const step = fc.record({
      kind: fc.constantFrom('keep', 'keep', 'keep', 'find', 'find', 'wait', 'forget'),
      server: fc.constantFrom('a', 'b', 'c'),
      key: fc.constantFrom('1', '2', '3', '4', '5', '6', '7', '8'),
      length: fc.nat(4_000),
      forMs: fc.integer({ min: 1, max: 200_000 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), steps => {
        let nowMs = 0
        const shelves = createAnswerShelves({ limits: LIMITS, now: () => nowMs })
        const newest = new Map<string, { kept: KeptAnswer; until: number }>()
        for (const { kind, server, key, length, forMs } of steps) {
          const place = `${server} ${key}`
          if (kind === 'wait') nowMs += forMs
          if (kind === 'keep') {
            const kept = answer(text(length), nowMs)
            shelves.keep(server, key, kept, forMs)
            // One that is too large to keep takes no other's place.
            if (2 * length + 1_024 <= LIMITS.maxAnswerBytes) newest.set(place, { kept, until: nowMs + forMs })
          }
          if (kind === 'forget') {
            shelves.forgetServer(server)
            for (const other of [...newest.keys()]) if (other.startsWith(server)) newest.delete(other)
          }
          const found = shelves.find(server, key)
          if (found !== undefined) {
            expect(found).toEqual(newest.get(place)?.kept)
            expect(newest.get(place)?.until).toBeGreaterThan(nowMs)
          }
          const { answers, bytes, servers } = shelves.stats()
          expect(answers).toBeLessThanOrEqual(LIMITS.maxAnswers)
          expect(bytes).toBeLessThanOrEqual(LIMITS.maxBytes)
          expect(servers).toBeLessThanOrEqual(answers)
        }
        shelves.forgetAll()
        expect(shelves.stats()).toEqual({ answers: 0, bytes: 0, servers: 0 })
      }),
      { numRuns: 300 },
    )
  })

  it('lets one busy server take no more than its part, and its neighbours keep theirs', () => {
    const shelves = createAnswerShelves({ limits: LIMITS })
    shelves.keep('quiet', 'one', answer(text(100)), 1_000)
    for (let index = 0; index < 100; index++) shelves.keep('busy', String(index), answer(text(1_000)), 1_000)
    expect(shelves.find('quiet', 'one')).toBeDefined()
    expect(shelves.stats().bytes).toBeLessThanOrEqual(LIMITS.maxServerBytes + 2_000)
    expect(shelves.find('busy', '99')).toBeDefined()
    expect(shelves.find('busy', '90')).toBeUndefined()
  })

  it('lets go of what has expired though nobody asks for it, with the next answer after a minute', () => {
    let nowMs = 0
    const shelves = createAnswerShelves({ now: () => nowMs })
    for (const key of ['1', '2', '3']) shelves.keep('a', key, answer(text(10)), 1_000)
    nowMs = 60_000
    shelves.keep('b', '1', answer(text(10)), 1_000)
    expect(shelves.stats()).toMatchObject({ answers: 1, servers: 1 })
  })

  it('holds a part of a large buffer without the rest, and counts parsed JSON besides its text', () => {
    const shelves = createAnswerShelves()
    const large = Buffer.alloc(1_000_000, 'y')
    shelves.keep('a', 'part', answer({ utf8: large.subarray(0, 10_000) }), 1_000)
    const found = shelves.find('a', 'part')?.result
    if (found === undefined || !('utf8' in found)) throw new Error('it is not kept')
    expect(found.utf8.equals(large.subarray(0, 10_000))).toBe(true)
    expect(found.utf8.buffer.byteLength).toBeLessThan(100_000)
    const { bytes } = shelves.stats()
    const content = [{ type: 'text', text: '[1,2,3]'.padEnd(1_000) } as const]
    shelves.keep('a', 'json', answer({ content, structuredContent: [1, 2, 3] }), 1_000)
    expect(shelves.stats().bytes - bytes).toBeGreaterThan(5_000)
  })
})
