import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: [
      'test/support/compile-cache.ts',
      'test/support/leftovers.ts',
      'test/support/postgres.ts',
      'test/support/unpack-chromium.ts',
    ],
    setupFiles: ['test/support/each-file.ts'],
    // Left to itself it leaves a core free, which on two cores doubles the time.
    maxWorkers: '100%',
    // What waits for an event waits as long as a busy machine takes.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
