/** Reads the CPU time and memory of processes from /proc on Linux. See proc(5). */
import { readdirSync, readFileSync } from 'node:fs'

/** Length of a clock tick: USER_HZ is 100 on every Linux that Node supports. */
const TICK_MS = 10

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    // The process exited after it was listed.
    return undefined
  }
}

/** Returns the fields of /proc/PID/stat after the command name, which can contain spaces and parentheses. */
const statOf = (pid: number): string[] => {
  const stat = read(`/proc/${pid}/stat`) ?? ''
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** Returns the process and all its descendants. */
export const treeOf = (root: number): number[] => {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name)) parents.set(Number(name), Number(statOf(Number(name))[1]))
  }
  const tree = [root]
  for (const parent of tree) {
    for (const [pid, itsParent] of parents) if (itsParent === parent) tree.push(pid)
  }
  return tree
}

/** Returns the user and system time that all threads of a process have used so far. */
export const ownCpuMsOf = (pid: number): number => {
  const fields = statOf(pid)
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS
}

/** Returns the same for several processes, with their children that have ended. */
export const cpuMsOf = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const ticks = statOf(pid).slice(11, 15)
    return ticks.reduce((ms, field) => ms + Number(field) * TICK_MS, sum)
  }, 0)

/** Returns the user and system time that each thread of a process has used so far, by name of the thread. */
export const threadsOf = (pid: number): Map<string, number> => {
  const times = new Map<string, number>()
  for (const id of readdirSync(`/proc/${pid}/task`)) {
    const stat = read(`/proc/${pid}/task/${id}/stat`) ?? ''
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ms = (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS
    const known = Number(id) === pid ? 'main thread' : name
    times.set(known, (times.get(known) ?? 0) + ms)
  }
  return times
}

/** Returns the resident memory of the processes. Shared pages count once per process. */
export const residentBytesOf = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`) ?? '')?.[1]
    return sum + Number(kilobytes ?? 0) * 1_024
  }, 0)

/**
 * Returns the sum of the largest resident memory that each descendant of a process has had. Leaves out those that have
 * not started their program yet: they share the memory of their parent.
 */
export const peakBytesOfDescendants = (root: number): number => {
  const own = read(`/proc/${root}/cmdline`)
  return treeOf(root).reduce((sum, pid) => {
    if (read(`/proc/${pid}/cmdline`) === own) return sum
    const kilobytes = /VmHWM:\s+(\d+)/.exec(read(`/proc/${pid}/status`) ?? '')?.[1]
    return sum + Number(kilobytes ?? 0) * 1_024
  }, 0)
}

/**
 * Returns the time that the cores were busy: user, nice, system, interrupts, and time stolen by the hypervisor. An empty
 * list means all cores.
 */
export const busyMsOf = (cores: readonly number[]): number => {
  const names = cores.length === 0 ? ['cpu'] : cores.map(core => `cpu${core}`)
  let ticks = 0
  for (const line of (read('/proc/stat') ?? '').split('\n')) {
    const [name = '', user, nice, system, , , irq, softirq, steal] = line.split(/\s+/)
    if (!names.includes(name)) continue
    for (const field of [user, nice, system, irq, softirq, steal]) ticks += Number(field ?? 0)
  }
  return ticks * TICK_MS
}

/** Returns the cores that this process may run on. */
export const allowedCores = (): number[] => {
  const list = /Cpus_allowed_list:\s+(\S+)/.exec(read('/proc/self/status') ?? '')?.[1] ?? ''
  return list
    .split(',')
    .filter(part => part !== '')
    .flatMap(part => {
      const [first = 0, last = first] = part.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    })
}
