import { afterAll, vi } from 'vitest'
import { endFile } from './end-of-file.ts'

// Vitest's setupFiles: this file runs again before each test file.
afterAll(endFile)

const WAIT_TIMEOUT_MS = 20_000

// Vitest has a setting for the timeout of `expect.poll`, but none for `vi.waitFor`, which gives up after a second.
const { waitFor } = vi
vi.waitFor = (callback, options = {}) => {
  const given = typeof options === 'number' ? { timeout: options } : options
  return waitFor(callback, { ...given, timeout: Math.max(WAIT_TIMEOUT_MS, given.timeout ?? 0) })
}

// Fastify searches all loaded modules for each plugin without a display name: a tenth of what an application's start takes.
const DISPLAY_NAME = Symbol.for('fastify.display-name')
Object.defineProperty(Function.prototype, DISPLAY_NAME, {
  configurable: true,
  get(this: { name: string }): string {
    return this.name || 'plugin'
  },
  set(this: object, value: string) {
    Object.defineProperty(this, DISPLAY_NAME, { value, writable: true, configurable: true })
  },
})
