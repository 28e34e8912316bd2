/** Installs the third-party packages and finds their commands. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

export const PACKAGES = join(import.meta.dirname, 'packages')

const Manifest = z.object({
  version: z.string(),
  bin: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
})

const readManifest = (name: string) =>
  Manifest.parse(JSON.parse(readFileSync(join(PACKAGES, 'node_modules', name, 'package.json'), 'utf8')))

/** Packages that unpack their program when they are installed. */
const UNPACKED = ['@anthropic-ai/claude-code', 'opencode-ai']

const runNpm = (...args: string[]): void => {
  const { status } = spawnSync('npm', args, { cwd: PACKAGES, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(`the packages in ${PACKAGES} could not be installed`)
}

/** Runs only the scripts of UNPACKED. */
export const installPackages = (): void => {
  runNpm('install')
  runNpm('rebuild', '--ignore-scripts=false', ...UNPACKED)
}

export const versionOf = (name: string): string => readManifest(name).version

/** Returns the script that a package's command of the same name runs. */
export const scriptOf = (name: string): string => {
  const { bin = {} } = readManifest(name)
  const short = name.split('/').at(-1) ?? name
  const path = typeof bin === 'string' ? bin : (bin[short] ?? Object.values(bin)[0])
  if (path === undefined) throw new Error(`${name} has no command`)
  return join(PACKAGES, 'node_modules', name, path)
}
