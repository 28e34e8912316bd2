import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'

// `npm run check`: runs all static checks and prints the output of those that fail.

const ROOT = join(import.meta.dirname, '..')

const CHECKS = [
  { name: 'format and lint', args: ['@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'] },
  { name: 'types', args: ['typescript/bin/tsc', '-p', 'tsconfig.json'] },
  {
    name: 'import rules',
    args: [
      ...['dependency-cruiser/bin/dependency-cruiser.mjs', '--config', '.dependency-cruiser.mjs'],
      ...['src', 'bin', 'test', 'scripts', 'bench'],
    ],
  },
  { name: 'unused code', args: ['knip/bin/knip.js'] },
]

type Check = (typeof CHECKS)[number]

/** Runs one check and returns whether it passed. Prints its output in one piece, only if it failed. */
const run = ({ name, args: [tool = '', ...rest] }: Check): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const startedAt = Date.now()
    const child = spawn(process.execPath, [join(ROOT, 'node_modules', tool), ...rest], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk))
    child.once('error', reject)
    child.once('close', code => {
      const passed = code === 0
      console.log(`${passed ? 'passed' : 'FAILED'}  ${name} (${((Date.now() - startedAt) / 1_000).toFixed(1)} s)`)
      if (!passed) process.stdout.write(Buffer.concat(output))
      resolve(passed)
    })
  })

const waiting = [...CHECKS]
const failed: Check[] = []
const takeTurns = async (): Promise<void> => {
  for (let check = waiting.shift(); check; check = waiting.shift()) {
    if (!(await run(check))) failed.push(check)
  }
}
await Promise.all(Array.from({ length: Math.min(availableParallelism(), CHECKS.length) }, takeTurns))
if (failed.length > 0) {
  console.log(`\nThe check failed: ${failed.map(check => check.name).join(', ')}. Format is mended by npm run format.`)
  process.exitCode = 1
}
