import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const visit = (hash, root, path, skip) => {
  if (skip.includes(path)) return
  let entries
  try {
    entries = readdirSync(join(root, path), { withFileTypes: true })
  } catch (error) {
    if (error.code === 'ENOENT') return
    if (error.code !== 'ENOTDIR') throw error
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0')
    return
  }
  // In code unit order, which is the same everywhere: readdir's is not.
  for (const name of entries.map(entry => entry.name).sort()) visit(hash, root, `${path}/${name}`, skip)
}

/**
 * A hash over the content of `paths` (files or folders, relative to `root`) but not `skip`, and over `facts`.
 * Content, not times: a fresh checkout or a copy has new times and the same content.
 */
export const fingerprint = (root, { paths, skip = [], facts = [] }) => {
  const hash = createHash('sha256').update(facts.join('\0'))
  for (const path of paths) visit(hash, root, path, skip)
  return hash.digest('hex')
}

/** The record of what a step was last done for, one file a step. */
export const createStamps = folder => ({
  read: step => (existsSync(join(folder, step)) ? readFileSync(join(folder, step), 'utf8') : undefined),
  write: (step, value) => writeFileSync(join(folder, step), value),
  /** Before a step starts: if it is cut short, it counts as not done. */
  remove: step => rmSync(join(folder, step), { force: true }),
})
