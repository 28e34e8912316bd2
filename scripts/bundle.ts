import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative, resolve } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'
import { bundleScripts } from './bundle-scripts.ts'
import { listLicences } from './licences.ts'

// Replaces the compiled program with a bundle that includes its libraries. The bundle starts faster than 1,500 modules
// and needs no packages other than those with native parts. Usage: node scripts/bundle.ts FOLDER
const ROOT = join(import.meta.dirname, '..')
const folder = resolve(process.argv[2] ?? 'dist')

/** Packages with native parts, which are installed with Patchbay. All other packages are devDependencies. */
const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
/** An optional native part of pg, which is never installed. */
const NEVER_INSTALLED = 'pg-native'

/** Files that the running program finds by name: data, scripts for a sandbox, a thread's module. */
const COPIED = {
  '@prisma/client': ['runtime/query_compiler_small_bg.{sqlite,postgresql}.wasm-base64.mjs'],
  'gpt-tokenizer': ['data/o200k_base.tiktoken'],
  'htmx.org': ['dist/htmx.min.js'],
  jmespath: ['jmespath.js'],
  jsonata: ['jsonata.js'],
  piscina: ['dist/**/*.{js,mjs}'],
}
/** Packages that are imported by name when first needed. */
const LOADED_LATER = ['@modelcontextprotocol/client']

const packageFolder = (name: string): string => join(ROOT, 'node_modules', name)

const compiled = globSync(['cli/main.js', '**/*.worker.js'], { cwd: folder }).map(path => path.replaceAll('\\', '/'))
/** Entry points: the program, its threads and processes, and the packages above. */
const input = {
  ...Object.fromEntries(compiled.map(path => [path.replace(/\.js$/, ''), join(folder, path)])),
  ...Object.fromEntries(LOADED_LATER.map(name => [`node_modules/${name}/index`, name])),
}

const ADDRESS = /"address-in-the-build:([^"]+)"/g

/** Keeps `import.meta.url` as it was in the compiled module, since files are found relative to it. */
const keepAddresses: Plugin = {
  name: 'keep-addresses',
  transform: (code, id) => {
    if (!id.startsWith(folder) || !code.includes('import.meta.url')) return
    const path = relative(folder, id).replaceAll('\\', '/')
    return { code: code.replaceAll('import.meta.url', JSON.stringify(`address-in-the-build:${path}`)) }
  },
  renderChunk: (code, { fileName }) =>
    code.replace(ADDRESS, (_, path) => {
      const fromChunk = JSON.stringify(posix.relative(posix.dirname(fileName), path))
      return `new URL(${fromChunk}, import.meta.url).href`
    }),
}

const bundle = await rolldown({
  input,
  cwd: ROOT,
  platform: 'node',
  external: [
    ...Object.keys(dependencies),
    ...Object.keys(optionalDependencies),
    ...Object.keys(COPIED),
    NEVER_INSTALLED,
  ],
  // The main file of jsonc-parser loads its other files through a parameter, which bundlers cannot follow.
  resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
  plugins: [keepAddresses],
  checks: { eval: false },
})
const { output } = await bundle.generate({
  entryFileNames: '[name].js',
  chunkFileNames: 'bundle/[name]-[hash].js',
  keepNames: true,
})
await bundle.close()

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

rmSync(folder, { recursive: true })
for (const chunk of output) if (chunk.type === 'chunk') write(chunk.fileName, chunk.code)
for (const [name, patterns] of Object.entries(COPIED)) {
  for (const path of globSync(['package.json', ...patterns], { cwd: packageFolder(name) }))
    cpSync(join(packageFolder(name), path), join(folder, 'node_modules', name, path))
}
for (const name of LOADED_LATER) {
  const { version } = JSON.parse(readFileSync(join(packageFolder(name), 'package.json'), 'utf8'))
  write(`node_modules/${name}/package.json`, JSON.stringify({ name, version, type: 'module', exports: './index.js' }))
}
await bundleScripts(join(folder, 'public/js'))
const modules = output.flatMap(chunk => (chunk.type === 'chunk' ? chunk.moduleIds : []))
write('THIRD-PARTY-LICENSES', listLicences([...modules, ...Object.keys(COPIED).map(name => `${packageFolder(name)}/`)]))
