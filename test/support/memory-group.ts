import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { atEndOfFile } from './end-of-file.ts'

const ROOT = '/sys/fs/cgroup'

/** The files of the two versions of cgroups. A limit for swap is set where the kernel has one. */
const VERSIONS = [
  { parent: ROOT, mark: 'cgroup.controllers', memory: 'memory.max', swap: 'memory.swap.max', swapLimit: '0' },
  {
    parent: join(ROOT, 'memory'),
    mark: 'memory.limit_in_bytes',
    memory: 'memory.limit_in_bytes',
    swap: 'memory.memsw.limit_in_bytes',
    swapLimit: undefined,
  },
]

let groups = 0

/**
 * Creates a cgroup with this much memory, which is removed after this test file. Returns the file that takes the ids of
 * its processes, or undefined where no cgroup can be created: outside Linux, and without the permission.
 */
export const createMemoryGroup = (megabytes: number): string | undefined => {
  const limit = String(megabytes * 1_024 * 1_024)
  const version = VERSIONS.find(({ parent, mark }) => existsSync(join(parent, mark)))
  if (version === undefined) return undefined
  const directory = join(version.parent, `patchbay-test-${process.pid}-${++groups}`)
  try {
    mkdirSync(directory)
    atEndOfFile(() => existsSync(directory) && rmdirSync(directory))
    writeFileSync(join(directory, version.memory), limit)
    const swap = join(directory, version.swap)
    if (existsSync(swap)) writeFileSync(swap, version.swapLimit ?? limit)
    return readFileSync(join(directory, version.memory), 'utf8').trim() === limit
      ? join(directory, 'cgroup.procs')
      : undefined
  } catch {
    return undefined
  }
}
