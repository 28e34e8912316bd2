import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { compileCache } from './compile-cache.ts'

/** The variable that marks every process that a test run starts, to find processes that outlive the run. */
const VARIABLE = 'TEST_RUN_MARK'

/** Processes may take a moment to exit. */
const EXIT_TIMEOUT_MS = 10_000
const POLL_INTERVAL_MS = 100

/** Returns the variables for a process that is started with its own environment: the mark and the compile cache. */
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

/** Lists the processes of the run with their commands, except Vitest's own processes, which Vitest ends itself. */
const listMarked = (mark: string): { pid: number; command: string }[] =>
  (existsSync('/proc') ? readdirSync('/proc') : [])
    .map(Number)
    .filter(pid => Number.isSafeInteger(pid) && pid !== process.pid)
    .filter(pid => readText(`/proc/${pid}/environ`).split('\0').includes(`${VARIABLE}=${mark}`))
    .map(pid => ({ pid, command: readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim() }))
    .filter(({ command }) => command !== '' && !command.includes('vitest'))

/** Vitest's globalSetup: fails the run if a process that a test started is still running after the last test file. */
export default function setUp(): () => Promise<void> {
  const mark = randomUUID()
  process.env[VARIABLE] = mark
  return async () => {
    const until = performance.now() + EXIT_TIMEOUT_MS
    while (listMarked(mark).length > 0 && performance.now() < until) await wait(POLL_INTERVAL_MS)
    const left = listMarked(mark)
    for (const { pid } of left) process.kill(pid, 'SIGKILL')
    if (left.length > 0) {
      throw new Error(`processes outlived the tests: ${left.map(({ pid, command }) => `${pid} ${command}`).join('; ')}`)
    }
  }
}
