import {
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { say } from './fault.mjs'

const BEAT_MS = 2_000
/** A lock that was not touched for this long is abandoned, even if another process now has the holder's process id. */
const SILENT_MS = 30_000
const LOOK_AGAIN_MS = 150

/** Returns the result of `act`, or undefined if the file does not exist. */
const ifThere = act => {
  try {
    return act()
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

const holderOf = path => ifThere(() => readFileSync(path, 'utf8'))

const isAlive = pid => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

const isAbandoned = (path, holder) => {
  const [pid, host] = holder.split(' ')
  if (host === hostname() && !isAlive(Number(pid))) return true
  const seen = ifThere(() => statSync(path).mtimeMs)
  return seen !== undefined && Date.now() - seen > SILENT_MS
}

const tryTake = (path, token) => {
  try {
    const file = openSync(path, 'wx')
    writeSync(file, token)
    closeSync(file)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

/** Removes an abandoned lock. If another start has already replaced it with its own lock, restores that lock. */
const clear = (path, abandonedBy) => {
  const aside = `${path}.${process.pid}`
  try {
    renameSync(path, aside)
    if (readFileSync(aside, 'utf8') !== abandonedBy) linkSync(aside, path)
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

/** Runs `work` while holding the lock on `folder`. Two concurrent starts would break each other's `npm ci`. */
export const alone = async (folder, work) => {
  const path = join(folder, 'lock')
  const token = `${process.pid} ${hostname()} ${Date.now()}`
  let hasSaid = false
  while (!tryTake(path, token)) {
    const holder = holderOf(path)
    if (holder === undefined) continue
    if (isAbandoned(path, holder)) {
      clear(path, holder)
      continue
    }
    if (!hasSaid) say('another start is preparing Patchbay, waiting for it to finish')
    hasSaid = true
    await pause(LOOK_AGAIN_MS)
  }
  const beat = setInterval(() => ifThere(() => utimesSync(path, new Date(), new Date())), BEAT_MS)
  const release = () => {
    if (holderOf(path) === token) rmSync(path, { force: true })
  }
  process.once('exit', release)
  try {
    return await work()
  } finally {
    clearInterval(beat)
    process.removeListener('exit', release)
    release()
  }
}
