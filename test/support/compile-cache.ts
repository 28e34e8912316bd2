import { tmpdir } from 'node:os'
import { join } from 'node:path'

const VARIABLE = 'NODE_COMPILE_CACHE'

/** Of a test that starts a Node with an environment of its own: what has to be in that. */
export const compileCache = (): Record<string, string> => {
  const folder = process.env[VARIABLE]
  return folder === undefined ? {} : { [VARIABLE]: folder }
}

/**
 * Vitest's globalSetup: has Node keep what it compiles of the sources. A command of ours starts from some hundred files,
 * and the tests start it some hundred times.
 */
export default function setUp(): void {
  process.env[VARIABLE] ??= join(tmpdir(), 'patchbay-compile-cache')
}
