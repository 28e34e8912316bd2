import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Begun last, one of these would keep one worker busy when the others have nothing left to do. */
const LONGEST = [
  'test/web/browser/pages.test.ts',
  'test/web/live.test.ts',
  'test/cli/serve-config.test.ts',
  'test/cli/import.test.ts',
  'test/web/browser/tool-editor.test.ts',
  'test/web/browser/first-run.test.ts',
  'test/upstreams/asking.test.ts',
  'test/upstreams/subscriptions.test.ts',
  'test/history/recorder.test.ts',
  'test/tenancy/walk/walk.test.ts',
]

/** Where nothing is known of the last run, which is how CI begins, Vitest goes by the size of the files. */
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
    // Among six thousand tests with processes, sockets and a browser, one lost race does not refuse a change: CI names
    // it at its end, so that it is mended. What fails twice refuses. At the desk the first failure is the result.
    retry: process.env.CI === undefined ? 0 : 1,
    include: ['test/**/*.test.ts'],
    globalSetup: [
      'test/support/compile-cache.ts',
      'test/support/leftovers.ts',
      'test/support/postgres.ts',
      'test/support/unpack-chromium.ts',
    ],
    setupFiles: ['test/support/each-file.ts'],
    // A worker goes on with the next file, and has our sources loaded, and compiled as well as they are used by then.
    // What a file changes of its process it changes back.
    isolate: false,
    // Each test makes much that is soon garbage: collected rarely and by one thread, it takes a tenth less CPU.
    execArgv: ['--max-semi-space-size=64', '--min-semi-space-size=32', '--single-threaded-gc'],
    // One more than there are cores: there is always a test that waits for a time to pass, or for a process to start.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    // What waits for an event waits as long as a busy machine takes.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
