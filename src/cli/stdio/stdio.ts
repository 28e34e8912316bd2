import { Command } from 'commander'
import { AppError } from '../../lib/kernel/errors.ts'
import { serverUrl } from '../../lib/kernel/server-url.ts'
import { loadSettings, type Settings } from '../../lib/process/settings.ts'
import { printError } from '../output.ts'
import { runStdioBridge } from './stdio-bridge.ts'

type Options = { server?: string; config?: string; url?: string; json?: boolean }

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Returns the address of a server that is given by its id or address. */
const urlOf = ({ server = '', url }: Options, { baseUrl }: Settings): string => {
  if (UUID.test(server)) return serverUrl(url ?? baseUrl, server.toLowerCase())
  if (/^https?:\/\//.test(server) && URL.canParse(server)) return server
  throw new AppError('invalid_request', `"${server}" is neither the id nor the address of a server.`)
}

const untilStopped = (): Promise<void> =>
  new Promise(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })

const bridgeTo = (url: string, settings: Settings, token: string | undefined): Promise<void> =>
  runStdioBridge({
    url,
    token,
    input: process.stdin,
    output: process.stdout,
    // Standard output is reserved for the protocol.
    log: printError,
    maxMessageBytes: settings.limits.maxRequestBytes,
    maxJsonDepth: settings.limits.maxJsonDepth,
    stop: untilStopped(),
  })

const runStdio = async (options: Options, command: Command): Promise<void> => {
  const { server, config } = options
  if ((server === undefined) === (config === undefined)) {
    command.error('error: give either --server <id> or --config <file>')
  } else if (config !== undefined) {
    // Imported lazily, because it loads all of Patchbay, which takes a while.
    const { withConfigServed } = await import('../config-files/served-config.ts')
    await withConfigServed(config, printError, (url, settings) => bridgeTo(url, settings, undefined))
  } else {
    const settings = loadSettings()
    await bridgeTo(urlOf(options, settings), settings, settings.token)
  }
}

export const stdioCommand = (): Command =>
  new Command('stdio')
    .option('--server <id>', 'the id or address of a server on a running Patchbay')
    .option('--config <file>', 'a configuration file of MCP servers, served by this process itself')
    .option('--url <origin>', 'where Patchbay runs (default: PATCHBAY_BASE_URL)')
    .option('--json', 'has no effect: the output is always JSON')
    .addHelpText('after', '\nA server that is not public requires a personal access token: set PATCHBAY_TOKEN to one.')
    .action(runStdio)
