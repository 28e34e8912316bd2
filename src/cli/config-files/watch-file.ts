import { unwatchFile, watch, watchFile } from 'node:fs'
import { basename, dirname } from 'node:path'

/** Editors write a file in several steps, and some put another in its place. */
const SETTLE_MS = 50
/** What the folder's own events miss: a link to a file elsewhere, and file systems of the network. */
const LOOK_EVERY_MS = 1_000

/** Calls `onChange` some moments after a file changed, was replaced, went or came. Answers what ends that. */
export const watchForChanges = (path: string, onChange: () => void): (() => void) => {
  let waiting: NodeJS.Timeout | undefined
  const notice = (): void => {
    clearTimeout(waiting)
    waiting = setTimeout(onChange, SETTLE_MS)
  }
  const folder = watch(dirname(path), { persistent: false }, (_event, name) => {
    if (name === null || name === basename(path)) notice()
  })
  // The folder may go, too; the looks go on.
  folder.on('error', () => folder.close())
  watchFile(path, { interval: LOOK_EVERY_MS, persistent: false }, notice)
  return () => {
    clearTimeout(waiting)
    folder.close()
    unwatchFile(path, notice)
  }
}
