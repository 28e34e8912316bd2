import { type ChildProcess, fork, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { makeScratchFolder } from '../../scripts/scratch-folder.ts'
import type { CommandRequest, CommandResult } from './command-runner.process.ts'
import { compileCache } from './compile-cache.ts'
import { atEndOfFile } from './end-of-file.ts'
import { freePort } from './free-port.ts'

/** The built program, which `npm test` keeps up to date. It starts in a third of the time that the sources need. */
export const PROGRAM = join(import.meta.dirname, '../../dist/cli/main.js')
const RUNNER = join(import.meta.dirname, 'command-runner.process.ts')
/** Node 22 prints a warning about type stripping on standard error, where tests expect only Patchbay's output. */
const NODE_FLAGS = ['--disable-warning=ExperimentalWarning']

/** The output and exit code of a command. */
export type Said = { code: number | null; stdout: string; stderr: string }
export type Ended = Said & { signal: NodeJS.Signals | null }

/** A running process. */
export type Running = {
  pid: number
  stdout: () => string
  stderr: () => string
  /** Resolves when the process has exited and all its output has been read. */
  ended: Promise<Ended>
  /** Resolves when standard output contains the text; rejects if the process exits first. */
  said: (text: string) => Promise<void>
  kill: (signal: NodeJS.Signals) => void
}

const running = new Set<ChildProcess>()
const directories = new Set<string>()
const endAll = (): void => {
  for (const child of running) child.kill('SIGKILL')
}
process.once('exit', endAll)

// Ends all processes, so that none outlives the test file that started it.
atEndOfFile(async () => {
  const ends = [...running].map(child => new Promise(resolve => child.once('close', resolve)))
  endAll()
  await Promise.all(ends)
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
  directories.clear()
})

/** Creates a folder that is deleted after this test file. */
export const temporaryDirectory = (): string => {
  const directory = makeScratchFolder('patchbay-process-')
  directories.add(directory)
  return directory
}

/** Collects the piped output of a child process. */
export const follow = (child: ChildProcess): Running => {
  const said = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    said.stdout += chunk
  })
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    said.stderr += chunk
  })
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, ...said }))
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

/** Returns the environment of a user's terminal, without Patchbay's settings and npm's own variables. */
const cleanEnvironment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_|NODE_|VITEST|PATCHBAY_|PORT$|DATABASE_URL$|SMTP_URL$)/.test(name),
    ),
  ),
  ...compileCache(),
})

/** Runs SQL on the SQLite database in a folder in which Patchbay has run. */
export const changeDatabase = (directory: string, sql: string): void => {
  const db = new Sqlite(join(directory, 'data/patchbay.db'))
  db.exec(sql)
  db.close()
}

export type CommandOptions = {
  /** The working directory, which contains `data/` and `.env`. Default: a new folder. */
  directory?: string
  env?: NodeJS.ProcessEnv
}
/** `maxFiles` limits the file descriptors of the process. `group` is the file of a cgroup that takes its id. */
export type StartOptions = CommandOptions & { maxFiles?: number | undefined; group?: string | undefined }

/** Starts the program with these command-line arguments. */
export const startCommand = (
  args: readonly string[],
  { directory = temporaryDirectory(), env = {}, maxFiles, group }: StartOptions = {},
): Running => {
  const command = [process.execPath, PROGRAM, ...args]
  const limits = [
    ...(maxFiles === undefined ? [] : [`ulimit -n ${maxFiles}`]),
    ...(group === undefined ? [] : [`echo $$ > ${group}`]),
  ]
  const limited = limits.length === 0 ? command : ['sh', '-c', [...limits, 'exec "$@"'].join(' && '), 'sh', ...command]
  const [file = '', ...rest] = limited
  const child = spawn(file, rest, {
    cwd: directory,
    env: { ...cleanEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  child.once('close', () => running.delete(child))
  return follow(child)
}

/** Runs a command in its own process until the process ends. */
export const runCommand = (args: readonly string[], options?: CommandOptions): Promise<Ended> =>
  startCommand(args, options).ended

const startRunner = () => {
  const child = fork(RUNNER, [PROGRAM], {
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

/**
 * Runs a command in a process that all test files of a worker share, because loading the program takes longer than most
 * commands. The process ends with the worker. Tests of how a process starts and exits use `runCommand`.
 */
export const runSharedCommand = async (
  args: readonly string[],
  { directory = temporaryDirectory(), env = {} }: CommandOptions = {},
): Promise<Said> => {
  if (runner === undefined) {
    const started = startRunner()
    runner = started
    // If a command ends the process, only its own test fails.
    const forget = (): void => {
      if (runner === started) runner = undefined
    }
    started.ended.then(forget, forget)
  }
  const { run } = runner
  const given = Object.entries({ ...cleanEnvironment(), ...env }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  )
  return run({ args: [...args], directory, env: Object.fromEntries(given) })
}

export type Patchbay = Running & {
  directory: string
  /** Options for running a command on the same installation. */
  settings: { directory: string; env: NodeJS.ProcessEnv }
  port: number
  origin: string
  databaseFile: string
  /** Stops the server as a supervisor would. */
  stop: () => Promise<Ended>
}

/** Starts the server on a free loopback port, and resolves when it is ready. Its tools may call loopback addresses. */
export const startPatchbay = async ({
  directory = temporaryDirectory(),
  env = {},
  maxFiles,
  group,
}: StartOptions = {}): Promise<Patchbay> => {
  const port = Number(env.PATCHBAY_PORT ?? (await freePort()))
  const given = {
    PATCHBAY_PORT: String(port),
    PATCHBAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
    PATCHBAY_LOG_LEVEL: 'warn',
    ...env,
  }
  const server = startCommand(['serve'], { directory, env: given, maxFiles, group })
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
