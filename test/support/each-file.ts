import { afterAll, vi } from 'vitest'
import { endFile } from './end-of-file.ts'

// Vitest's setupFiles: this file runs anew before each test file.
afterAll(endFile)

const WAIT_TIMEOUT_MS = 20_000

// Vitest has a setting for the timeout of `expect.poll`, but `vi.waitFor` gives up after a second.
const { waitFor } = vi
vi.waitFor = (callback, options = {}) => {
  const given = typeof options === 'number' ? { timeout: options } : options
  return waitFor(callback, { ...given, timeout: Math.max(WAIT_TIMEOUT_MS, given.timeout ?? 0) })
}
