import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const PROGRAM = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
)

/** The format of a failed check, name first. */
const FAILED_CHECK = /^ {2}- (\w+): /gm

export type ScenarioRun = {
  /** 0 if every check passed. */
  code: number
  output: string
  /** Names of the failed checks. */
  failed: string[]
}

/** Runs one scenario of the official suite against a server. */
export const runScenario = (url: string, specVersion: string, scenario: string): Promise<ScenarioRun> =>
  new Promise((resolve, reject) => {
    const args = [PROGRAM, 'server', '--url', url, '--spec-version', specVersion, '--scenario', scenario]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.on('data', chunk => {
      output += chunk
    })
    child.stderr.on('data', chunk => {
      output += chunk
    })
    child.once('error', reject)
    child.once('close', code =>
      resolve({ code: code ?? 1, output, failed: [...output.matchAll(FAILED_CHECK)].map(([, name = '']) => name) }),
    )
  })
