import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/postgres.ts'],
    // What waits for an event waits as long as a busy machine takes.
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
