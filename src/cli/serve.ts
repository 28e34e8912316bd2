import { Command } from 'commander'
import { serverUrl } from '../lib/kernel/server-url.ts'
import { createLogger } from '../lib/process/logger.ts'
import { loadSettings } from '../lib/process/settings.ts'
import { serveInstallation } from '../main.ts'
import { buildServices } from '../services.ts'
import { print } from './output.ts'

type Options = { config?: string; json?: boolean }

const serve = async (options: Options): Promise<number> => {
  const settings = loadSettings()
  const logger = createLogger(settings.logLevel)
  const services = await buildServices(settings, logger)
  /** Prints that Patchbay is ready. If there is no account yet, also prints how to create the first one. */
  const announce = async (): Promise<void> => {
    const { baseUrl } = settings
    const lines = [`Patchbay is ready at ${baseUrl}`]
    const needsAccount = !(await services.accounts.isAnyUser())
    const { token, isAlwaysRequired } = services.setup
    const setupToken = needsAccount ? token : undefined
    if (needsAccount) {
      const condition = isAlwaysRequired ? ', with' : '. Through a proxy this requires'
      const page = `${baseUrl}/sign-up`
      lines.push(
        `No account exists yet. Create the operator's account at ${page}${condition} the setup token "${token}".`,
      )
    }
    print(options, { ready: true, baseUrl, setupToken }, lines)
  }
  return serveInstallation({ settings, services, logger, announce })
}

const serveConfig = async (path: string, options: Options): Promise<number> => {
  const logger = createLogger(loadSettings().logLevel)
  // Imported lazily, because only `--config` needs the JSON and TOML parsers.
  const { openConfigInstallation } = await import('./config-files/config-installation.ts')
  const { settings, services, serverId, first, notes, follow } = await openConfigInstallation(path, logger)
  const announce = async (): Promise<void> => {
    const url = serverUrl(settings.baseUrl, serverId)
    const { names, skipped } = first
    print(options, { ready: true, url, id: serverId, upstreams: names, skipped, notes: [...notes, ...first.notes] }, [
      `Patchbay serves ${path} at ${url}`,
      ...(names.length > 0 ? [`Servers: ${names.join(', ')}`] : []),
      ...skipped.map(({ name, why }) => `Skipped "${name}": ${why}`),
      ...first.notes.map(({ name, note }) => `"${name}": ${note}`),
      ...notes,
      'Changes to the file apply when it is saved.',
    ])
    follow()
  }
  return serveInstallation({ settings, services, logger, announce })
}

export const serveCommand = (): Command =>
  new Command('serve')
    .option(
      '--config <file>',
      'serve the MCP servers in a configuration file, on this machine only and without accounts',
    )
    .option('--json', 'print the ready message as JSON; the log is always JSON')
    .action(async (options: Options) => {
      process.exitCode =
        options.config === undefined ? await serve(options) : await serveConfig(options.config, options)
    })
