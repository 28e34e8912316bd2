import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAnswerCache } from '../../../src/results/cut-cache/cut-cache.ts'
import { answerHolderOf } from '../../../src/results/cut-cache/cache-key.ts'
import { ANYONE, createCacheWorld, findText, KIBIBYTE, keep, listFiles, makeDirectory } from './cache-world.ts'

const SERVER = 'server-1'
/** What each answer counts besides its content. */
const OVERHEAD = KIBIBYTE

const LIMITS = {
  ttlMs: 1_000,
  maxBytes: 20 * KIBIBYTE,
  maxBytesPerCaller: 9 * KIBIBYTE,
  maxEntries: 7,
  maxEntriesPerCaller: 4,
  maxCallers: 3,
}

type Step = { do: 'keep'; caller: number; size: number } | { do: 'use'; which: number } | { do: 'wait'; ms: number }

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('keep' as const),
      caller: fc.integer({ min: 0, max: 4 }),
      size: fc.integer({ min: 0, max: 9 * KIBIBYTE }),
    }),
    fc.record({ do: fc.constant('use' as const), which: fc.nat(20) }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 400 }) }),
  ),
  { maxLength: 40 },
)

type Modelled = { index: number; caller: number; cost: number; usedAt: number }

/** What the rule says, in the plainest words: none of it is how the cache goes about it. */
const createModel = () => {
  let kept: Modelled[] = []
  const total = (answers: Modelled[]): number => answers.reduce((sum, { cost }) => sum + cost, 0)
  const idle = (usedAt: number, now: number): number => now - usedAt + 1
  const mostFirst = (answers: Modelled[], now: number): Modelled[] =>
    answers.toSorted((a, b) => idle(b.usedAt, now) * b.cost - idle(a.usedAt, now) * a.cost || a.usedAt - b.usedAt)
  const leave = (gone: readonly Modelled[]): void => {
    kept = kept.filter(answer => !gone.includes(answer))
  }
  const leaveWhile = (tooMuch: () => boolean, among: () => Modelled[], now: number): void => {
    while (tooMuch()) leave(mostFirst(among(), now).slice(0, 1))
  }
  const expire = (now: number): void => leave(kept.filter(({ usedAt }) => now - usedAt >= LIMITS.ttlMs))
  return {
    keep: (answer: Modelled, now: number): boolean => {
      if (answer.cost > LIMITS.maxBytesPerCaller) return false
      expire(now)
      const own = () => kept.filter(({ caller }) => caller === answer.caller)
      const others = () => new Set(kept.map(({ caller }) => caller).filter(caller => caller !== answer.caller))
      leaveWhile(
        () => own().length >= LIMITS.maxEntriesPerCaller || total(own()) + answer.cost > LIMITS.maxBytesPerCaller,
        own,
        now,
      )
      if (own().length === 0 && others().size >= LIMITS.maxCallers) {
        const [heaviest] = [...others()]
          .map(caller => kept.filter(one => one.caller === caller))
          .map(answers => ({
            answers,
            weight: idle(Math.max(...answers.map(({ usedAt }) => usedAt)), now) * total(answers),
          }))
          .toSorted((a, b) => b.weight - a.weight)
        leave(heaviest?.answers ?? [])
      }
      leaveWhile(
        () => kept.length >= LIMITS.maxEntries || total(kept) + answer.cost > LIMITS.maxBytes,
        () => kept,
        now,
      )
      kept.push(answer)
      return true
    },
    use: (index: number, now: number): boolean => {
      expire(now)
      const answer = kept.find(one => one.index === index)
      if (answer !== undefined) answer.usedAt = now
      return answer !== undefined
    },
  }
}

