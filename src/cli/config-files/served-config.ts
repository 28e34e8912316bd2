import { buildApp } from '../../app.ts'
import { serverUrl } from '../../lib/kernel/server-url.ts'
import { createLogger } from '../../lib/process/logger.ts'
import { loadSettings, type Settings } from '../../lib/process/settings.ts'
import { openConfigInstallation } from './config-installation.ts'

/** Serves a configuration file within this process while `work` runs. `work` receives the server's address. */
export const withConfigServed = async (
  path: string,
  log: (line: string) => void,
  work: (url: string, settings: Settings) => Promise<void>,
): Promise<void> => {
  const logger = createLogger(loadSettings().logLevel, 'stderr')
  const { settings, services, serverId, first, follow, remove } = await openConfigInstallation(path, logger)
  for (const { name, why } of first.skipped) log(`Skipped "${name}": ${why}`)
  try {
    const app = await buildApp(settings, services, logger)
    const origin = await app.http.listen({ host: settings.host, port: 0 })
    follow()
    try {
      await work(serverUrl(origin, serverId), settings)
    } finally {
      app.beginStop()
      app.http.server.closeAllConnections()
      await app.http.close()
    }
  } finally {
    await services.close()
    await remove()
  }
}
