import { type App, buildApp } from './app.ts'
import { createDrain } from './drain.ts'
import { AppError } from './lib/kernel/errors.ts'
import { createLogger, type Logger } from './lib/process/logger.ts'
import { loadSettings, type Settings } from './lib/process/settings.ts'
import { buildServices, type Services } from './services.ts'

const LISTEN_FAILURES: ReadonlyMap<string, (settings: Settings) => string> = new Map([
  ['EADDRINUSE', ({ port }) => `Port ${port} is in use: stop what uses it, or set PATCHBAY_PORT to another.`],
  ['EACCES', ({ port }) => `Port ${port} is not for this user: set PATCHBAY_PORT to one of 1024 or above.`],
  ['EADDRNOTAVAIL', ({ host }) => `${host} is no address of this machine: set PATCHBAY_HOST to one that is.`],
  ['ENOTFOUND', ({ host }) => `There is no host ${host}: set PATCHBAY_HOST to an address of this machine.`],
])

const listen = async ({ http }: App, settings: Settings): Promise<void> => {
  try {
    await http.listen({ host: settings.host, port: settings.port })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const say = LISTEN_FAILURES.get(code)
    throw say === undefined ? error : new AppError('unavailable', say(settings), { cause: error })
  }
}

/** Says that Patchbay is ready and, while nobody has an account, how the first one is made. */
const announce = async ({ baseUrl }: Settings, services: Services, asJson: boolean): Promise<void> => {
  const { setupToken } = services
  const needsAccount = !(await services.accounts.isAnyUser())
  const lines = [`Patchbay is ready at ${baseUrl}`]
  if (needsAccount) {
    const token = setupToken === undefined ? '' : `, with the setup token "${setupToken}"`
    lines.push(`Nobody has an account yet: the first one, made at ${baseUrl}/sign-up${token}, becomes the operator.`)
  }
  const value = { ready: true, baseUrl, ...(needsAccount && setupToken !== undefined && { setupToken }) }
  process.stdout.write(asJson ? `${JSON.stringify(value)}\n` : `${lines.join('\n')}\n`)
}

/** Resolves with the first SIGTERM or Ctrl-C; the same one again ends the process at once. */
const hearStopSignal = (): Promise<NodeJS.Signals> =>
  new Promise(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        // Only the same one: the other may be this one, come another way, by npm and by the terminal.
        process.once(signal, () => process.exit(1))
        resolve(signal)
      })
    }
  })

/** Resolves with the exit code once Patchbay is to stop: it was told to, or it no longer knows what state it is in. */
const untilStop = (stopSignal: Promise<NodeJS.Signals>, logger: Logger): Promise<number> => {
  const fatal = Promise.withResolvers<number>()
  const onFatal = (error: unknown): void => {
    logger.fatal({ err: error }, 'an error that nothing handled: Patchbay stops')
    fatal.resolve(1)
  }
  process.on('uncaughtException', onFatal)
  process.on('unhandledRejection', onFatal)
  const told = stopSignal.then(signal => {
    logger.info({ signal }, 'Patchbay stops')
    return 0
  })
  return Promise.race([told, fatal.promise])
}

export type Installation = {
  settings: Settings
  services: Services
  logger: Logger
  /** Says that it is ready, to whoever started it. */
  announce: () => Promise<void>
}

/** Serves an installation until it is told to stop, and closes it; answers the exit code. Throws what keeps it from starting. */
export const serveInstallation = async ({ settings, services, logger, announce }: Installation): Promise<number> => {
  // Not before: a start that waits for another's migration blocks the thread, and could not be interrupted.
  const stopSignal = hearStopSignal()
  try {
    const app = await buildApp(settings, services, logger)
    await app.prepare()
    const drain = createDrain(app.http.server)
    await listen(app, settings)
    try {
      services.upkeep.start()
      services.upstreamConnections
        .start()
        .catch(error => logger.error({ err: error }, 'upstreams that are to be connected at once are not'))
      await announce()
      return await untilStop(stopSignal, logger)
    } finally {
      app.beginStop()
      await drain(() => app.http.close(), settings.limits.maxDrainMs)
    }
  } finally {
    await services.close()
  }
}

export type ServeOptions = {
  /** Says as JSON that it is ready, so that every line of standard output is. */
  json?: boolean
}

/** Runs the server until it is told to stop; answers the exit code. Throws what keeps it from starting. */
export const serve = async ({ json = false }: ServeOptions = {}): Promise<number> => {
  const settings = loadSettings()
  const logger = createLogger(settings.logLevel)
  const services = await buildServices(settings, logger)
  return serveInstallation({ settings, services, logger, announce: () => announce(settings, services, json) })
}
