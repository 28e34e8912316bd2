import { unwatchFile, watch, watchFile } from 'node:fs'
import { basename, dirname } from 'node:path'

/** Editors write a file in several steps, and some replace it. */
const SETTLE_MS = 50
/** Interval for changes that folder events miss: a link to a file elsewhere, and network file systems. */
const POLL_INTERVAL_MS = 1_000

/**
 * Calls `onChange` shortly after a file was changed, replaced, deleted or created. Returns a function that stops
 * watching.
 */
export const watchForChanges = (path: string, onChange: () => void): (() => void) => {
  let waiting: NodeJS.Timeout | undefined
  const notice = (): void => {
    clearTimeout(waiting)
    waiting = setTimeout(onChange, SETTLE_MS)
  }
  const folder = watch(dirname(path), { persistent: false }, (_event, name) => {
    if (name === null || name === basename(path)) notice()
  })
  // If the folder is deleted, polling continues.
  folder.on('error', () => folder.close())
  watchFile(path, { interval: POLL_INTERVAL_MS, persistent: false }, notice)
  return () => {
    clearTimeout(waiting)
    folder.close()
    unwatchFile(path, notice)
  }
}
