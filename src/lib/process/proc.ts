import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** What Linux says of processes under /proc (proc(5)). Elsewhere there is nothing, and each answers so. */

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** The fields of stat from the third one on: the second, the name, may hold anything. */
const statFieldsOf = (pid: number): string[] | undefined => {
  const stat = readText(`/proc/${pid}/stat`)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** When the process started, in clock ticks since the machine did; with the pid it names one process for ever. */
export const findStartTime = (pid: number): string | undefined => {
  const fields = statFieldsOf(pid)
  return fields?.[0] === 'Z' ? undefined : fields?.[19]
}

/** The machine's run and the pid namespace: where a pid means something. */
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

/** Processes that have the variable in their environment: whoever inherited it, wherever it went. */
export const listProcessesWith = (name: string, value: string): number[] => {
  const wanted = `${name}=${value}`
  return listPids().filter(pid => {
    const environment = readText(`/proc/${pid}/environ`)
    return environment?.split('\0').includes(wanted) === true && findStartTime(pid) !== undefined
  })
}

const VM_RSS = /^VmRSS:\s+(\d+) kB$/m

const readOrNothing = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')

/** Memory that a process and all under it hold, in bytes; 0 where nothing is known of it. */
export const measureMemory = async (pid: number): Promise<number> => {
  const [status, children] = await Promise.all([
    readOrNothing(`/proc/${pid}/status`),
    readOrNothing(`/proc/${pid}/task/${pid}/children`),
  ])
  const own = Number(VM_RSS.exec(status)?.[1] ?? 0) * 1_024
  const below = await Promise.all(children.split(' ').filter(Boolean).map(Number).map(measureMemory))
  return below.reduce((sum, bytes) => sum + bytes, own)
}
