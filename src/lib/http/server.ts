import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { withoutServerSlash } from '../kernel/server-url.ts'
import { createErrorHandler } from './problem.ts'
import { readerConstraint } from './reader.ts'
import { newRequestId } from './request-ids.ts'
import { respondAfterLargeBodies } from './unread-body.ts'
import { MAX_HEADER_BYTES, respondToUnreadableRequest } from './unreadable-requests.ts'
import { serializerCompiler, validatorCompiler } from './validation.ts'
import { isWebSocketUpgrade } from './websocket-upgrade.ts'

/** Time within which all headers of a request must arrive, so that slow clients do not tie up sockets. */
const HEADERS_TIMEOUT_MS = 10_000
/** Time within which the whole request, including the body, must arrive. */
const REQUEST_TIMEOUT_MS = 30_000
/** How often the server checks the two timeouts above. */
const TIMEOUT_CHECK_MS = 1_000
/**
 * Idle time before the first TCP keep-alive probe. Streams have no idle timeout, so only a probe can detect that a
 * client has disappeared.
 */
export const KEEP_ALIVE_DELAY_MS = 60_000
/** Maximum length of a path parameter, percent-encoded. Long enough for a global's key of 64 characters. */
const MAX_PATH_PARAMETER_CHARACTERS = 256

export type HttpServerOptions = {
  /** CIDR ranges of the proxies whose X-Forwarded-* headers are trusted. */
  trustProxy: readonly string[]
  maxRequestBytes: number
  logger: FastifyBaseLogger
}

/** Creates the server for all routes, with timeouts, zod validation and one error handler. Does not start listening. */
export const createHttpServer = (options: HttpServerOptions) => {
  const { trustProxy, maxRequestBytes, logger } = options
  const handleError = createErrorHandler(maxRequestBytes)
  const app = Fastify({
    loggerInstance: logger,
    // Logging a line per MCP call would cost more than the call itself. The API scope logs its own requests.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newRequestId,
    trustProxy: trustProxy.length > 0 ? [...trustProxy] : false,
    bodyLimit: maxRequestBytes,
    // During a shutdown, requests on open connections still get a response before the connection closes.
    return503OnClosing: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    rewriteUrl: ({ url = '' }) => withoutServerSlash(url),
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
