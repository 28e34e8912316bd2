import { DAY_MS } from './durations.ts'

/** Defaults of all limits, with their units and reasons. Those with a setting `PATCHBAY_MAX_…` can be changed. */

/** Largest request body on /s/:uuid and the API: far above any real call, small enough to hold many at once. */
export const MAX_REQUEST_BYTES = 4 * 1_024 * 1_024
/** Largest decompressed response of a tool's API. Reading stops there, and the result says so. */
export const MAX_RESPONSE_BYTES = 10 * 1_024 * 1_024
/** Timeout of a call including redirects, unless the tool sets its own. */
export const DEFAULT_TOOL_TIMEOUT_MS = 30_000
/** Longest timeout a tool may set: clients give up after a few minutes. */
export const MAX_TOOL_TIMEOUT_MS = 300_000
/** Redirects followed in one call. The fetch standard allows 20; an API needs one or two. */
export const MAX_REDIRECTS = 5
/** Tools on one server. Beyond this no model can choose, and lists exceed a megabyte. */
export const MAX_TOOLS_PER_SERVER = 2_000
/** Tools in one toolkit: as many as the largest APIs have operations, and as one server may have. */
export const MAX_TOOLS_PER_TOOLKIT = 2_000
/** A tool's definition as UTF-8 JSON. It is read on every mount and copied into every snapshot. */
export const MAX_TOOL_DEFINITION_BYTES = 256 * 1_024
/** Each schema of a tool as UTF-8 JSON: far above any real one, since a validator is compiled from it. */
export const MAX_TOOL_SCHEMA_BYTES = 64 * 1_024
/** Globals of one server: mounting it reads all of them and decrypts every secret. */
export const MAX_GLOBALS_PER_SERVER = 200
/** A secret's value in UTF-8. Keys and tokens need a fraction of it; every result is searched for it. */
export const MAX_SECRET_BYTES = 8 * 1_024
/**
 * All encrypted secrets of one server together. Mounting computes about a hundred encoded forms of each, which takes
 * milliseconds per kilobyte on the main thread.
 */
export const MAX_SECRETS_BYTES = 64 * 1_024
/** A plain global's value in UTF-8: the most a header or URL could carry. */
export const MAX_GLOBAL_BYTES = 16 * 1_024
/** Nesting of arguments and of every JSON body. Deeper input only exhausts the stack. */
export const MAX_JSON_DEPTH = 64
/** Sessions of one server, and its open streams. */
export const MAX_SESSIONS_PER_SERVER = 10_000
/** Idle time after which a session expires. */
export const MAX_SESSION_IDLE_MS = DAY_MS
/** Days audit entries are kept. Most regulations ask for a year; 0 keeps them forever. */
export const AUDIT_DAYS = 365
/** Grace period of a used refresh token, since processes of one client may refresh at the same time. */
export const OAUTH_REFRESH_GRACE_SECONDS = 10
/** Memory of a process for cut results, compressed, in MiB: about 50 of 10 MB of JSON. */
export const CUT_CACHE_MB = 64
/** How long a shutdown waits for calls in progress. */
export const MAX_DRAIN_MS = 10_000

/** Timeout for connecting to a tool's API. */
export const CONNECT_TIMEOUT_MS = 5_000
/** Sockets per API origin; further calls are queued. */
export const MAX_SOCKETS_PER_ORIGIN = 128
/** Longest cache time of a tool's results: a day. */
export const MAX_CACHE_SECONDS = 24 * 60 * 60
/** All headers of an API's response together. */
export const MAX_RESPONSE_HEADER_BYTES = 32 * 1_024
/** Tools per page of tools/list. */
export const TOOLS_PER_PAGE = 200
/** Items per page of the management API: default and maximum. */
export const DEFAULT_PAGE_SIZE = 50
export const MAX_PAGE_SIZE = 200
