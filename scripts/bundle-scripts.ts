import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

const SOURCE = join(import.meta.dirname, '../public/js')

/** Leaves `import('./name.js')` as it is, for what a page seldom needs, with a URL that browsers can cache for ever. */
const keepDynamicImports = (version: string): Plugin => ({
  name: 'keep-dynamic-imports',
  resolveDynamicImport: specifier =>
    typeof specifier === 'string' ? { id: `${specifier}?v=${version}`, external: 'absolute' } : null,
})

/**
 * Writes each script in `public/js` as one small file with all modules that it imports, so that a page needs few
 * requests. Two scripts that import a module get a copy each, so such a module must not hold state.
 */
export const bundleScripts = async (folder: string): Promise<void> => {
  mkdirSync(folder, { recursive: true })
  const names = readdirSync(SOURCE).sort()
  const hash = createHash('sha256')
  for (const name of names) hash.update(readFileSync(join(SOURCE, name)))
  const plugins = [keepDynamicImports(hash.digest('hex').slice(0, 10))]
  for (const name of names) {
    const bundle = await rolldown({ input: join(SOURCE, name), platform: 'browser', plugins })
    const { output } = await bundle.generate({ minify: true })
    await bundle.close()
    writeFileSync(join(folder, name), output[0].code)
  }
}
