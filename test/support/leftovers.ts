import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { compileCache } from './compile-cache.ts'

/** In the environment of all that a run of the tests starts, commands of upstreams included: by it they are told apart. */
const VARIABLE = 'TEST_RUN_MARK'

/** What has been told to end may take a moment. */
const PATIENCE_MS = 10_000
const LOOK_EVERY_MS = 100

/** Of a test that starts something with an environment of its own: what has to be in that. It starts faster, too. */
export const runMark = (): Record<string, string> => {
  const mark = process.env[VARIABLE]
  return { ...compileCache(), ...(mark !== undefined && { [VARIABLE]: mark }) }
}

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Processes of the run, each with its command; vitest's own, which it ends itself, are not among them. */
const listOf = (mark: string): { pid: number; command: string }[] =>
  (existsSync('/proc') ? readdirSync('/proc') : [])
    .map(Number)
    .filter(pid => Number.isSafeInteger(pid) && pid !== process.pid)
    .filter(pid => readText(`/proc/${pid}/environ`).split('\0').includes(`${VARIABLE}=${mark}`))
    .map(pid => ({ pid, command: readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim() }))
    .filter(({ command }) => command !== '' && !command.includes('vitest'))

/** Vitest's globalSetup: after the last test file, nothing may be left of what any of them started. */
export default function setUp(): () => Promise<void> {
  const mark = randomUUID()
  process.env[VARIABLE] = mark
  return async () => {
    const until = performance.now() + PATIENCE_MS
    while (listOf(mark).length > 0 && performance.now() < until) await wait(LOOK_EVERY_MS)
    const left = listOf(mark)
    for (const { pid } of left) process.kill(pid, 'SIGKILL')
    if (left.length > 0) {
      throw new Error(`processes outlived the tests: ${left.map(({ pid, command }) => `${pid} ${command}`).join('; ')}`)
    }
  }
}
