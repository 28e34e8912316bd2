import { DAY_MS } from './durations.ts'

/** Defaults of limits, with units and reasons. Some can be changed by a setting such as `PATCHBAY_MAX_…`. */

/** Largest request body for /s/:uuid and the API: far above any real call, small enough for many at once in memory. */
export const MAX_REQUEST_BYTES = 4 * 1_024 * 1_024
/** Largest decompressed response from a tool's API. Longer ones are cut off, which the result says. */
export const MAX_RESPONSE_BYTES = 10 * 1_024 * 1_024
/** Timeout of a call, including redirects, if the tool does not set its own. */
export const DEFAULT_TOOL_TIMEOUT_MS = 30_000
/** Longest timeout a tool may set: clients give up after a few minutes. */
export const MAX_TOOL_TIMEOUT_MS = 300_000
/** Redirects followed in one call. The fetch standard allows 20; an API needs one or two. */
export const MAX_REDIRECTS = 5
/** Tools of one server. With more, no model can choose, and lists exceed a megabyte. */
export const MAX_TOOLS_PER_SERVER = 2_000
/** Tools of one toolkit: the number of operations of the largest APIs, and the limit of a server. */
export const MAX_TOOLS_PER_TOOLKIT = 2_000
/** A tool's definition in UTF-8 JSON. It is read for each mount and copied into each snapshot. */
export const MAX_TOOL_DEFINITION_BYTES = 256 * 1_024
/** Each schema of a tool in UTF-8 JSON: far above any real one. A validator is compiled from it. */
export const MAX_TOOL_SCHEMA_BYTES = 64 * 1_024
/** Globals of one server. Mounting it reads all of them and decrypts the secrets. */
export const MAX_GLOBALS_PER_SERVER = 200
/** A secret's value in UTF-8. Keys and tokens are much shorter; each result is searched for the value. */
export const MAX_SECRET_BYTES = 8 * 1_024
/**
 * All encrypted secrets of one server together. Mounting computes about 100 encoded forms of each secret, which takes
 * milliseconds per kilobyte on the main thread.
 */
export const MAX_SECRETS_BYTES = 64 * 1_024
/** The value of a global that is not secret, in UTF-8: the maximum for a header or URL. */
export const MAX_GLOBAL_BYTES = 16 * 1_024
/** Depth of arguments and of all JSON bodies. Deeper values could exhaust the stack. */
export const MAX_JSON_DEPTH = 64
/** Limit for the sessions of one server, and for its open streams. */
export const MAX_SESSIONS_PER_SERVER = 10_000
/** Idle time after which a session expires. */
export const MAX_SESSION_IDLE_MS = DAY_MS
/** Days for which audit entries are kept. Most regulations require a year. 0 keeps them forever. */
export const AUDIT_DAYS = 365
/** Grace period for a used refresh token: several processes of a client may refresh at the same time. */
export const OAUTH_REFRESH_GRACE_SECONDS = 10
/** Memory per process for compressed cut results, in MiB: enough for about 50 results of 10 MB of JSON each. */
export const CUT_CACHE_MB = 64
/** Time after SIGTERM for which new calls are accepted: load balancers take a moment to see `/readyz` fail. */
export const SHUTDOWN_DELAY_MS = 5_000
/** Time that a shutdown waits for calls in progress. */
export const MAX_DRAIN_MS = 10_000

/** Timeout for connecting to a tool's API. */
export const CONNECT_TIMEOUT_MS = 5_000
/** Sockets per API origin; further calls are queued. */
export const MAX_SOCKETS_PER_ORIGIN = 128
/** Longest time for caching a tool's results: a day. */
export const MAX_CACHE_SECONDS = 24 * 60 * 60
/** All headers of an API's response together, in bytes. */
export const MAX_RESPONSE_HEADER_BYTES = 32 * 1_024
/** Tools per page of tools/list. */
export const TOOLS_PER_PAGE = 200
/** Items per page of the management API: default and maximum. */
export const DEFAULT_PAGE_SIZE = 50
export const MAX_PAGE_SIZE = 200
