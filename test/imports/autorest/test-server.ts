import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../support/free-port.ts'
import { runMark } from '../../support/leftovers.ts'
import { follow, temporaryDirectory } from '../../support/process.ts'

const PACKAGE = join(import.meta.dirname, '../../../node_modules/@microsoft.azure/autorest.testserver')
const PROGRAM = join(PACKAGE, 'dist/cli/cli.js')
const SWAGGER = join(PACKAGE, 'swagger')

/** The host of all descriptions of the test server. */
const DESCRIBED_HOST = 'localhost:3000'

/** The names of the descriptions of the test server, without `.json`. */
export const DESCRIPTIONS: readonly string[] = readdirSync(SWAGGER)
  .flatMap(file => (file.endsWith('.json') ? [file.slice(0, -'.json'.length)] : []))
  .sort()

/** Starts autorest's test server, which answers only requests that are exactly as their scenario wants them. */
export const startTestServer = async () => {
  const host = `127.0.0.1:${await freePort()}`
  const args = [PROGRAM, 'run', `--port=${host.split(':')[1]}`, `--coverageDirectory=${temporaryDirectory()}`]
  const env = { ...process.env, ...runMark() }
  const child = spawn(process.execPath, args, { cwd: temporaryDirectory(), env, stdio: ['ignore', 'pipe', 'pipe'] })
  const running = follow(child)
  await running.said('Started server')
  return {
    origin: `http://${host}`,
    /** Returns a description, with the host at which the server runs. */
    read: (name: string): string =>
      readFileSync(join(SWAGGER, `${name}.json`), 'utf8').replaceAll(DESCRIBED_HOST, host),
    close: async () => {
      running.kill('SIGTERM')
      await running.ended
    },
  }
}
export type TestServer = Awaited<ReturnType<typeof startTestServer>>
