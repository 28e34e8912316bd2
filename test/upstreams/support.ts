import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, vi } from 'vitest'
import { createAddressPolicy } from '../../src/lib/outbound/address-policy.ts'
import {
  createUpstreamConnection,
  type UpstreamConnection,
  type UpstreamParts,
} from '../../src/upstreams/connection/connection.ts'
import { createMessageLimit, createOrganizationLimits } from '../../src/upstreams/connection/message-limit.ts'
import type { ClientSetup, UpstreamClient } from '../../src/upstreams/connection/open-connection.ts'
import type { ConnectionLimits } from '../../src/upstreams/connection/shared-connection.ts'
import { createStdioProcesses, type StdioProcesses } from '../../src/upstreams/connection/stdio-processes.ts'
import { UpstreamError } from '../../src/upstreams/connection/upstream-error.ts'
import type { RemoteConfig, ResolvedConfig, StdioConfig, UpstreamState } from '../../src/upstreams/upstream.ts'
import { resolverOf } from '../lib/outbound/apis.ts'
import { atEndOfFile } from '../support/end-of-file.ts'
import { freePort } from '../support/free-port.ts'
import { runMark } from '../support/leftovers.ts'

const FOLDER = mkdtempSync(join(tmpdir(), 'patchbay-upstreams-'))
/** Lists processes started by this file's tests or by their children. Their HOME identifies them. */
const listLeft = (): string[] =>
  (existsSync('/proc') ? readdirSync('/proc') : []).filter(pid => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`HOME=${FOLDER}`)
    } catch {
      return false
    }
  })

atEndOfFile(async () => {
  // A killed process may take a moment to disappear.
  await vi.waitFor(() => expect(listLeft()).toEqual([]), { timeout: 10_000 })
  rmSync(FOLDER, { recursive: true, force: true })
})

const serverFile = (name: string): string => join(import.meta.dirname, 'servers', `${name}.process.ts`)
const EVERYTHING = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'))

const NPM_SERVERS = {
  'server-filesystem': fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js')),
  'server-memory': fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js')),
} as const

const NODE_ARGS = ['--disable-warning=ExperimentalWarning']

/** Returns a command that runs one of the servers in the folder `servers`. */
export const commandOf = (server: string, ...args: string[]): StdioConfig => ({
  transport: 'stdio',
  command: process.execPath,
  args: [...NODE_ARGS, serverFile(server), ...args],
  env: {},
})

const commandOfFile = (file: string, args: readonly string[]): StdioConfig => ({
  transport: 'stdio',
  command: process.execPath,
  args: [file, ...args],
  env: {},
})

export const everythingCommand = (...args: string[]): StdioConfig => commandOfFile(EVERYTHING, args)

/** Returns a command that runs a server published on npm. */
export const npmCommand = (name: 'server-filesystem' | 'server-memory', ...args: string[]): StdioConfig =>
  commandOfFile(NPM_SERVERS[name], args)

export const remote = (transport: 'http' | 'sse', url: string, headers: Record<string, string> = {}): RemoteConfig => ({
  transport,
  url,
  headers,
})

/**
 * Starts a server that listens on the port given in its environment, or on one that it prints. Once it listens, returns
 * the port and a function that stops it.
 */
