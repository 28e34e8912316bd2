import { types } from 'node:util'
import { createContext, Script } from 'node:vm'

const bench: { work: () => void } = { work: () => undefined }
const context = createContext(bench)
const script = new Script('work()')

const runs = (timeoutMs: number, work: () => void): boolean => {
  bench.work = work
  try {
    script.runInContext(context, { timeout: timeoutMs })
    return true
  } catch (error) {
    // The error belongs to the other context, so `instanceof` would fail.
    if (types.isNativeError(error) && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
    throw error
  } finally {
    bench.work = () => undefined
  }
}

/** Maximum attempts. On a busy machine, each gets only part of the CPU time, so each may take twice as long as the last. */
const MAX_TRIES = 3

/** CPU time of this thread, in milliseconds. Node 22 counts only that of all threads. */
const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage()
  return (user + system) / 1_000
}

/**
 * Runs `work` for at most `timeoutMs` and returns whether it finished. Tries again, for longer, if the machine was busy
 * with something else. `reset` runs before each further attempt, without a limit, because an interrupted attempt may
 * have left its state half changed. Each call costs 0.1 ms, because only a script of node:vm can be interrupted.
 */
export const isDoneWithin = (timeoutMs: number, work: () => void, reset?: () => void): boolean => {
  let usedMs = 0
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (tries > 0) reset?.()
    const before = cpuMs()
    if (runs(timeoutMs * 2 ** tries, work)) return true
    usedMs += cpuMs() - before
    if (usedMs >= timeoutMs / 2) return false
  }
  return false
}
