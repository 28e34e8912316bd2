import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** Reads process information from /proc on Linux (proc(5)). On other systems, the results are empty. */

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** Returns the fields of `stat` from the third on: the second, the process name, may contain spaces and parentheses. */
const statFieldsOf = (pid: number): string[] | undefined => {
  const stat = readText(`/proc/${pid}/stat`)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/**
 * Returns the start time of a process, in clock ticks since boot. Together with the pid, it uniquely identifies the
 * process.
 */
export const findStartTime = (pid: number): string | undefined => {
  const fields = statFieldsOf(pid)
  return fields?.[0] === 'Z' ? undefined : fields?.[19]
}

/** Returns the boot id and the pid namespace, which form the scope in which a pid is unique. */
export const findPidScope = (): string | undefined => {
  const boot = readText('/proc/sys/kernel/random/boot_id')?.trim()
  try {
    return boot === undefined ? undefined : `${boot} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return undefined
  }
}

const listPids = (): number[] => {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isSafeInteger)
  } catch {
    return []
  }
}

/**
 * Returns the processes with this variable in their environment: all descendants that inherited it, even if detached.
 */
export const listProcessesWith = (name: string, value: string): number[] => {
  const wanted = `${name}=${value}`
  return listPids().filter(pid => {
    const environment = readText(`/proc/${pid}/environ`)
    return environment?.split('\0').includes(wanted) === true && findStartTime(pid) !== undefined
  })
}

const VM_RSS = /^VmRSS:\s+(\d+) kB$/m

const readOrNothing = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')

/** Returns the memory used by a process and its descendants, in bytes; 0 if unknown. */
export const measureMemory = async (pid: number): Promise<number> => {
  const [status, children] = await Promise.all([
    readOrNothing(`/proc/${pid}/status`),
    readOrNothing(`/proc/${pid}/task/${pid}/children`),
  ])
  const own = Number(VM_RSS.exec(status)?.[1] ?? 0) * 1_024
  const below = await Promise.all(children.split(' ').filter(Boolean).map(Number).map(measureMemory))
  return below.reduce((sum, bytes) => sum + bytes, own)
}
