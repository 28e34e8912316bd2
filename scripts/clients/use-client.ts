/** Uses Patchbay through a third-party client. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { z } from 'zod'
import type { ThirdPartyClient } from './client-table.ts'
import { PACKAGES } from './packages.ts'

const TIMEOUT_MS = 90_000
const MAX_OUTPUT_BYTES = 8_000_000
/** Number of characters of a program's errors that are shown. */
const SHOWN_CHARS = 600

const Used = z.union([
  z.object({ tools: z.array(z.string()), text: z.string() }),
  // Clients that call tools only for a model.
  z.object({ state: z.string() }),
])

export type Expected = { url: string; token: string; tools: readonly string[]; text: string }

const faultIn = (used: z.infer<typeof Used>, { tools, text }: Expected): string | undefined => {
  if ('state' in used) {
    const state = stripVTControlCharacters(used.state)
    return /\bconnected\b/i.test(state) && !/disconnected|failed/i.test(state) ? undefined : state
  }
  const missing = tools.filter(name => !used.tools.includes(name))
  if (missing.length > 0) return `does not list ${missing.join(', ')}`
  return used.text.includes(text) ? undefined : `the call returned ${used.text.slice(0, SHOWN_CHARS)}`
}

const run = promisify(execFile)

/** Returns what the client did, or why it failed. */
export const useClient = async (
  { program, args = [] }: ThirdPartyClient,
  expected: Expected,
): Promise<{ did: string } | { fault: string }> => {
  try {
    const { stdout } = await run(process.execPath, [join(PACKAGES, 'use.mjs'), program, ...args], {
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        SERVER_URL: expected.url,
        SERVER_TOKEN: expected.token,
      },
      timeout: TIMEOUT_MS,
      maxBuffer: MAX_OUTPUT_BYTES,
    })
    const used = Used.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''))
    const fault = faultIn(used, expected)
    if (fault !== undefined) return { fault }
    return { did: 'state' in used ? 'connects' : 'lists and calls' }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    return { fault: text.slice(-SHOWN_CHARS) }
  }
}
