import { type ChildProcess, fork, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeScratchFolder } from '../../scripts/scratch-folder.ts'
import type { CommandRequest, CommandResult } from './command-runner.process.ts'
import { compileCache } from './compile-cache.ts'
import { atEndOfFile } from './end-of-file.ts'
import { freePort } from './free-port.ts'

const PROGRAM = join(import.meta.dirname, '../../src/cli/main.ts')
const RUNNER = join(import.meta.dirname, 'command-runner.process.ts')
/** Node 22 says on standard error that it takes types away; what Patchbay says there is what tests look at. */
const NODE_FLAGS = ['--disable-warning=ExperimentalWarning']

/** What a command printed, and its exit code. */
export type Said = { code: number | null; stdout: string; stderr: string }
export type Ended = Said & { signal: NodeJS.Signals | null }

/** A process of ours, followed to its end. */
export type Running = {
  pid: number
  stdout: () => string
  stderr: () => string
  /** Resolves once it is gone and all that it said is here. */
  ended: Promise<Ended>
  /** Resolves once its standard output holds the text; rejects if it ends without it. */
  said: (text: string) => Promise<void>
  kill: (signal: NodeJS.Signals) => void
}

const running = new Set<ChildProcess>()
const directories = new Set<string>()
const endAll = (): void => {
  for (const child of running) child.kill('SIGKILL')
}
process.once('exit', endAll)

// Nothing outlives the test file that started it, however its tests end.
atEndOfFile(async () => {
  const ends = [...running].map(child => new Promise(resolve => child.once('close', resolve)))
  endAll()
  await Promise.all(ends)
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
  directories.clear()
})

/** A new folder, gone after the tests of this file. */
export const temporaryDirectory = (): string => {
  const directory = makeScratchFolder('patchbay-process-')
  directories.add(directory)
  return directory
}

const follow = (child: ChildProcess): Running => {
  running.add(child)
  const said = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    said.stdout += chunk
  })
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    said.stderr += chunk
  })
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      running.delete(child)
      resolve({ code, signal, ...said })
    })
  })
  return {
    pid: child.pid ?? 0,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    ended,
    said: text =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (said.stdout.includes(text)) resolve()
        }
        child.stdout?.on('data', look)
        ended.then(end => reject(new Error(`it ended without saying "${text}": ${JSON.stringify(end)}`)), reject)
        look()
      }),
    kill: signal => void child.kill(signal),
  }
}

/** The environment of somebody at a terminal: no setting of ours, and nothing of the npm that runs these tests. */
const cleanEnvironment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_|NODE_|VITEST|PATCHBAY_|PORT$|DATABASE_URL$|SMTP_URL$)/.test(name),
    ),
  ),
  ...compileCache(),
})

export type CommandOptions = {
  /** Where it runs: `data/` is made there, and `.env` read. Left out: a new folder. */
  directory?: string
  env?: NodeJS.ProcessEnv
}

/** Starts the command line from the sources. */
export const startCommand = (
  args: readonly string[],
  { directory = temporaryDirectory(), env = {} }: CommandOptions = {},
): Running =>
  follow(
    spawn(process.execPath, [...NODE_FLAGS, PROGRAM, ...args], {
      cwd: directory,
      env: { ...cleanEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )

/** Runs a command to its end, in a process of its own. */
export const runCommand = (args: readonly string[], options?: CommandOptions): Promise<Ended> =>
  startCommand(args, options).ended

const startRunner = () => {
  const child = fork(RUNNER, {
    execArgv: NODE_FLAGS,
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const { ended } = follow(child)
  const waiting = new Map<number, (result: CommandResult) => void>()
  child.on('message', (result: CommandResult) => {
    waiting.get(result.id)?.(result)
    waiting.delete(result.id)
  })
  let lastId = 0
  return {
    ended,
    run: (command: Omit<CommandRequest, 'id'>): Promise<CommandResult> =>
      new Promise((resolve, reject) => {
        lastId += 1
        waiting.set(lastId, resolve)
        child.send({ id: lastId, ...command })
        ended.then(end => reject(new Error(`the command runner ended: ${JSON.stringify(end)}`)), reject)
      }),
  }
}
let runner: ReturnType<typeof startRunner> | undefined
// Its process ends with all others.
atEndOfFile(() => {
  runner = undefined
})

/**
 * Runs a command to its end, in a process that the commands of a test file share: loading the program takes longer than
 * most commands do. For commands that are about what is said; how a process starts and ends takes `runCommand`.
 */
export const runSharedCommand = async (
  args: readonly string[],
  { directory = temporaryDirectory(), env = {} }: CommandOptions = {},
): Promise<Said> => {
  runner ??= startRunner()
  const given = Object.entries({ ...cleanEnvironment(), ...env }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  )
  return runner.run({ args: [...args], directory, env: Object.fromEntries(given) })
}

export type Patchbay = Running & {
  directory: string
  /** What a command needs to work on the same installation. */
  settings: { directory: string; env: NodeJS.ProcessEnv }
  port: number
  origin: string
  databaseFile: string
  /** Stops it as a supervisor would. */
  stop: () => Promise<Ended>
}

/** Starts the real server on a free port of loopback, where tools may reach loopback; resolves once it is ready. */
export const startPatchbay = async ({
  directory = temporaryDirectory(),
  env = {},
}: CommandOptions = {}): Promise<Patchbay> => {
  const port = Number(env.PATCHBAY_PORT ?? (await freePort()))
  const given = {
    PATCHBAY_PORT: String(port),
    PATCHBAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
    PATCHBAY_LOG_LEVEL: 'warn',
    ...env,
  }
  const server = startCommand(['serve'], { directory, env: given })
  await server.said('Patchbay is ready')
  return {
    ...server,
    directory,
    settings: { directory, env: given },
    port,
    origin: `http://localhost:${port}`,
    databaseFile: join(directory, 'data/patchbay.db'),
    stop: () => {
      server.kill('SIGTERM')
      return server.ended
    },
  }
}
