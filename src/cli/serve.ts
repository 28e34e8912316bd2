import { Command } from 'commander'
import { serverUrl } from '../kernel/index.ts'
import { serve, serveInstallation } from '../main.ts'
import { createLogger } from '../platform/logger.ts'
import { loadSettings } from '../platform/settings.ts'
import { print } from './output.ts'

type Options = { config?: string; json?: boolean }

const serveConfig = async (path: string, options: Options): Promise<number> => {
  const logger = createLogger(loadSettings().logLevel)
  // With its readers of JSON and TOML, which a server without such a file would hold for nothing.
  const { openConfigInstallation } = await import('./config-installation.ts')
  const { settings, services, serverId, first, notes, follow, remove } = await openConfigInstallation(path, logger)
  const announce = async (): Promise<void> => {
    const url = serverUrl(settings.baseUrl, serverId)
    const { names, skipped } = first
    print(options, { ready: true, url, id: serverId, upstreams: names, skipped, notes: [...notes, ...first.notes] }, [
      `Patchbay serves ${path} at ${url}`,
      ...(names.length > 0 ? [`Servers: ${names.join(', ')}`] : []),
      ...skipped.map(({ name, why }) => `Not taken: "${name}": ${why}`),
      ...first.notes.map(({ name, note }) => `"${name}": ${note}`),
      ...notes,
      'Changes of the file are taken over as they are saved.',
    ])
    follow()
  }
  try {
    return await serveInstallation({ settings, services, logger, announce })
  } finally {
    await remove()
  }
}

export const serveCommand = (): Command =>
  new Command('serve')
    .description('run Patchbay until it is told to stop (SIGTERM or Ctrl-C)')
    .option('--config <file>', 'serve the MCP servers of a configuration file, without accounts, on this machine alone')
    .option('--json', 'say as JSON that it is ready; the log is JSON already')
    .action(async (options: Options) => {
      process.exitCode =
        options.config === undefined ? await serve(options) : await serveConfig(options.config, options)
    })
