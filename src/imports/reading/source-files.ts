import { createHash } from 'node:crypto'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A document of a source while it is read: a file in the data folder. `name` is its URL or the name of the file. */
export type SourceFile = { name: string; path: string; size: number; sha256: string }

const PRIVATE = 0o600
const PRIVATE_FOLDER = 0o700

/**
 * Keeps the documents of imports in files while they are read. A large document in memory would be there several times,
 * and the database never has the text of a source.
 */
export const createSourceFiles = (dataDirectory: string) => {
  const root = join(dataDirectory, 'imports')
  const folderOf = (importId: string): string => join(root, importId)
  let count = 0
  return {
    write: async (importId: string, name: string, bytes: Uint8Array): Promise<SourceFile> => {
      const path = join(folderOf(importId), String(count++))
      await mkdir(folderOf(importId), { recursive: true, mode: PRIVATE_FOLDER })
      await writeFile(path, bytes, { mode: PRIVATE })
      return { name, path, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
    },
    remove: (importId: string): Promise<void> => rm(folderOf(importId), { recursive: true, force: true }),
    /** Lists the imports that have files. */
    list: async (): Promise<string[]> => readdir(root).catch(() => []),
  }
}

export type SourceFiles = ReturnType<typeof createSourceFiles>

/** Returns the SHA-256 of a source, in hexadecimal: that of its document, or else of the hashes of all documents. */
export const hashOfSource = (files: readonly SourceFile[]): string => {
  const [first, ...others] = files
  if (first !== undefined && others.length === 0) return first.sha256
  return createHash('sha256')
    .update(files.map(({ sha256 }) => sha256).join('\n'))
    .digest('hex')
}
