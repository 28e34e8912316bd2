import { relative, resolve } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

// Bundles the compiled program into a few files in place, libraries included: finding and compiling 1,500 modules took
// most of a start. Workers stay as they were compiled. Usage: node scripts/bundle.ts FOLDER
const folder = resolve(process.argv[2] ?? 'dist')
const PROGRAM = 'cli/main'
/** As deep as the folder of the program, so that one relative address leads from both to any module. */
const CHUNKS = 'bundle'

/** Packages that load files the bundler cannot see: native parts, workers, data, modules required by a wrapper. */
const UNBUNDLED = [
  /^@fastify\/swagger$/,
  /^@node-rs\//,
  /^better-sqlite3$/,
  /^jsonc-parser$/,
  /^pg-native$/,
  /^piscina$/,
]

/** Replaces a module's address by that of the compiled module, relative to the bundle: it finds its worker by that. */
const keepAddresses: Plugin = {
  name: 'keep-addresses',
  transform: (code, id) => {
    if (!id.startsWith(folder) || !code.includes('import.meta.url')) return
    const address = JSON.stringify(`../${relative(folder, id).replaceAll('\\', '/')}`)
    return { code: code.replaceAll('import.meta.url', `new URL(${address}, import.meta.url).href`) }
  },
}

const bundle = await rolldown({
  input: { [PROGRAM]: `${folder}/${PROGRAM}.js` },
  platform: 'node',
  external: UNBUNDLED,
  plugins: [keepAddresses],
  checks: { eval: false },
})
await bundle.write({
  dir: folder,
  entryFileNames: '[name].js',
  chunkFileNames: `${CHUNKS}/[name]-[hash].js`,
  keepNames: true,
})
await bundle.close()
