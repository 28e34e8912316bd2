import { setTimeout as delay } from 'node:timers/promises'
import { type App, buildApp } from './app.ts'
import { createLogger, type Logger } from './platform/logger.ts'
import { loadSettings, type Settings } from './platform/settings.ts'
import { buildServices, type Services } from './services.ts'

/** How often connections that have become idle are closed while a stop waits for the others. */
const IDLE_SWEEP_MS = 100

/** Stops taking connections, lets calls under way finish for up to `maxDrainMs`, then closes what is left. */
const drain = async ({ http, beginStop }: App, maxDrainMs: number): Promise<void> => {
  beginStop()
  const closed = http.close()
  const sweep = setInterval(() => http.server.closeIdleConnections(), IDLE_SWEEP_MS)
  const deadline = setTimeout(() => http.server.closeAllConnections(), maxDrainMs)
  await closed
  clearInterval(sweep)
  clearTimeout(deadline)
}

const announce = async (settings: Settings, services: Services): Promise<void> => {
  const lines = [`Patchbay is ready at ${settings.baseUrl}`]
  if (!(await services.accounts.isAnyUser())) {
    const token = services.setupToken === undefined ? '' : ` with setupToken "${services.setupToken}"`
    lines.push(`Nobody has an account yet: the first one (POST /api/v1/signup${token}) becomes the operator.`)
  }
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** Answers the exit code once a signal has stopped everything. A second signal ends the process at once. */
const untilStopped = async (app: App, services: Services, settings: Settings, logger: Logger): Promise<number> => {
  const fatal = Promise.withResolvers<number>()
  const onFatal = (error: unknown): void => {
    logger.fatal({ err: error }, 'an error that nothing handled: Patchbay stops')
    fatal.resolve(1)
  }
  process.on('uncaughtException', onFatal)
  process.on('unhandledRejection', onFatal)
  const signalled = new Promise<number>(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        process.on(signal, () => process.exit(1))
        resolve(0)
      })
    }
  })
  const code = await Promise.race([signalled, fatal.promise])
  await drain(app, settings.limits.maxDrainMs)
  await services.close()
  return code
}

/** Runs the server until it is told to stop; answers the exit code. Throws what keeps it from starting. */
export const serve = async (): Promise<number> => {
  const settings = loadSettings()
  const logger = createLogger(settings.logLevel)
  const services = await buildServices(settings, logger)
  try {
    const app = await buildApp(settings, services, logger)
    await app.http.listen({ host: settings.host, port: settings.port })
    await announce(settings, services)
    return await untilStopped(app, services, settings, logger)
  } catch (error) {
    await Promise.race([services.close(), delay(1_000, undefined, { ref: false })])
    throw error
  }
}