describe('what has to go for a new answer', () => {
  it('is what was idle longest times how large it is: of the caller, of all, and callers as wholes', async () => {
    const directory = makeDirectory()
    await fc.assert(
      fc.asyncProperty(steps, async taken => {
        const clock = { now: 1_000_000 }
        const cache = createAnswerCache({ directory, limits: LIMITS, now: () => clock.now })
        const model = createModel()
        const ids: { caller: number; id: string | undefined }[] = []
        const holderOf = (caller: number): string => `holder-${caller}`
        const look = async (index: number) => {
          const { caller, id } = ids[index] ?? { caller: 0, id: undefined }
          return id !== undefined && (await cache.find(SERVER, holderOf(caller), id)) !== undefined
        }
        try {
          for (const step of taken) {
            if (step.do === 'wait') clock.now += step.ms
            if (step.do === 'use') expect(await look(step.which)).toBe(model.use(step.which, clock.now))
            if (step.do === 'keep') {
              const { caller, size } = step
              const content = Buffer.alloc(size)
              const id = await cache.keep({ serverId: SERVER, holder: holderOf(caller), content, about: {} })
              const modelled = { index: ids.length, caller, cost: size + OVERHEAD, usedAt: clock.now }
              expect(id !== undefined).toBe(model.keep(modelled, clock.now))
              ids.push({ caller, id })
            }
            const { entries, callers, bytes } = cache.stats()
            expect(entries <= LIMITS.maxEntries && callers <= LIMITS.maxCallers && bytes <= LIMITS.maxBytes).toBe(true)
          }
          for (const index of ids.keys()) expect(await look(index)).toBe(model.use(index, clock.now))
        } finally {
          await cache.close()
        }
      }),
      { numRuns: 300 },
    )
  })

  it('is the large one before the small ones that were used longer ago', async () => {
    const { cache, clock } = createCacheWorld({ limits: { maxBytesPerCaller: 20 * KIBIBYTE } })
    const small = await keep(cache, SERVER, ANYONE, 's')
    clock.now += 1_000
    const large = await keep(cache, SERVER, ANYONE, 'l'.repeat(10 * KIBIBYTE))
    clock.now += 1_000
    const fresh = await keep(cache, SERVER, ANYONE, 'f'.repeat(10 * KIBIBYTE))
    expect(await findText(cache, SERVER, ANYONE, large)).toBeUndefined()
    expect(await findText(cache, SERVER, ANYONE, small)).toBe('s')
    expect(await findText(cache, SERVER, ANYONE, fresh)).toBe('f'.repeat(10 * KIBIBYTE))
  })

  it('is a caller’s own where that one has enough, and the anonymous of one server take nothing from another’s', async () => {
    const { cache } = createCacheWorld({ limits: { maxEntriesPerCaller: 2 } })
    const other = await keep(cache, 'server-2', ANYONE, 'other')
    for (let times = 0; times < 10; times++) await keep(cache, SERVER, ANYONE, 'mine')
    expect(cache.stats()).toMatchObject({ entries: 3, callers: 2, full: 8 })
    expect(await findText(cache, 'server-2', ANYONE, other)).toBe('other')
  })
})

describe('keeping and finding while answers have to go', () => {
  it('gives every answer whole or not at all, stays within its bounds, and leaves no file behind', async () => {
    const size = 300 * KIBIBYTE
    const { cache, directory } = createCacheWorld({
      limits: { maxBytes: 10 * size, maxBytesPerCaller: 10 * size, maxMemoryBytes: 3 * size, maxBytesInMemory: size },
    })
    const contents = Array.from({ length: 60 }, () => randomBytes(size))
    const ids = await Promise.all(
      contents.map(async content => {
        const id = await cache.keep({ serverId: SERVER, holder: ANYONE, content, about: {} })
        expect(cache.stats().bytes).toBeLessThanOrEqual(10 * size)
        expect(cache.stats().memoryBytes).toBeLessThanOrEqual(3 * size)
        const found = id && (await cache.find(SERVER, ANYONE, id))
        if (found) expect(found.bytes.equals(content)).toBe(true)
        return id
      }),
    )
    const found = await Promise.all(ids.map(async id => id && (await cache.find(SERVER, ANYONE, id))))
    const there = found.filter(one => one !== undefined && one !== '')
    expect(there.length).toBe(9)
    for (const [index, one] of found.entries())
      if (one) expect(one.bytes.equals(contents[index] ?? Buffer.of())).toBe(true)
    const { entries, memoryBytes } = cache.stats()
    await expect.poll(() => listFiles(directory).length).toBe(entries - memoryBytes / size)
  })
})

it('counts all that a user has towards the bounds of one, whatever tokens it was called by, and shows each its own', async () => {
  const { cache } = createCacheWorld({ limits: LIMITS })
  const tokens = Array.from({ length: 8 }, (_, index) => answerHolderOf({ userId: 'busy', via: `token ${index}` }))
  const other = answerHolderOf({ userId: 'quiet', via: 'token' })
  const mine = await keep(cache, SERVER, other, 'quiet')
  const ids: string[] = []
  for (const holder of tokens) ids.push(await keep(cache, SERVER, holder, 'busy'))
  expect(cache.stats()).toMatchObject({ callers: 2, entries: 1 + LIMITS.maxEntriesPerCaller })
  expect(await findText(cache, SERVER, other, mine)).toBe('quiet')
  const [first = '', second = ''] = tokens.slice(-2)
  expect(await findText(cache, SERVER, second, ids.at(-1) ?? '')).toBe('busy')
  expect(await findText(cache, SERVER, first, ids.at(-1) ?? '')).toBeUndefined()
})
