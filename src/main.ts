import { setTimeout as delay } from 'node:timers/promises'
import { type App, buildApp } from './app.ts'
import { createDrain } from './lib/http/drain.ts'
import { listenAlsoAt } from './lib/http/second-address.ts'
import { AppError } from './lib/kernel/errors.ts'
import type { Logger } from './lib/process/logger.ts'
import type { Settings } from './lib/process/settings.ts'
import type { Services } from './services.ts'

const LISTEN_FAILURES: ReadonlyMap<string, (settings: Settings) => string> = new Map([
  [
    'EADDRINUSE',
    ({ port }) => `Port ${port} is in use: stop the program that uses it, or set PATCHBAY_PORT to another port.`,
  ],
  ['EACCES', ({ port }) => `This user is not allowed to listen on port ${port}: set PATCHBAY_PORT to 1024 or above.`],
  ['EADDRNOTAVAIL', ({ host }) => `${host} is not an address of this machine: set PATCHBAY_HOST to one that is.`],
  ['ENOTFOUND', ({ host }) => `The host ${host} does not exist: set PATCHBAY_HOST to an address of this machine.`],
])

/** Starts to listen. Returns a function that stops and resolves when all connections have closed. */
const listen = async ({ http }: App, settings: Settings): Promise<() => Promise<unknown>> => {
  const { host, port, listensOnIpv6Loopback } = settings
  let closeOther = async (): Promise<void> => {}
  try {
    await http.ready()
    if (listensOnIpv6Loopback) closeOther = await listenAlsoAt(http.server, '::1', port)
    await http.listen({ host, port })
    return () => Promise.all([http.close(), closeOther()])
  } catch (error) {
    const closed = closeOther()
    http.server.closeAllConnections()
    await closed
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const describe = LISTEN_FAILURES.get(code)
    throw describe === undefined ? error : new AppError('unavailable', describe(settings), { cause: error })
  }
}

/**
 * Listens for stop signals. `stop` resolves on the first signal, `hurry` on the first signal other than SIGTERM.
 * Repeating a signal exits at once. SIGHUP counts only if there is a terminal, because it then means that the terminal
 * was closed. Without a terminal, it usually asks a server to reload its configuration.
 */
const listenForStopSignals = (logger: Logger) => {
  const stop = Promise.withResolvers<NodeJS.Signals>()
  const hurry = Promise.withResolvers<void>()
  const hasTerminal = process.stdin.isTTY === true
  for (const signal of ['SIGTERM', 'SIGINT', ...(hasTerminal ? (['SIGHUP'] as const) : [])] as const) {
    process.once(signal, () => {
      // Only a repeated signal exits, because npm and the terminal may send two different signals for one Ctrl-C. A
      // closed terminal may send SIGHUP several times.
      process.on(signal, () => {
        if (signal !== 'SIGHUP') process.exit(1)
      })
      stop.resolve(signal)
      if (signal !== 'SIGTERM') hurry.resolve()
    })
  }
  let isTold = false
  if (!hasTerminal) {
    process.on('SIGHUP', () => {
      if (isTold) return
      isTold = true
      logger.info('SIGHUP is ignored, because no terminal is attached: restart Patchbay to change settings')
    })
  }
  return { stop: stop.promise, hurry: hurry.promise }
}

/**
 * Resolves with the exit code after an unhandled error, or after a stop signal and the delay during which requests are
 * still accepted.
 */
const untilStop = (
  { stop, hurry }: ReturnType<typeof listenForStopSignals>,
  announceStop: () => void,
  delayMs: number,
  logger: Logger,
): Promise<number> => {
  const fatal = Promise.withResolvers<number>()
  const onFatal = (error: unknown): void => {
    logger.fatal({ err: error }, 'unhandled error; Patchbay is stopping')
    fatal.resolve(1)
  }
  process.on('uncaughtException', onFatal)
  process.on('unhandledRejection', onFatal)
  const stopped = stop.then(async signal => {
    logger.info({ signal }, 'Patchbay is stopping')
    announceStop()
    await Promise.race([delay(delayMs, undefined, { ref: false }), hurry])
    return 0
  })
  return Promise.race([stopped, fatal.promise])
}

export type Installation = {
  settings: Settings
  services: Services
  logger: Logger
  /** Reports that the process is ready to whoever started it. */
  announce: () => Promise<void>
}

/** Serves until a stop signal arrives, closes everything and returns the exit code. Throws if it cannot start. */
export const serveInstallation = async ({ settings, services, logger, announce }: Installation): Promise<number> => {
  // Signal handlers are not registered earlier, because waiting for another process's migration blocks the thread, and
  // the default handlers must be able to end the process.
  const signals = listenForStopSignals(logger)
  try {
    // Calls are accepted only once the history can be written. Otherwise, a crash soon after the start would lose more
    // of them than a crash later.
    const recording = services.recorder.start()
    const app = await buildApp(settings, services, logger)
    await app.prepare()
    await recording
    const drain = createDrain(app.http.server)
    const close = await listen(app, settings)
    try {
      services.upkeep.start()
      services.deliverer.start()
      services.upstreamConnections
        .start()
        .catch(error => logger.error({ err: error }, 'could not connect the MCP servers that connect at startup'))
      await announce()
      return await untilStop(signals, app.announceStop, settings.shutdownDelayMs, logger)
    } finally {
      app.beginStop()
      await drain(close, settings.limits.maxDrainMs)
    }
  } finally {
    await services.close()
  }
}
