import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { createPrepared, createProject } from './project.ts'

vi.setConfig({ testTimeout: 60_000 })

/** npm sets this. The launcher then stays as the parent, as it must where a process cannot replace itself. */
const UNDER_NPM = { npm_lifecycle_event: 'start' }

describe.each([
  { how: 'that has replaced itself with the command', env: {} },
  { how: 'that stays the parent of the command', env: UNDER_NPM },
])('a launcher $how', ({ env }) => {
  it('passes SIGTERM on and ends with the exit code of the command', async () => {
    const project = await createPrepared()
    const running = project.start(['serve'], { env })
    await running.said('"serve"')
    running.kill('SIGTERM')
    const { stdout, code } = await running.ended
    expect(stdout).toContain('stopped by SIGTERM')
    expect(code).toBe(7)
  })

  it('leaves no process behind when it is killed', async () => {
    const project = await createPrepared()
    const running = project.start(['serve'], { env })
    await running.said('"serve"')
    running.kill('SIGKILL')
    // Standard output closes once every process that holds it open has ended, including the command.
    await running.ended
  })
})

/** Starts an orphan and waits until it has been reaped. Then runs until it is stopped. */
const WITH_ORPHAN = `
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
const orphan = execFileSync('sh', ['-c', 'sleep 0.1 >/dev/null & echo $!'], { encoding: 'utf8' }).trim()
setInterval(() => {
  if (!existsSync('/proc/' + orphan)) console.log('reaped')
}, 50)
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => console.log('received', signal))
process.on('SIGTERM', () => process.exit(7))
`

const UNSHARE = ['--pid', '--fork', '--mount-proc', '--kill-child']
const canUnshare = spawnSync('unshare', [...UNSHARE, 'true']).status === 0

describe.runIf(canUnshare)('a launcher that is the first process of a container', () => {
  it('reaps orphans, passes signals on, and ends with the exit code of the command', async () => {
    const project = await createPrepared()
    await project.write('src/cli/main.ts', WITH_ORPHAN)
    const running = project.startShell(`exec unshare ${UNSHARE.join(' ')} "${process.execPath}" bin/patchbay serve`)
    await running.said('reaped')
    const first = Number(readFileSync(`/proc/${running.pid}/task/${running.pid}/children`, 'utf8'))
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
      process.kill(first, signal)
      await running.said(`received ${signal}`)
    }
    expect(await running.ended).toMatchObject({ code: 7 })
  })
})

describe('a launcher under npm', () => {
  it('treats the death of its parent shell, which passes no signal on, as SIGTERM', async () => {
    const project = await createPrepared()
    const running = project.startShell(`"${process.execPath}" bin/patchbay serve; exit`, UNDER_NPM)
    await running.said('"serve"')
    running.kill('SIGTERM')
    expect((await running.ended).stdout).toContain('stopped by SIGTERM')
  })
})

describe('npm run dev', () => {
  it('runs from the sources and restarts when one changes, until it is stopped', async () => {
    const project = await createProject()
    const running = project.startShell(`exec "${process.execPath}" bin/task.mjs dev`, UNDER_NPM)
    await running.said('"serve"')
    await project.write('src/cli/main.ts', "console.log('changed'); setInterval(() => {}, 1_000)\n")
    await running.said('changed')
    running.kill('SIGTERM')
    await running.ended
  })
})

describe('a launcher that is stopped while it prepares', () => {
  it('ends the step and itself, and the next start prepares again', async () => {
    const project = await createPrepared()
    await project.write('scripts/generate.ts', "process.kill(process.ppid, 'SIGTERM'); setInterval(() => {}, 1_000)\n")
    const running = project.start(['anything'])
    expect((await running.ended).code).toBe(143)
    await project.write(
      'scripts/generate.ts',
      "import { mkdirSync } from 'node:fs'\nmkdirSync('src/lib/db/generated', { recursive: true })\n",
    )
    expect((await project.run(['count', '3'])).code).toBe(3)
  })
})
