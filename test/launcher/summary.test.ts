import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const SUMMARY = join(import.meta.dirname, '../../.ci/summary.mjs')

const results = (passed: number, files: { status: string; tests: string[] }[]) => ({
  numTotalTests: passed + files.flatMap(({ tests }) => tests).length,
  numPassedTests: passed,
  testResults: files.map(({ status, tests }) => ({ status, assertionResults: tests.map(test => ({ status: test })) })),
})

it.each([
  { runs: [results(3, []), results(4, [])], line: '7 passed, 0 failed', status: 0, what: 'two runs that passed' },
  {
    runs: [results(3, []), results(2, [{ status: 'failed', tests: ['failed', 'failed', 'passed'] }])],
    line: '5 passed, 2 failed',
    status: 1,
    what: 'failed tests',
  },
  {
    runs: [results(3, [{ status: 'failed', tests: [] }])],
    line: '3 passed, 1 failed',
    status: 1,
    what: 'a test file that could not be loaded',
  },
  { runs: [results(3, []), undefined], line: '3 passed, 1 failed', status: 1, what: 'a run that left no results' },
  { runs: [results(0, [])], line: '0 passed, 1 failed', status: 1, what: 'a run without a test' },
])('the summary of CI adds up $what: $line', ({ runs, line, status }) => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-summary-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const files = runs.map((run, index) => {
    const file = join(folder, `${index}.json`)
    if (run) writeFileSync(file, JSON.stringify(run))
    return file
  })
  const ended = spawnSync(process.execPath, [SUMMARY, ...files], { encoding: 'utf8' })
  expect(ended).toMatchObject({ stdout: `${line}\n`, status })
})
