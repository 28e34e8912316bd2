import { randomBytes } from 'node:crypto'
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { createErrorHandler } from './problem.ts'
import { readerConstraint } from './reader.ts'
import { respondAfterLargeBodies } from './unread-body.ts'
import { MAX_HEADER_BYTES, respondToUnreadableRequest } from './unreadable-requests.ts'
import { serializerCompiler, validatorCompiler } from './validation.ts'
import { isWebSocketUpgrade } from './websocket-upgrade.ts'

/** Time within which all headers of a request must arrive, so that slow clients do not occupy sockets. */
const HEADERS_TIMEOUT_MS = 10_000
/** Time within which the whole request must arrive, including the body. */
const REQUEST_TIMEOUT_MS = 30_000
/** How often the two timeouts above are checked. */
const TIMEOUT_CHECK_MS = 1_000
/**
 * Idle time before the first TCP keep-alive probe. Streams have no idle timeout, so only a probe detects that a client
 * has vanished.
 */
const KEEP_ALIVE_DELAY_MS = 60_000
/** Longest path parameter, percent-encoded; long enough for a global's key of 64 characters. */
const MAX_PATH_PARAMETER_CHARACTERS = 256

/** Returns a generator of request ids that are unique across processes, such as `9f3c01aa-1`. */
const createRequestIds = (): (() => string) => {
  const run = randomBytes(4).toString('hex')
  let count = 0
  return () => `${run}-${(++count).toString(36)}`
}

export type HttpServerOptions = {
  /** CIDR ranges of the proxies whose X-Forwarded-* headers are trusted. */
  trustProxy: readonly string[]
  maxRequestBytes: number
  logger: FastifyBaseLogger
}

/** Creates the server for all routes, with timeouts, zod validation and one error handler. Does not listen. */
export const createHttpServer = (options: HttpServerOptions) => {
  const { trustProxy, maxRequestBytes, logger } = options
  const handleError = createErrorHandler(maxRequestBytes)
  const app = Fastify({
    loggerInstance: logger,
    // A log line per MCP call would cost more than the call. The API scope logs its own requests.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: createRequestIds(),
    trustProxy: trustProxy.length > 0 ? [...trustProxy] : false,
    bodyLimit: maxRequestBytes,
    // During a shutdown, requests on open connections still get a response, and then the connection closes.
    return503OnClosing: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_DELAY_MS,
      shouldUpgradeCallback: isWebSocketUpgrade,
    },
    routerOptions: { maxParamLength: MAX_PATH_PARAMETER_CHARACTERS, constraints: { reader: readerConstraint } },
    clientErrorHandler: respondToUnreadableRequest,
    frameworkErrors: (error, request, reply) => handleError(error, request, reply),
  }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler(handleError)
  respondAfterLargeBodies(app, maxRequestBytes)
  return app
}
export type HttpServer = ReturnType<typeof createHttpServer>
