import { tmpdir } from 'node:os'
import { join } from 'node:path'

const VARIABLE = 'NODE_COMPILE_CACHE'

/** Returns the compile cache variable, for a Node process that is started with its own environment. */
export const compileCache = (): Record<string, string> => {
  const folder = process.env[VARIABLE]
  return folder === undefined ? {} : { [VARIABLE]: folder }
}

/** Vitest's globalSetup: makes Node cache compiled sources, because the tests start the program hundreds of times. */
export default function setUp(): void {
  process.env[VARIABLE] ??= join(tmpdir(), 'patchbay-compile-cache')
}
