import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Fault, say } from './fault.mjs'
import { alone } from './lock.mjs'
import { fetchNode, findNode, requireNode } from './node.mjs'
import { doSteps, stepsToDo } from './preparation.mjs'
import { become, watchOverShell } from './processes.mjs'
import { commandOf, environmentOf, TASKS } from './tasks.mjs'

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** Sees to all that `task` needs and gives the Node to run it with. Only what is missing takes the lock and writes. */
const prepare = async (root, task) => {
  const folder = join(root, '.stamps')
  const isReady = node => node && stepsToDo(TASKS[task].needs, root, node, folder).length === 0
  const found = findNode(root)
  if (isReady(found)) return found
  mkdirSync(folder, { recursive: true })
  return alone(folder, async () => {
    const node = findNode(root) ?? (await fetchNode(root, folder))
    await doSteps(stepsToDo(TASKS[task].needs, root, node, folder), root, node, folder)
    return node
  })
}

const provide = async task => {
  // An image holds what was built and nothing to build from: it runs as it is.
  if (existsSync(join(ROOT, 'src'))) return prepare(ROOT, task)
  if (existsSync(join(ROOT, 'dist/cli/main.js'))) return requireNode()
  throw new Fault(`${ROOT} holds neither src/ nor dist/: get a whole copy of Patchbay`)
}

const WRITE_FAULTS = {
  EACCES: 'is not writable: run as its owner, or make it writable',
  EPERM: 'is not writable: run as its owner, or make it writable',
  EROFS: 'is on a read-only file system: copy the checkout to where it can be written',
  ENOSPC: 'is on a full disk: make room',
  EDQUOT: 'is over its disk quota: make room',
}

/** Runs `task` of tasks.mjs with `args`, after seeing to all it needs. What the user can mend ends it in one line, 1. */
export const launch = async (task, args) => {
  watchOverShell()
  try {
    if (!Object.hasOwn(TASKS, task ?? ''))
      throw new Fault(`no task ${task}: there are ${Object.keys(TASKS).join(', ')}`)
    const node = await provide(task)
    become({ ...node, env: { ...environmentOf(task), ...node.env } }, [...commandOf(task, ROOT), ...args])
  } catch (error) {
    if (error instanceof Fault) say(error.message)
    else if (WRITE_FAULTS[error.code]) say(`${error.path ?? ROOT} ${WRITE_FAULTS[error.code]}`)
    else throw error
    process.exitCode = 1
  }
}
