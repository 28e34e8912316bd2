import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Start first: started last, one of these would keep one worker busy after the others are done. */
const LONGEST = [
  'test/web/browser/pages.test.ts',
  'test/web/browser/tool-editor.test.ts',
  'test/results/shape/fair-shaping.test.ts',
  'test/web/browser/wiring.test.ts',
  'test/process/database-outage.test.ts',
  'test/tenancy/walk/walk.test.ts',
  'test/process/small-memory.test.ts',
  'test/cli/serve-config.test.ts',
  'test/web/browser/response-shaping.test.ts',
  'test/upstreams/subscriptions.test.ts',
  'test/results/shape/transform-hostile.test.ts',
  'test/identity/external-sign-in.test.ts',
  'test/web/browser/upstream-shaping.test.ts',
  'test/process/starting.test.ts',
  'test/web/browser/first-run.test.ts',
  'test/history/recorder.test.ts',
  'test/launcher/package.test.ts',
  'test/upstreams/asking.test.ts',
  'test/lib/db/drift.test.ts',
  'test/cli/stdio.test.ts',
  'test/web/browser/upstreams.test.ts',
  'test/process/stopping.test.ts',
  'test/cli/demo.test.ts',
  'test/cli/import.test.ts',
  'test/launcher/preparation.test.ts',
  'test/launcher/old-node.test.ts',
  'test/launcher/container-layout.test.ts',
]

/** Vitest orders files by their last duration, or by size without one, as on CI. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const rank = LONGEST.findIndex(name => moduleId.endsWith(`/${name}`))
      return rank === -1 ? LONGEST.length : rank
    }
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}

export default defineConfig({
  test: {
    // CI runs a failed test once more, and lists the tests that passed only then: each has a race to be fixed.
    retry: Number(process.env.TEST_RETRY ?? (process.env.CI === undefined ? 0 : 1)),
    include: ['test/**/*.test.ts'],
    globalSetup: [
      'test/support/compile-cache.ts',
      'test/support/leftovers.ts',
      'test/support/postgres.ts',
      'test/support/unpack-chromium.ts',
    ],
    setupFiles: ['test/support/each-file.ts'],
    // A worker keeps the sources loaded and optimized between files. A file must undo its changes to the process.
    isolate: false,
    // Most objects of a test are soon garbage: a large young generation and one collector thread use 10 % less CPU.
    execArgv: ['--max-semi-space-size=64', '--min-semi-space-size=32', '--single-threaded-gc'],
    // One more than the cores, because there is always a test that waits for a process to start.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    // A busy machine may take this long.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
