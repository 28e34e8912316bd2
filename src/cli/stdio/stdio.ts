import { Command } from 'commander'
import { AppError, serverUrl } from '../kernel/index.ts'
import { loadSettings, type Settings } from '../platform/settings.ts'
import { printable } from './printable.ts'
import { runStdioBridge } from './stdio-bridge.ts'

type Options = { server?: string; config?: string; url?: string; json?: boolean }

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The address of a server that is named by its id, or is one already. */
const urlOf = ({ server = '', url }: Options, { baseUrl }: Settings): string => {
  if (UUID.test(server)) return serverUrl(url ?? baseUrl, server.toLowerCase())
  if (/^https?:\/\//.test(server) && URL.canParse(server)) return server
  throw new AppError('invalid_request', `"${server}" is neither the id of a server nor its address.`)
}

/** Standard output is the protocol's alone. */
const log = (line: string): void => void process.stderr.write(`patchbay: ${printable(line)}\n`)

const untilTold = (): Promise<void> =>
  new Promise(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })

const bridgeTo = (url: string, settings: Settings, token: string | undefined): Promise<void> =>
  runStdioBridge({
    url,
    token,
    input: process.stdin,
    output: process.stdout,
    log,
    maxMessageBytes: settings.limits.maxRequestBytes,
    maxJsonDepth: settings.limits.maxJsonDepth,
    stop: untilTold(),
  })

const runStdio = async (options: Options, command: Command): Promise<void> => {
  const { server, config } = options
  if ((server === undefined) === (config === undefined)) {
    command.error('error: give either --server <id> or --config <file>')
  } else if (config !== undefined) {
    // With it comes all of Patchbay, which takes a while.
    const { withConfigServed } = await import('./served-config.ts')
    await withConfigServed(config, log, (url, settings) => bridgeTo(url, settings, undefined))
  } else {
    const settings = loadSettings()
    await bridgeTo(urlOf(options, settings), settings, settings.token)
  }
}

export const stdioCommand = (): Command =>
  new Command('stdio')
    .description('offer a server over standard input and output, for clients that speak only that')
    .option('--server <id>', 'the id of a server of a running Patchbay, or its whole address')
    .option('--config <file>', 'a configuration file of MCP servers, served by this very process')
    .option('--url <origin>', 'where Patchbay runs (PATCHBAY_BASE_URL)')
    .option('--json', 'changes nothing: what is said is JSON already')
    .addHelpText('after', '\nA server that is not public asks for a personal access token: set PATCHBAY_TOKEN to one.')
    .action(runStdio)
