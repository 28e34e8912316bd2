import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { atEndOfFile } from '../support/end-of-file.ts'
import { type Ended, follow, type Running, temporaryDirectory } from '../support/process.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Stands in for the compiler: copies src, and rejects a source that contains the words BAD SOURCE. */
const TSC = `
const { cpSync, readdirSync, readFileSync, renameSync } = require('node:fs')
const out = process.argv[process.argv.indexOf('--outDir') + 1]
cpSync('src', out, { recursive: true })
for (const entry of readdirSync(out, { recursive: true })) {
  if (!entry.endsWith('.ts')) continue
  if (readFileSync(out + '/' + entry, 'utf8').includes('BAD SOURCE')) {
    console.log(entry + ': this does not compile')
    process.exit(2)
  }
  renameSync(out + '/' + entry, out + '/' + entry.replace(/ts$/, 'js'))
}
`

/**
 * Prints its name and arguments. \`serve\` runs until a signal; any other command exits with the code that follows it.
 */
const MAIN = `
import { version } from 'node:process'
const [command, code] = process.argv.slice(2)
const hello = JSON.stringify({ version, command, path: process.env.PATH })
if (command === 'serve') {
  setInterval(() => {}, 1_000)
  process.on('SIGTERM', () => {
    console.log('stopped by SIGTERM')
    process.exit(7)
  })
  console.log(hello)
} else {
  console.log(hello)
  process.exitCode = Number(code ?? 0)
}
`

const DEPENDENCIES = { typescript: 'file:./fake-typescript' }

const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

const packageJson = (dependencies: Record<string, string>) =>
  JSON.stringify({
    name: 'patchbay',
    version: '0.0.0',
    type: 'module',
    bin: { patchbay: 'bin/patchbay' },
    engines,
    dependencies,
  })

const lock = JSON.stringify({
  name: 'patchbay',
  version: '0.0.0',
  lockfileVersion: 3,
  requires: true,
  packages: {
    '': { name: 'patchbay', version: '0.0.0', dependencies: DEPENDENCIES, bin: { patchbay: 'bin/patchbay' } },
    'fake-typescript': { name: 'typescript', version: '1.0.0', bin: { tsc: 'bin/tsc' } },
    'node_modules/typescript': { resolved: 'fake-typescript', link: true },
  },
})

const FILES = {
  'package.json': packageJson(DEPENDENCIES),
  'package-lock.json': lock,
  'fake-typescript/package.json': '{"name":"typescript","version":"1.0.0","bin":{"tsc":"bin/tsc"}}',
  'fake-typescript/bin/tsc': TSC,
  'prisma/schema.prisma': '// models',
  'scripts/generate.ts':
    "import { mkdirSync } from 'node:fs'\nmkdirSync('src/lib/db/generated', { recursive: true })\n",
  'scripts/bundle.ts': '',
  'src/cli/main.ts': MAIN,
  'tsconfig.json': '{}',
  'tsconfig.build.json': '{}',
}

/** Returns the environment of a user at a terminal, without the variables of the npm that runs these tests. */
export const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_|NODE$|NODE_(ENV|OPTIONS|CHANNEL)|VITEST|INIT_CWD|PATCHBAY_|DATABASE_URL)/.test(name),
    ),
  )

/** Returns an environment in which npm cannot reach a registry. `cache` is an empty cache folder. */
export const withoutRegistry = (cache: string): NodeJS.ProcessEnv => ({
  npm_config_registry: 'http://127.0.0.1:9/',
  npm_config_fetch_retries: '0',
  npm_config_cache: cache,
})

type RunOptions = { node?: string; env?: NodeJS.ProcessEnv; uid?: number }

/** Returns functions that control a project in the folder `root`. */
const projectIn = (root: string) => {
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  const startProgram = (file: string, args: readonly string[], { env = {}, uid }: RunOptions): Running => {
    const running = follow(
      spawn(file, args, {
        cwd: root,
        env: { ...cleanEnvironment(), ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
        ...(uid !== undefined && { uid, gid: uid }),
      }),
    )
    onTestFinished(() => running.kill('SIGKILL'))
    return running
  }
  const start = (args: readonly string[], { node = process.execPath, ...options }: RunOptions = {}): Running =>
    startProgram(node, [join(root, 'bin/patchbay'), ...args], options)
  return {
    root,
    write,
    remove: (path: string) => rm(join(root, path), { recursive: true }),
    /** Adds a dependency that only a registry can provide to package.json and the lock file. */
    needFromRegistry: async (name: string, version: string) => {
      const locked = JSON.parse(lock)
      locked.packages[''].dependencies[name] = version
      locked.packages[`node_modules/${name}`] = { version }
      await write('package.json', packageJson({ ...DEPENDENCIES, [name]: version }))
      await write('package-lock.json', JSON.stringify(locked))
    },
    start,
    run: (args: readonly string[], options?: RunOptions): Promise<Ended> => start(args, options).ended,
    /** Runs a shell command in the project, as npm runs its scripts. */
    startShell: (line: string, env: NodeJS.ProcessEnv = {}): Running => startProgram('sh', ['-c', line], { env }),
  }
}

/**
 * Creates a small project around the real launcher. The compiler and the models are stand-ins; npm and Node are real.
 */
export const createProject = async () => {
  const project = projectIn(temporaryDirectory())
  await cp(join(ROOT, 'bin'), join(project.root, 'bin'), { recursive: true })
  for (const [path, text] of Object.entries(FILES)) await project.write(path, text)
  return project
}

const prepareTemplate = async (): Promise<string> => {
  const project = await createProject()
  await project.run(['anything'])
  return project.root
}
let template: Promise<string> | undefined
atEndOfFile(() => {
  template = undefined
})

/**
 * Creates a project that has been started before. Each test file prepares one and copies it, because npm takes a while.
 */
export const createPrepared = async () => {
  template ??= prepareTemplate()
  const project = projectIn(temporaryDirectory())
  await cp(await template, project.root, { recursive: true, verbatimSymlinks: true })
  return project
}

/** Returns the lines that the launcher printed, without the `patchbay: ` prefix. */
export const saidBy = ({ stderr }: Ended): string[] =>
  stderr
    .split('\n')
    .filter(line => line.startsWith('patchbay: '))
    .map(line => line.slice('patchbay: '.length))
