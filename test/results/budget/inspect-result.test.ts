import { spawnSync } from 'node:child_process'
import { afterAll, expect, it } from 'vitest'
import { z } from 'zod'
import { failure } from '../../../src/lib/kernel/result.ts'
import { countTokens } from '../../../src/lib/tokens/tokens.ts'
import { MEMORY, openResultInspector } from '../../support/jobs.ts'

const RECORDS = Array.from({ length: 4_000 }, (_, id) => ({ id, title: `Item number ${id}`, group: id % 7 }))
const LARGE = Buffer.from(JSON.stringify(RECORDS))
const SMALL = Buffer.from('{"users":[{"name":"Ann","age":3},{"name":"Bob","age":4}]}')

const work = openResultInspector()
afterAll(() => work.close())

type Job = Omit<Parameters<typeof work.inspect>[0], 'owner' | 'group'> & { owner?: string }

const tryLook = (job: Job, by = work) => by.inspect({ owner: 'one', group: 'one', ...job })

const look = async (job: Job, by = work) => {
  const seen = await tryLook(job, by)
  if (!seen.ok) throw new Error(seen.error)
  return seen.value
}

const unread = (): Promise<Uint8Array> => Promise.reject(new Error('the bytes were asked for'))

it('a result over its budget is shown by its beginning, with its tokens before and after', async () => {
  const seen = await look({ bytes: LARGE, mediaType: 'application/json', budgetTokens: 500 })
  const tokens = await countTokens(LARGE.toString())
  const estimated = { isBeforeEstimated: true, tokensAfter: seen.tokensBefore, isAfterEstimated: true }
  expect(seen).toMatchObject({ format: 'json', isCut: true, bytes: LARGE.length, ...estimated })
  expect(Math.abs(seen.tokensBefore - tokens) / tokens).toBeLessThan(0.01)
  expect(seen.tokensShown).toBeLessThanOrEqual(500)
  expect(seen.outline).toContain('of 4,000 items shown')
  expect(RECORDS.slice(0, JSON.parse(seen.text).length)).toEqual(JSON.parse(seen.text))
})

it('steps build on each other, and each says what it did', async () => {
  const seen = await look({
    bytes: LARGE,
    steps: {
      filter: { fields: ['[].title'], limit: 100, offset: 50 },
      search: { pattern: 'number 77$', mode: 'regex' },
    },
  })
  expect(seen.errors).toEqual([])
  expect(seen.text).toContain('Item number 77')
  expect(seen.text).not.toContain('group')
  expect(seen.notes.join()).toContain('items 51 to 150 of 4,000')
  expect(seen.tokensAfter).toBe(await countTokens(seen.text))
})

it('a page that is cut to the budget names the items shown, and the next page continues there', async () => {
  const next = async (offset: number) => {
    const steps = { filter: { limit: 1_000, offset } }
    const { text, notes, tokensShown } = await look({ bytes: LARGE, budgetTokens: 500, steps })
    expect(tokensShown).toBeLessThanOrEqual(500)
    const count = z.array(z.unknown()).parse(JSON.parse(text)).length
    const end = offset + count
    expect(JSON.parse(text)).toEqual(RECORDS.slice(offset, end))
    const range = `${(offset + 1).toLocaleString('en')} to ${end.toLocaleString('en')}`
    expect(notes).toEqual([`These are items ${range} of 4,000. Continue with offset ${end}.`])
    return end
  }
  const second = await next(0)
  expect(second).toBeLessThan(100)
  await next(await next(second))
  await next(3_000)
})

it('the note about the page is kept when there are many notes', async () => {
  const lines = RECORDS.slice(0, 300).map((record, at) => (at % 10 === 0 ? '{broken' : JSON.stringify(record)))
  const bytes = Buffer.from(lines.join('\n'))
  const fields = Array.from({ length: 10 }, (_, index) => `[].missing${index}`)
  const steps = { filter: { fields: ['[].title', ...fields], limit: 200 } }
  const { notes } = await look({ bytes, mediaType: 'application/x-ndjson', budgetTokens: 150, steps })
  expect(notes[0]).toMatch(/^These are items 1 to \d+ of 270\. Continue with offset \d+\.$/)
  expect(notes.length).toBeGreaterThan(1)
})

