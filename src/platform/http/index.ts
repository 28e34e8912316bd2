export { actorOf, bearerOf, type FindActors, type RouteAccess } from './access.ts'
export { type ApiOptions, configureApi } from './api.ts'
export { type IdPage, idPageOf, idPageQuery, toIdPage } from './id-paging.ts'
export { createOriginPolicy, type OriginOptions, type OriginPolicy } from './origins.ts'
export { decodeCursor, encodeCursor, type Page, type PageQuery, pageOf, pageQuery, toPage } from './paging.ts'
export {
  PROBLEM_MEDIA_TYPE,
  type Problem,
  problemSchema,
  sendProblem,
  type TranslateError,
  toProblem,
} from './problem.ts'
export { timeSchema, uuidParam, uuidParams } from './schemas.ts'
export { createHttpServer, type HttpServer, type HttpServerOptions } from './server.ts'
export {
  beginSession,
  endSession,
  SESSION_ABSOLUTE_MS,
  SESSION_IDLE_MS,
  type SessionOptions,
  type SessionStore,
  sessionCookieName,
} from './sessions.ts'
export { parseInput, toFieldErrors, toJsonPath } from './validation.ts'
