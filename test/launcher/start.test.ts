import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { follow } from '../support/process.ts'

const ROOT = join(import.meta.dirname, '../..')
const START_MS = 120_000
/** In this case everything is built. If run by hand, `npm start` could rebuild while other tests run. */
const isUnderNpm = process.env.npm_lifecycle_event === 'test'

it.runIf(isUnderNpm)(
  'npm start starts Patchbay, and stopping npm leaves nothing behind',
  async () => {
    const data = mkdtempSync(join(tmpdir(), 'patchbay-start-'))
    onTestFinished(() => rmSync(data, { recursive: true }))
    const running = follow(
      spawn('npm', ['start'], {
        cwd: ROOT,
        env: {
          ...process.env,
          NODE_ENV: undefined,
          DATABASE_URL: `file:${data}/patchbay.db`,
          PATCHBAY_PORT: String(await freePort()),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    )
    await running.said('Patchbay is ready')
    running.kill('SIGTERM')
    // The output closes once the last process that holds it open has ended, so this also waits for the server.
    const { stderr } = await running.ended
    expect(stderr.split('\n').filter(line => line.startsWith('patchbay: '))).toEqual([])
  },
  START_MS,
)