it('a page of lines that is cut counts only complete lines', async () => {
  const lines = Array.from({ length: 2_000 }, (_, index) => `Line ${index} says something of some length.`)
  const bytes = Buffer.from(lines.join('\n'))
  const { text, notes } = await look({ bytes, budgetTokens: 300, steps: { filter: { limit: 500, offset: 10 } } })
  const shown = text.split('\n')
  expect(shown).toEqual(lines.slice(10, 10 + shown.length))
  expect(notes).toEqual([
    `These are lines 11 to ${10 + shown.length} of 2,000. Continue with offset ${10 + shown.length}.`,
  ])
})

it('a failing step reports its error, and the other steps still run', async () => {
  const seen = await look({ bytes: SMALL, steps: { filter: { fields: ['users['] }, explore: { path: 'users' } } })
  expect(seen.errors).toEqual([{ step: 'filter', message: expect.stringContaining('is not a path') }])
  expect(seen.text).toContain('name: text of 3 characters')
})

it('only errors are shown if every step fails', async () => {
  const seen = await look({
    bytes: SMALL,
    budgetTokens: 100,
    steps: { filter: { fields: ['['] }, search: { pattern: '' } },
  })
  expect(seen).toMatchObject({ text: '', isCut: false })
  expect(seen.errors.map(({ step }) => step)).toEqual(['filter', 'search'])
})

it('everything that was found is returned if requested, even if less is shown', async () => {
  const steps = { filter: { fields: ['[].id'] } }
  const seen = await look({ bytes: LARGE, steps, budgetTokens: 50, keepsWhole: true })
  expect(seen.isCut).toBe(true)
  expect(seen.whole?.mediaType).toBe('application/json')
  expect(JSON.parse(Buffer.from(seen.whole?.utf8 ?? []).toString())).toEqual(RECORDS.map(({ id }) => ({ id })))
  expect((await look({ bytes: SMALL, keepsWhole: true })).whole).toBeUndefined()
})

it('a stored result is read and parsed once', async () => {
  const own = openResultInspector({ maxThreads: 1 })
  try {
    const first = await look({ bytes: async () => LARGE, key: 'large', budgetTokens: 100 }, own)
    const second = await look({ bytes: unread, key: 'large', steps: { filter: { fields: ['[0].id'] } } }, own)
    expect(second).toMatchObject({ text: '[{"id":0}]', bytes: LARGE.length, tokensBefore: first.tokensBefore })
  } finally {
    await own.close()
  }
})

it('a stored result that its thread has dropped is read again', async () => {
  const own = openResultInspector({ maxThreads: 1 })
  try {
    const bulk = Buffer.from(`[${'{},'.repeat(700_000)}{}]`)
    await look({ bytes: SMALL, key: 'small' }, own)
    for (const key of ['a', 'b']) await look({ bytes: bulk, key, tokensBefore: 1, budgetTokens: 10 }, own)
    expect(await look({ bytes: async () => SMALL, key: 'small' }, own)).toMatchObject({ bytes: SMALL.length })
    await expect(look({ bytes: unread, key: 'never seen' }, own)).rejects.toThrow('the bytes were asked for')
  } finally {
    await own.close()
  }
})

it('shared bytes are read in place', async () => {
  const shared = new Uint8Array(new SharedArrayBuffer(SMALL.length))
  shared.set(SMALL)
  expect((await look({ bytes: shared })).text).toBe(SMALL.toString())
})

it('an inspection that takes too long is ended with an error', async () => {
  const own = openResultInspector({ timeLimitMs: 1 })
  expect(await tryLook({ bytes: LARGE }, own)).toEqual(failure(expect.stringContaining('took longer than 1 ms')))
  await own.close()
})

it('a result that would take too much memory is read as text, with a note', async () => {
  const seen = await look({ bytes: Buffer.from(`[${'{},'.repeat(3_000_000)}{}]`), tokensBefore: 1, budgetTokens: 200 })
  expect(seen.format).toBe('text')
  expect(seen.notes.join()).toContain('3,000,002 objects and lists')
})

it('a result too large for the memory of a process is refused with the reason, and the next one works', async () => {
  const own = openResultInspector({ heapLimitMb: 80, maxThreads: 1 })
  try {
    const bytes = Buffer.alloc(5_000_000, 'a ')
    const seen = await tryLook({ owner: 'a server', bytes, tokensBefore: 1, budgetTokens: 100 }, own)
    expect(seen).toEqual(failure(expect.stringMatching(/^This result of 5 MB is too large .* at most 4\.2 MB are/)))
    const dense = Buffer.from(`[${'{},'.repeat(1_200_000)}{}]`)
    const read = await tryLook({ owner: 'a server', bytes: dense, tokensBefore: 1, budgetTokens: 100 }, own)
    expect(read).toMatchObject({ ok: true, value: { format: 'text' } })
    expect(await tryLook({ owner: 'a server', bytes: SMALL }, own)).toMatchObject({ ok: true })
  } finally {
    await own.close()
  }
})

