import { createLogger } from '../platform/logger.ts'
import { loadSettings, type Settings } from '../platform/settings.ts'
import { buildServices, type Services } from '../services.ts'

/** Runs a command's work on the services of this installation and closes them, whatever comes of it. */
export const withServices = async <T>(work: (services: Services, settings: Settings) => Promise<T>): Promise<T> => {
  const settings = loadSettings()
  const services = await buildServices(settings, createLogger('silent'))
  try {
    return await work(services, settings)
  } finally {
    await services.close()
  }
}
