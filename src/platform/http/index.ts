export { actorOf, assertBearer, bearerOf, goOnSignedIn } from './access.ts'
export { configureApi } from './api.ts'
export { ASSETS_PREFIX, listAssets, serveAssets } from './assets.ts'
export { formatBytes, formatCount, formatDuration, formatNumber } from './format.ts'
export { type FormPage, formText, parseForm, showForm, submitForm } from './forms.ts'
export { createForwardedFor } from './forwarded-for.ts'
export { signalOf } from './gone.ts'
export { type IdPage, idPageOf, idPageQuery, toIdPage } from './id-paging.ts'
export { readJsonBodies } from './json-body.ts'
export { addressOf, listQuery } from './list-query.ts'
export { sendNdjson } from './ndjson.ts'
export { createOriginPolicy, type OriginPolicy, refuseForeignOrigins } from './origins.ts'
export { pageNumber, pagerOf, takePage } from './pager.ts'
export { configurePages, type TypedFormPages } from './pages.ts'
export { decodeCursor, type Page, pageOf, pageQuery, toPage } from './paging.ts'
export { createErrorReader } from './problem.ts'
export { assertUnchanged, readOnlyField, readOnlyTimes } from './read-only.ts'
export { FOR_PERSON } from './reader.ts'
export { parseReturnTo } from './return-to.ts'
export { absentable, instantSchema, nameSchema, nameUpTo, timeSchema, uuidParam, uuidParams } from './schemas.ts'
export { createHttpServer, type HttpServer } from './server.ts'
export {
  beginSession,
  endSession,
  SESSION_ABSOLUTE_MS,
  SESSION_IDLE_MS,
  type SessionOptions,
  type SessionStore,
  sessionIdOf,
} from './sessions.ts'
export { shownTime, timeText } from './time-text.ts'
export { readTypedForm, type TypedForm, writeTypedForm } from './typed-form.ts'
export { assertTypedName } from './typed-name.ts'
export { parseInput } from './validation.ts'
export { compareVersions, parseVersion, type Versions } from './versions.ts'
export { isFragmentRequest, keepTheme, type PageData } from './views.ts'
export { wishesWebSocket } from './websocket-wish.ts'
