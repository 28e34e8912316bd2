import { randomBytes } from 'node:crypto'
import type { Server } from 'node:http'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  LogController,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
} from 'fastify'
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { createErrorHandler } from './problem.ts'
import { readerConstraint } from './reader.ts'
import { answerAfterLargeBodies } from './unread-body.ts'
import { answerUnreadableRequest, MAX_HEADER_BYTES } from './unreadable-requests.ts'
import { validatorCompiler } from './validation.ts'
import { wishesWebSocket } from './websocket-wish.ts'

/** All headers of a request must be here within this time; slower clients only hold sockets. */
const HEADERS_TIMEOUT_MS = 10_000
/** The whole request, body included. */
const REQUEST_TIMEOUT_MS = 30_000
/** How often the two above are looked at. */
const TIMEOUT_CHECK_MS = 1_000
/**
 * Silence on a connection after which it is asked whether the other end is still there (TCP keep-alive): a stream may be
 * silent for as long as it likes, and one whose client has vanished would be held for ever.
 */
const KEEP_ALIVE_DELAY_MS = 60_000
/** Longest path parameter, percent-encoded: a global's key of 64 characters fits. */
const MAX_PATH_PARAMETER_CHARACTERS = 256

/** Ids that are cheap, and unlike those of another run or process: `9f3c01aa-1`. */
const createRequestIds = (): (() => string) => {
  const run = randomBytes(4).toString('hex')
  let count = 0
  return () => `${run}-${(++count).toString(36)}`
}

export type HttpServerOptions = {
  /** Proxies whose X-Forwarded-* headers are believed, as CIDR ranges. */
  trustProxy: readonly string[]
  maxRequestBytes: number
  logger: FastifyBaseLogger
}

export type HttpServer = FastifyInstance<
  Server,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>

/** The server every feature registers with: timeouts, validation by zod, one error handler. Does not listen. */
export const createHttpServer = (options: HttpServerOptions): HttpServer => {
  const { trustProxy, maxRequestBytes, logger } = options
  const handleError = createErrorHandler(maxRequestBytes)
  const app = Fastify({
    loggerInstance: logger,
    // A line for each call would cost more than the call; the API's scope writes its own.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: createRequestIds(),
    trustProxy: trustProxy.length > 0 ? [...trustProxy] : false,
    bodyLimit: maxRequestBytes,
    // A request on an open connection while Patchbay stops is answered like any other; its connection ends with it.
    return503OnClosing: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_DELAY_MS,
      shouldUpgradeCallback: wishesWebSocket,
    },
    routerOptions: { maxParamLength: MAX_PATH_PARAMETER_CHARACTERS, constraints: { reader: readerConstraint } },
    clientErrorHandler: answerUnreadableRequest,
    frameworkErrors: (error, request, reply) => handleError(error, request, reply),
  }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler(handleError)
  answerAfterLargeBodies(app, maxRequestBytes)
  return app
}
