// Adds up the results that Vitest wrote as JSON, one file a run, into the line `N passed, N failed`; 1 if any failed.
// A file that is not there is a run that never got to its results, and a test file that could not be loaded has no
// tests: each counts as one failed.
import { existsSync, readFileSync } from 'node:fs'

const failedIn = ({ testResults }) =>
  testResults.map(({ status, assertionResults }) => {
    const failed = assertionResults.filter(test => test.status === 'failed').length
    return status === 'failed' ? Math.max(1, failed) : failed
  })

let passed = 0
let failed = 0
for (const file of process.argv.slice(2)) {
  if (!existsSync(file)) failed += 1
  else {
    const results = JSON.parse(readFileSync(file, 'utf8'))
    passed += results.numPassedTests
    failed += failedIn(results).reduce((sum, count) => sum + count, 0)
    // A run without a single test proves nothing.
    if (results.numTotalTests === 0) failed += 1
  }
}
process.stdout.write(`${passed} passed, ${failed} failed\n`)
process.exitCode = failed > 0 ? 1 : 0
