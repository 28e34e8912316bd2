// Adds up the results that Vitest wrote as JSON, one file a run, into the line `N passed, N failed`; 1 if any failed.
// A file that is not there is a run that never got to its results, and a test file that could not be loaded has no
// tests: each counts as one failed. Above that line it names the tests that failed, and those that passed only when they
// were tried again: each of these has a race to be found, and what was said each time is where to look for it.
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

const failedIn = ({ testResults }) =>
  testResults.map(({ status, assertionResults }) => {
    const failed = assertionResults.filter(test => test.status === 'failed').length
    return status === 'failed' ? Math.max(1, failed) : failed
  })

/** A passed test keeps what was said when it failed before. */
const fateOf = ({ status, failureMessages }) => {
  if (status === 'failed') return 'failed'
  return status === 'passed' && failureMessages.length > 0 ? 'passed only when tried again' : undefined
}

/** Most of what one failure says: some compare whole pages. */
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
