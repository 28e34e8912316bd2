import { serverUrl } from '../../lib/kernel/server-url.ts'
import { createLogger } from '../../lib/process/logger.ts'
import { loadSettings, type Settings } from '../../lib/process/settings.ts'
import { withApp } from '../with-app.ts'
import { openConfigInstallation } from './config-installation.ts'

/** Serves a configuration file within this process while `work` runs. `work` receives the server's address. */
export const withConfigServed = async (
  path: string,
  log: (line: string) => void,
  work: (url: string, settings: Settings) => Promise<void>,
): Promise<void> => {
  const logger = createLogger(loadSettings().logLevel, 'stderr')
  const { settings, services, serverId, first, follow } = await openConfigInstallation(path, logger)
  for (const { name, why } of first.skipped) log(`Skipped "${name}": ${why}`)
  try {
    await withApp(settings, services, logger, origin => {
      follow()
      return work(serverUrl(origin, serverId), settings)
    })
  } finally {
    await services.close()
  }
}
