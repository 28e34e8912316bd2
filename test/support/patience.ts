import { vi } from 'vitest'

/** What waits for an event waits as long as a busy machine takes. */
const PATIENCE_MS = 20_000

// Vitest has a setting for what `expect.poll` waits, but gives `vi.waitFor` a second, which a busy machine may take.
const { waitFor } = vi
vi.waitFor = (callback, options = {}) => {
  const given = typeof options === 'number' ? { timeout: options } : options
  return waitFor(callback, { ...given, timeout: Math.max(PATIENCE_MS, given.timeout ?? 0) })
}
