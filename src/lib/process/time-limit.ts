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
    // It is an Error of the context, not of this realm.
    if (types.isNativeError(error) && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
    throw error
  } finally {
    bench.work = () => undefined
  }
}

/** A machine that does everything else as well gives it a part of each try. */
const MAX_TRIES = 5

/**
 * Runs `work` for so many milliseconds at most; whether it came to its end. It is tried again where the machine was busy
 * elsewhere: `isRetry` says so, for what was interrupted may be half-way through changing what it holds. It costs 0.1 ms:
 * only a script of node:vm can be ended.
 */
export const isDoneWithin = (timeoutMs: number, work: (isRetry: boolean) => void): boolean => {
  const before = process.cpuUsage()
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (runs(timeoutMs, () => work(tries > 0))) return true
    const { user, system } = process.cpuUsage(before)
    if ((user + system) / 1_000 >= timeoutMs / 2) return false
  }
  return false
}
