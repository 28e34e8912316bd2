import { createLogger } from '../lib/process/logger.ts'
import { loadSettings, type Settings } from '../lib/process/settings.ts'
import { buildServices, type Services } from '../services.ts'

/**
 * Runs a command's work with the services of this installation. Closes the services afterwards, even if the work fails.
 */
export const withServices = async <T>(work: (services: Services, settings: Settings) => Promise<T>): Promise<T> => {
  const settings = loadSettings()
  const services = await buildServices(settings, createLogger('silent'))
  try {
    return await work(services, settings)
  } finally {
    await services.close()
  }
}
