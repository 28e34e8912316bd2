import { readdirSync, readFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { createJobPool } from '../../src/jobs/job-pool.ts'
import { BUILT_JOBS } from '../support/built-jobs.ts'
import { MEMORY } from '../support/jobs.ts'

/** Returns the ids of the processes that this one has started. Linux only. */
const listChildren = (): string[] =>
  readdirSync('/proc/self/task').flatMap(thread =>
    readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  )

it.skipIf(process.platform !== 'linux')('jobs of several kinds run in one process of their thread', async () => {
  const others = new Set(listChildren())
  const pool = createJobPool({ memory: { ...MEMORY, maxThreads: 1, processHeapMb: 256 }, worker: BUILT_JOBS })
  onTestFinished(pool.close)
  const compile = pool.job('compile-output-schemas')
  const check = pool.job('check-schema')
  const seen: string[][] = []
  for (let at = 0; at < 2; at++) {
    expect(await compile.run('one', [{ type: 'object' }])).toEqual({ ok: true, value: [undefined] })
    seen.push(listChildren().filter(id => !others.has(id)))
    expect(await check.run('one', { task: 'save', schema: { type: 'object' } })).toMatchObject({ ok: true })
    seen.push(listChildren().filter(id => !others.has(id)))
  }
  expect(seen[0]).toHaveLength(1)
  expect(seen).toEqual(seen.map(() => seen[0]))
})
