import { describe, expect, it, onTestFinished } from 'vitest'
import { SourcePart } from '../../src/imports/source-parts.ts'
import { createJobPool } from '../../src/jobs/job-pool.ts'
import { descriptionOf, document } from '../imports/reading.ts'
import { BUILT_JOBS } from '../support/built-jobs.ts'
import { MEMORY } from '../support/jobs.ts'

const OPERATIONS = 250

const openJob = () => {
  const pool = createJobPool({ memory: { ...MEMORY, maxThreads: 1 }, worker: BUILT_JOBS })
  onTestFinished(pool.close)
  return pool.job('read-description')
}

const input = () => {
  const paths = Object.fromEntries(
    Array.from({ length: OPERATIONS }, (_, at) => [`/p${at}`, { get: { responses: {} } }]),
  )
  return { kind: 'openapi' as const, documents: [document(descriptionOf({ paths }))] }
}

const countIn = (text: string): number => {
  const part = SourcePart.parse(JSON.parse(text))
  return 'head' in part ? 0 : part.operations.length
}

describe('a job that sends its output in parts', () => {
  it('sends them in order, and ends when all have been handled', async () => {
    const counts: number[] = []
    const ended = await openJob().run('one', input(), {
      onPart: async part => {
        await new Promise(resolve => setImmediate(resolve))
        counts.push(countIn(part))
      },
    })
    expect(counts).toEqual([0, 100, 100, 50])
    expect(ended).toMatchObject({ ok: true, value: { ok: true, value: { missing: [] } } })
  })

  it('sends none while another is being handled', async () => {
    let handling = 0
    await openJob().run('one', input(), {
      onPart: async () => {
        handling++
        expect(handling).toBe(1)
        await new Promise(resolve => setImmediate(resolve))
        handling--
      },
    })
  })

  it('ends with the error of the handler, and the next job runs', async () => {
    const job = openJob()
    const refused = job.run('one', input(), {
      onPart: () => {
        throw new Error('the database is full')
      },
    })
    await expect(refused).rejects.toThrow('the database is full')
    expect(await job.run('one', input())).toMatchObject({ ok: true })
  })

  it('is not held up by a caller that wants no parts', async () => {
    expect(await openJob().run('one', input())).toMatchObject({ ok: true, value: { ok: true } })
  })
})