it('inspections in progress at the close complete, and later ones are refused', async () => {
  const own = openResultInspector()
  const seen = tryLook({ bytes: LARGE }, own)
  await own.close()
  const stopped = failure(expect.stringContaining('is shutting down'))
  expect(await seen).toEqual(stopped)
  expect(await tryLook({ bytes: SMALL }, own)).toEqual(stopped)
})

it('idle threads do not keep the process alive', () => {
  const script = `
    const { createJobPool } = await import(${JSON.stringify(new URL('../../../src/jobs/job-pool.ts', import.meta.url).href)})
    const { createResultInspector } = await import(${JSON.stringify(new URL('../../../src/results/budget/result-inspector.ts', import.meta.url).href)})
    const memory = ${JSON.stringify(MEMORY)}
    const workers = createJobPool({ idleMs: 600_000, memory })
    const work = createResultInspector(workers.job('inspect-result'), memory.inFlightBytes)
    const seen = await work.inspect({ owner: 'one', group: 'one', bytes: Buffer.from('{"a":1}'), budgetTokens: 10 })
    console.log(seen.value.text)
  `
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect({ stdout: stdout.trim(), status }).toEqual({ stdout: '{"a":1}', status: 0 })
})

it('inspections beyond the queue of one server are refused, while others are served', async () => {
  const own = openResultInspector()
  try {
    const crowd = Array.from({ length: 120 }, () => tryLook({ bytes: SMALL, tokensBefore: 1, owner: 'crowd' }, own))
    expect(await tryLook({ bytes: SMALL, owner: 'friend' }, own)).toMatchObject({ ok: true })
    const seen = await Promise.all(crowd)
    expect(seen.filter(one => one.ok).length).toBeGreaterThan(100)
    expect(seen.at(-1)).toEqual(failure(expect.stringContaining('Too many results')))
    expect(await tryLook({ bytes: SMALL, owner: 'crowd' }, own)).toMatchObject({ ok: true })
  } finally {
    await own.close()
  }
})

it('concurrent inspections of one server are limited by bytes, except for a single one of any size', async () => {
  const own = openResultInspector({ maxBytes: 40 * 1_024 * 1_024 })
  try {
    const large = Buffer.alloc(6 * 1_024 * 1_024, ' ')
    const all = [1, 2].map(() => tryLook({ bytes: large, tokensBefore: 1, budgetTokens: 10 }, own))
    expect((await Promise.all(all)).map(({ ok }) => ok)).toEqual([true, false])
    expect(await tryLook({ bytes: large, tokensBefore: 1, budgetTokens: 10 }, own)).toMatchObject({ ok: true })
  } finally {
    await own.close()
  }
})

it('notes take at most their share of the budget', async () => {
  const fields = Array.from({ length: 20 }, (_, index) => `users[].nothing${index}`)
  const seen = await look({ bytes: SMALL, steps: { filter: { fields } }, budgetTokens: 60 })
  expect(seen.notes.join()).toContain('matches nothing')
  expect(seen.tokensShown).toBeLessThanOrEqual(60)
})

it('tokens are counted as shown, without the original whitespace', async () => {
  const seen = await look({ bytes: Buffer.from(JSON.stringify(RECORDS.slice(0, 50), null, 8)) })
  expect(seen.tokensShown).toBe(await countTokens(seen.text))
  expect(seen.tokensShown).toBeLessThan(seen.tokensBefore)
})

it('of 10 MB in one string the beginning is shown, and the rest can be reached', async () => {
  const bytes = Buffer.from(`"${'x'.repeat(10_000_000)}"`)
  const result = { bytes, mediaType: 'application/json', key: 'one string', tokensBefore: 1 }
  const begun = await look({ ...result, budgetTokens: 300 })
  expect(begun.isCut).toBe(true)
  expect(begun.tokensShown).toBeLessThanOrEqual(300)
  expect(begun.outline).toContain('shown')
  expect((await look({ ...result, steps: { explore: {} }, budgetTokens: 300 })).text).not.toBe('')
})
