import { tmpdir } from 'node:os'
import { join } from 'node:path'

const VARIABLE = 'NODE_COMPILE_CACHE'

/** Returns the variable that a Node process started with its own environment needs. */
export const compileCache = (): Record<string, string> => {
  const folder = process.env[VARIABLE]
  return folder === undefined ? {} : { [VARIABLE]: folder }
}

/** Vitest's globalSetup: makes Node cache compiled sources: the tests start the program hundreds of times. */
export default function setUp(): void {
  process.env[VARIABLE] ??= join(tmpdir(), 'patchbay-compile-cache')
}
