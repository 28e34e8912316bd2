import { join } from 'node:path'

/**
 * Node 24 lets the part of memory for what is young grow to 128 MB, more than all that Patchbay holds. This is as much
 * as Node 22 took, 32 MB: a smaller one is collected so often that calls notice.
 */
const YOUNG_MEMORY = '--max-semi-space-size=16'
/**
 * What survives there is little: one thread copies it in a third of a millisecond, where several wait for each other,
 * on a busy machine for many times as long.
 */
const ONE_COLLECTOR = '--no-parallel-scavenge'
/**
 * What a call makes is soon gone, but for a few answers that wait to be counted. Where V8 sees only those for a while,
 * it takes all others for old from their beginning, and collects all that is old once a second.
 */
const ALL_BEGINS_YOUNG = '--no-allocation-site-pretenuring'
/**
 * V8's own threads, which collect and compile beside the program. Four, as Node has them, keep 10 MB more and are no
 * quicker for a program whose own work is done by one thread.
 */
const FEW_HELPERS = '--v8-pool-size=2'
/**
 * Bytes at the end of glibc's heap that it keeps when they are free. Left alone it keeps twice the longest answer there
 * ever was, and 10 MB more than it needs. What is 128 kB or longer is then mapped by itself each time, which costs calls
 * nothing that could be measured.
 */
const GIVES_BACK = { MALLOC_TRIM_THRESHOLD_: '1000000' }

/**
 * What each task needs and what it runs (arguments for Node; the user's own follow), with what is in its environment
 * unless the user says otherwise. `needs` is the last step of preparation: `dependencies` < `generated` < `built`.
 */
export const TASKS = {
  command: {
    needs: 'built',
    run: [YOUNG_MEMORY, ONE_COLLECTOR, ALL_BEGINS_YOUNG, FEW_HELPERS, 'dist/cli/main.js'],
    env: GIVES_BACK,
  },
  dev: { needs: 'generated', run: ['--watch', '--watch-preserve-output', 'src/cli/main.ts', 'serve'] },
  test: { needs: 'built', run: ['node_modules/vitest/vitest.mjs', 'run'] },
  check: { needs: 'generated', run: ['scripts/check.ts'] },
  format: { needs: 'dependencies', run: ['node_modules/@biomejs/biome/bin/biome', 'check', '--write'] },
  bench: { needs: 'built', run: ['bench/run.ts'] },
  generate: { needs: 'dependencies', run: ['scripts/generate.ts'] },
  screenshots: { needs: 'built', run: ['scripts/screenshots.ts'] },
  migration: { needs: 'generated', run: ['scripts/new-migration.ts'] },
}

/** `run` with the paths of the checkout made absolute, so that the user's working folder can be any. */
export const commandOf = (task, root) => TASKS[task].run.map(part => (part.includes('/') ? join(root, part) : part))

export const environmentOf = task => TASKS[task].env ?? {}
