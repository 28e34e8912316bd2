import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const CLIENTS = join(import.meta.dirname, '../src/platform/db/generated')
const IMPORT = /const \{ wasm \} = await import\(("@prisma\/client\/runtime\/[\w.-]+\.mjs")\)/g

/**
 * Prisma imports the bytes of its query compiler as a module that holds them as text, and 4 MB stay in memory for good.
 * Changed like this, a generated client reads them out of that module's file.
 */
export const lightenClient = (kind: 'sqlite' | 'postgresql'): void => {
  const file = join(CLIENTS, kind, 'internal/class.ts')
  const source = readFileSync(file, 'utf8')
  if (source.match(IMPORT)?.length !== 1) throw new Error(`${file} should import its query compiler exactly once`)
  const reading = `const [{ readFile }, { createRequire }] = await Promise.all([import('node:fs/promises'), import('node:module')])
    const [, wasm] = (await readFile(createRequire(import.meta.url).resolve($1), 'latin1')).split('"')`
  writeFileSync(file, source.replace(IMPORT, reading))
}
