import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const visit = (root, path, skip, addFile) => {
  if (skip.includes(path)) return
  let entries
  try {
    entries = readdirSync(join(root, path), { withFileTypes: true })
  } catch (error) {
    if (error.code === 'ENOENT') return
    if (error.code !== 'ENOTDIR') throw error
    addFile(path)
    return
  }
  // Sort by code unit, which is the same everywhere. The order of `readdir` is not.
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const child = `${path}/${entry.name}`
    if (entry.isFile() && !skip.includes(child)) addFile(child)
    else visit(root, child, skip, addFile)
  }
}

/** Returns a hash of `facts` and of what `update` adds for each file. */
const hashFiles = (root, { paths, skip = [], facts = [] }, update) => {
  const hash = createHash('sha256').update(facts.join('\0'))
  for (const path of paths) visit(root, path, skip, file => update(hash, file))
  return hash.digest('hex')
}

/**
 * Returns a hash of `facts` and the content of `paths` (files or folders, relative to `root`), except `skip`. Uses
 * content rather than times, because a fresh checkout or a copy has the same content but new times.
 */
export const fingerprint = (root, inputs) =>
  hashFiles(root, inputs, (hash, path) =>
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0'),
  )

/**
 * Returns a hash of the names, sizes and times of the same files, ten times as fast as reading them. The hash changes
 * whenever a file is written, because the time of a file's last change (ctime) cannot be set back.
 */
export const glance = (root, inputs) =>
  hashFiles(root, inputs, (hash, path) => {
    const { size, mtimeMs, ctimeMs, ino } = statSync(join(root, path))
    hash.update(`${path}\0${size} ${mtimeMs} ${ctimeMs} ${ino}\0`)
  })

/** Records the inputs for which each step last ran, in one file per step. */
export const createStamps = folder => ({
  read: step => (existsSync(join(folder, step)) ? readFileSync(join(folder, step), 'utf8') : undefined),
  write: (step, value) => writeFileSync(join(folder, step), value),
  /** Called before a step starts, so that an interrupted step does not count as done. */
  remove: step => rmSync(join(folder, step), { force: true }),
})
