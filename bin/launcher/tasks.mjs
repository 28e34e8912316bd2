import { join } from 'node:path'

/**
 * Node 24 lets the young generation grow to 128 MB, more than Patchbay uses in total. This flag restores the 32 MB of
 * Node 22, which saves 60 MB under load. With a smaller size, collections are so frequent that calls slow down: only for
 * a Patchbay that has little memory.
 */
const YOUNG_MEMORY = '--max-semi-space-size=16'
const LITTLE_YOUNG_MEMORY = '--max-semi-space-size=2'
/** In MiB. */
const LITTLE_MEMORY_MB = 512
/** Without a limit, this is 0, undefined (old versions of Node) or a number larger than any memory. */
const containerMb = () => (process.constrainedMemory?.() || Number.POSITIVE_INFINITY) / 2 ** 20
const hasLittleMemory = () => (Number(process.env.PATCHBAY_MEMORY_MB) || containerMb()) < LITTLE_MEMORY_MB
/**
 * V8 would allocate objects in the old generation if earlier objects from the same place in the code survived for a
 * while. After a burst of calls it would do so for objects that live only as long as a call, and then collect the old
 * generation again and again.
 */
const ALLOCATE_YOUNG = '--no-allocation-site-pretenuring'
/**
 * Bytes of free memory that glibc keeps at the end of its heap. By default, glibc keeps up to twice the longest
 * response so far, and 10 MB more than needed. With a fixed value, each block of 128 kB or more is mapped separately,
 * at no measurable cost to calls.
 */
const GIVES_BACK = { MALLOC_TRIM_THRESHOLD_: '1000000' }
/** Where Node caches compiled code for the next start. Deleted with the build; not used if it is not writable. */
const COMPILED_CODE = { NODE_COMPILE_CACHE: 'dist/.compile-cache' }

/**
 * What each task needs and runs (arguments for Node, followed by the user's own), and its default environment
 * variables. `needs` is the last preparation step: `dependencies` < `generated` < `built`. `build` runs nothing else.
 */
export const TASKS = {
  command: {
    needs: 'built',
    run: [hasLittleMemory() ? LITTLE_YOUNG_MEMORY : YOUNG_MEMORY, ALLOCATE_YOUNG, 'dist/cli/main.js'],
    env: { ...GIVES_BACK, ...COMPILED_CODE },
  },
  build: { needs: 'built' },
  dev: { needs: 'generated', run: ['--watch', '--watch-preserve-output', 'src/cli/main.ts', 'serve'] },
  test: { needs: 'built', run: ['node_modules/vitest/vitest.mjs', 'run'] },
  check: { needs: 'generated', run: ['scripts/check.ts'] },
  format: { needs: 'dependencies', run: ['node_modules/@biomejs/biome/bin/biome', 'check', '--write'] },
  bench: { needs: 'built', run: ['bench/run.ts'] },
  clients: { needs: 'built', run: ['scripts/clients/run.ts'] },
  descriptions: { needs: 'dependencies', run: ['scripts/descriptions.ts'] },
  generate: { needs: 'dependencies', run: ['scripts/generate.ts'] },
  screenshots: { needs: 'built', run: ['scripts/screenshots.ts'] },
  migration: { needs: 'generated', run: ['scripts/new-migration.ts'] },
}

/** Makes a path in the checkout absolute, so that the user can start the task from any folder. */
const locate = (part, root) => (part.includes('/') ? join(root, part) : part)

export const commandOf = (task, root) => TASKS[task].run.map(part => locate(part, root))

export const environmentOf = (task, root) =>
  Object.fromEntries(Object.entries(TASKS[task].env ?? {}).map(([name, value]) => [name, locate(value, root)]))
