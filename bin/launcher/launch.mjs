import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Fault, say } from './fault.mjs'
import { alone } from './lock.mjs'
import { fetchNode, findNode, openCache, userCache } from './node.mjs'
import { isReady, prepare } from './preparation.mjs'
import { become, watchOverShell } from './processes.mjs'
import { commandOf, environmentOf, TASKS } from './tasks.mjs'

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/**
 * Completes the outstanding steps for `task` and returns the Node to run it with. Takes the lock only if a step is due.
 */
const prepareCheckout = async (root, task) => {
  const folder = join(root, '.stamps')
  const runtime = join(root, '.runtime')
  const { needs } = TASKS[task]
  const found = findNode(runtime)
  if (found && isReady(needs, root, found, folder)) return found
  mkdirSync(folder, { recursive: true })
  return alone(folder, async () => {
    const node = findNode(runtime) ?? (await fetchNode(runtime, folder))
    await prepare(needs, root, node, folder)
    return node
  })
}

/**
 * Returns the Node to run an installed package with. Such a package is already built and needs no other preparation.
 */
const provideNode = () => {
  const cache = userCache()
  const found = findNode(cache)
  if (found) return found
  openCache(cache)
  return alone(cache, async () => findNode(cache) ?? (await fetchNode(cache, cache)))
}

const provide = async task => {
  if (existsSync(join(ROOT, 'src'))) return prepareCheckout(ROOT, task)
  if (existsSync(join(ROOT, 'dist/cli/main.js'))) return provideNode()
  throw new Fault(`${ROOT} holds neither src/ nor dist/: the copy of Patchbay is incomplete, get a complete one`)
}

const WRITE_FAULTS = {
  EACCES: 'is not writable: run as its owner, or make it writable',
  EPERM: 'is not writable: run as its owner, or make it writable',
  EROFS: 'is on a read-only file system: copy the checkout to a writable one',
  ENOSPC: 'is on a full disk: free some space',
  EDQUOT: 'is over its disk quota: free some space',
}

/**
 * Prepares `task` from tasks.mjs and runs it with `args`. For a failure that the user can fix, prints one line and
 * exits with code 1.
 */
export const launch = async (task, args) => {
  watchOverShell()
  try {
    if (!Object.hasOwn(TASKS, task ?? ''))
      throw new Fault(`unknown task ${task}: choose from ${Object.keys(TASKS).join(', ')}`)
    const node = await provide(task)
    if (TASKS[task].run === undefined) return
    become({ ...node, env: { ...environmentOf(task, ROOT), ...node.env } }, [...commandOf(task, ROOT), ...args])
  } catch (error) {
    if (error instanceof Fault) say(error.message)
    else if (WRITE_FAULTS[error.code]) say(`${error.path ?? ROOT} ${WRITE_FAULTS[error.code]}`)
    else throw error
    process.exitCode = 1
  }
}
