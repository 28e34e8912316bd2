import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const PACKAGE = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')
const PROGRAM = join(dirname(PACKAGE), 'dist/index.js')

export const REVISIONS = ['2025-11-25', '2026-07-28'] as const

/** Runs the scenarios of a revision against a server with the official conformance suite. */
export const runSuite = (
  url: string,
  revision: string,
  ...options: readonly string[]
): Promise<{ code: number | string; output: string }> =>
  new Promise(resolve => {
    const args = [PROGRAM, 'server', '--url', url, '--requirements', revision, ...options]
    execFile(process.execPath, args, { maxBuffer: 64 * 1_024 * 1_024 }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    )
  })
