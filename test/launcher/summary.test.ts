import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const SUMMARY = join(import.meta.dirname, '../../.ci/summary.mjs')

type Outcome = { fullName: string; status: 'passed' | 'failed'; failureMessages: string[] }

const PASSED: Outcome = { fullName: 'adds up', status: 'passed', failureMessages: [] }
const PASSED_AT_LAST: Outcome = { fullName: 'waits', status: 'passed', failureMessages: ['AssertionError: 1 is not 2'] }
const FAILED: Outcome = {
  fullName: 'breaks',
  status: 'failed',
  failureMessages: ['Error: first\n  at it', 'Error: then'],
}

/** Builds results in Vitest's format, in which a file that failed to load has no tests. */
const results = (passed: number, files: { status: string; tests: Outcome[] }[]) => ({
  numTotalTests: passed + files.flatMap(({ tests }) => tests).length,
  numPassedTests: passed,
  testResults: files.map(({ status, tests }) => ({ name: resolve('some.test.ts'), status, assertionResults: tests })),
})

const failed = ['failed: some.test.ts > breaks', '  Error: first', '  Error: then']

it.each([
  { runs: [results(3, []), results(4, [])], lines: ['7 passed, 0 failed'], status: 0, what: 'two runs that passed' },
  {
    runs: [results(3, []), results(2, [{ status: 'failed', tests: [FAILED, FAILED, PASSED] }])],
    lines: [...failed, ...failed, '5 passed, 2 failed'],
    status: 1,
    what: 'failed tests with their names and each error',
  },
  {
    runs: [results(2, [{ status: 'passed', tests: [PASSED, PASSED_AT_LAST] }])],
    lines: [
      'passed only on the second try: some.test.ts > waits',
      '  AssertionError: 1 is not 2',
      '2 passed, 0 failed',
    ],
    status: 0,
    what: 'the name of a test that passed only when retried',
  },
  {
    runs: [results(3, [{ status: 'failed', tests: [] }])],
    lines: ['3 passed, 1 failed'],
    status: 1,
    what: 'a test file that could not be loaded',
  },
  { runs: [results(3, []), undefined], lines: ['3 passed, 1 failed'], status: 1, what: 'a run that left no results' },
  { runs: [results(0, [])], lines: ['0 passed, 1 failed'], status: 1, what: 'a run without a test' },
])('the CI summary reports $what', ({ runs, lines, status }) => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-summary-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const files = runs.map((run, index) => {
    const file = join(folder, `${index}.json`)
    if (run) writeFileSync(file, JSON.stringify(run))
    return file
  })
  const ended = spawnSync(process.execPath, [SUMMARY, ...files], { encoding: 'utf8' })
  expect(ended).toMatchObject({ stdout: `${lines.join('\n')}\n`, status })
})