export const runServer = async ({
  command,
  args,
}: StdioConfig): Promise<{ port: number; stop: () => Promise<void> }> => {
  const given = await freePort()
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, PORT: String(given), ...runMark() },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise(resolve => child.once('exit', resolve))
  const port = await new Promise<number>((resolve, reject) => {
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (/^\d+\n$/.test(text)) resolve(Number(text))
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (/listening|running on port/i.test(said)) resolve(given)
    })
    child.once('exit', () => reject(new Error(`it ended: ${said}`)))
  })
  return {
    port,
    stop: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Starts the everything server over HTTP. Once it listens, returns its port and a function that stops it. */
export const runEverything = async (
  mode: 'streamableHttp' | 'sse',
): Promise<{ port: number; stop: () => Promise<void> }> => {
  const running = await runServer(everythingCommand(mode))
  onTestFinished(running.stop)
  return running
}

/** Does the same as `runEverything`, but stops the server after the test. Returns its port. */
export const startEverything = async (mode: 'streamableHttp' | 'sse'): Promise<number> =>
  (await runEverything(mode)).port

export const LEDGER = join(FOLDER, 'processes')

export const startProcesses = (options: Partial<Parameters<typeof createStdioProcesses>[0]> = {}): StdioProcesses => {
  mkdirSync(FOLDER, { recursive: true })
  const processes = createStdioProcesses({
    directory: LEDGER,
    environment: { PATH: process.env.PATH ?? '', HOME: FOLDER, ...runMark() },
    endGraceMs: 500,
    ...options,
  })
  onTestFinished(() => processes.close())
  return processes
}

type Opening = {
  limits?: Partial<ConnectionLimits>
  network?: Partial<UpstreamParts['network']>
  processes?: StdioProcesses
  isEager?: boolean
  timeoutMs?: number
  secrets?: readonly string[]
  organizationId?: string
  resolveError?: Error
  setup?: ClientSetup
}

/** Opens a connection that may reach loopback, to which `api.test` and `other.test` resolve. */
export const openUpstream = (
  config: StdioConfig | RemoteConfig,
  {
    limits = {},
    network = {},
    processes,
    isEager = false,
    timeoutMs = 10_000,
    secrets = [],
    organizationId,
    resolveError,
    setup = {},
  }: Opening = {},
): UpstreamConnection & { processes: StdioProcesses } => {
  const started = processes ?? startProcesses()
  const resolved: ResolvedConfig = {
    ...config,
    organizationId,
    timeoutMs,
    isEager,
    features: { tools: true, resources: true, prompts: true },
    auth: { type: 'none' },
    secrets,
    credentials: [],
  }
  const connection = createUpstreamConnection({
    resolve: async () => {
      if (resolveError !== undefined) throw resolveError
      return resolved
    },
    timeoutMs,
    isEager,
    setup,
    messageLimit: createMessageLimit({ onListsMissed: () => {}, organization: createOrganizationLimits()() }),
    parts: {
      processes: started,
      network: {
        policy: createAddressPolicy({ allow: ['127.0.0.1'] }),
        lookup: resolverOf({ 'api.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'] }),
        maxRedirects: 3,
        connectTimeoutMs: 5_000,
        maxResponseBytes: 10 * 1_024 * 1_024,
        ...network,
      },
      clientInfo: { name: 'patchbay', version: 'test' },
      limits,
    },
  })
  onTestFinished(() => connection.close())
  return Object.assign(connection, { processes: started })
}

/** Returns the error with which a use of an upstream fails. Fails the test if it succeeds or throws another error. */
export const faultOf = async (outcome: Promise<unknown>): Promise<UpstreamError> => {
  const error: unknown = await outcome.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof UpstreamError) return error
  throw new Error('there was an answer, or an error of another kind', { cause: error })
}

export const callTool = (
  upstream: UpstreamConnection,
  name: string,
  given: Record<string, unknown> = {},
  signal?: AbortSignal,
): Promise<string> =>
  upstream.run(async (client, options) => textOf(await client.callTool({ name, arguments: given }, options)), signal)

const textOf = ({ content }: Awaited<ReturnType<UpstreamClient['callTool']>>): string => {
  const [first] = content
  return first?.type === 'text' ? first.text : ''
}

/** Resolves with the first state that matches, including the current one. */
export const stateOf = (
  upstream: UpstreamConnection,
  isWanted: (state: UpstreamState) => boolean,
): Promise<UpstreamState> =>
  new Promise(resolve => {
    if (isWanted(upstream.state())) {
      resolve(upstream.state())
      return
    }
    const stop = upstream.onState(state => {
      if (!isWanted(state)) return
      stop()
      resolve(state)
    })
  })

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Resolves once none of these processes exists. */
export const gone = (pids: readonly number[]): Promise<void> => expect.poll(() => pids.filter(isAlive)).toEqual([])
