// Adds up Vitest's JSON results, one file for each run, as `N passed, N failed`; exits with 1 if any failed.
// A missing file is a run that did not finish, and a test file that could not be loaded has no tests: each counts as one
// failure. First lists the tests that failed or passed only on the second try, with the messages of their failures.
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

const failedIn = ({ testResults }) =>
  testResults.map(({ status, assertionResults }) => {
    const failed = assertionResults.filter(test => test.status === 'failed').length
    return status === 'failed' ? Math.max(1, failed) : failed
  })

/** A passed test keeps the messages of its earlier failures. */
const fateOf = ({ status, failureMessages }) => {
  if (status === 'failed') return 'failed'
  return status === 'passed' && failureMessages.length > 0 ? 'passed only on the second try' : undefined
}

/** In characters: some messages contain whole pages. */
const MAX_SAID = 300

const beginningOf = message => message.split('\n', 1)[0].slice(0, MAX_SAID)

const nameFates = ({ testResults }) => {
  for (const { name, assertionResults } of testResults) {
    for (const test of assertionResults) {
      const fate = fateOf(test)
      if (fate === undefined) continue
      process.stdout.write(`${fate}: ${relative(process.cwd(), name)} > ${test.fullName}\n`)
      for (const message of test.failureMessages) process.stdout.write(`  ${beginningOf(message)}\n`)
    }
  }
}

let passed = 0
let failed = 0
for (const file of process.argv.slice(2)) {
  if (!existsSync(file)) failed += 1
  else {
    const results = JSON.parse(readFileSync(file, 'utf8'))
    nameFates(results)
    passed += results.numPassedTests
    failed += failedIn(results).reduce((sum, count) => sum + count, 0)
    // A run without a single test proves nothing.
    if (results.numTotalTests === 0) failed += 1
  }
}
process.stdout.write(`${passed} passed, ${failed} failed\n`)
process.exitCode = failed > 0 ? 1 : 0
