import { buildApp } from '../app.ts'
import type { Logger } from '../lib/process/logger.ts'
import type { Settings } from '../lib/process/settings.ts'
import type { Services } from '../services.ts'

/** Serves on a free port of this machine while `work` runs. `work` receives the origin. */
export const withApp = async <T>(
  settings: Settings,
  services: Services,
  logger: Logger,
  work: (origin: string) => Promise<T>,
): Promise<T> => {
  const app = await buildApp(settings, services, logger)
  const origin = await app.http.listen({ host: '127.0.0.1', port: 0 })
  try {
    return await work(origin)
  } finally {
    app.beginStop()
    app.http.server.closeAllConnections()
    await app.http.close()
  }
}
