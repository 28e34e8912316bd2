import { DAY_MS } from './durations.ts'

/** Default limits, with units and reasons. Some can be changed by a setting such as `PATCHBAY_MAX_…`. */

/** Largest request body for /s/:uuid and the API: far above any real call, small enough for many at once in memory. */
export const MAX_REQUEST_BYTES = 4 * 1_024 * 1_024
/** Largest source of an import, all documents together, unpacked. The largest public API descriptions have 10 to 20 MB. */
export const MAX_IMPORT_BYTES = 32 * 1_024 * 1_024
/** Largest decompressed response from a tool's API. Longer responses are cut off, and the result says so. */
export const MAX_RESPONSE_BYTES = 10 * 1_024 * 1_024
/** Timeout of a call, including redirects, if the tool does not set its own. */
export const DEFAULT_TOOL_TIMEOUT_MS = 30_000
/** Longest timeout that a tool may set. Clients give up after a few minutes. */
export const MAX_TOOL_TIMEOUT_MS = 300_000
/** Maximum redirects followed in one call. The Fetch standard allows 20, but an API needs only one or two. */
export const MAX_REDIRECTS = 5
/** Maximum tools per server. With more, models cannot choose the right tool, and lists exceed a megabyte. */
export const MAX_TOOLS_PER_SERVER = 2_000
/** Maximum tools per toolkit: the number of operations in the largest APIs, and the same as the limit per server. */
export const MAX_TOOLS_PER_TOOLKIT = 2_000
/** Maximum size of a tool definition as UTF-8 JSON. It is read for each mount and copied into each snapshot. */
export const MAX_TOOL_DEFINITION_BYTES = 256 * 1_024
/** Maximum size of each tool schema as UTF-8 JSON: far above any real schema. Each is compiled into a validator. */
export const MAX_TOOL_SCHEMA_BYTES = 64 * 1_024
/** Maximum globals per server. Mounting a server reads all of them and decrypts the secrets. */
export const MAX_GLOBALS_PER_SERVER = 200
/** A secret's value in UTF-8. Keys and tokens are much shorter; each result is searched for the value. */
export const MAX_SECRET_BYTES = 8 * 1_024
/**
 * Maximum total size of a server's encrypted secrets. The first call after a change prepares the search for them on the
 * main thread, which takes 10 ms for so many, and 30 ms if all of their characters differ.
 */
export const MAX_SECRETS_BYTES = 64 * 1_024
/** Maximum size of a non-secret global's value in UTF-8, which is the maximum for a header or URL. */
export const MAX_GLOBAL_BYTES = 16 * 1_024
/** Maximum depth of arguments and of all JSON bodies. Deeper values could overflow the stack. */
export const MAX_JSON_DEPTH = 64
/** Maximum sessions per server, and maximum open streams per server. */
export const MAX_SESSIONS_PER_SERVER = 10_000
/** Idle time after which a session expires. */
export const MAX_SESSION_IDLE_MS = DAY_MS
/** Retention of audit entries, in days. Most regulations require a year. 0 keeps entries forever. */
export const AUDIT_DAYS = 365
/** Grace period for a used refresh token: several processes of a client may refresh at the same time. */
export const OAUTH_REFRESH_GRACE_SECONDS = 10
/** How long new calls are still accepted after SIGTERM, because load balancers take a moment to see `/readyz` fail. */
export const SHUTDOWN_DELAY_MS = 5_000
/** How long a shutdown waits for calls in progress. */
export const MAX_DRAIN_MS = 10_000

/** Timeout for connecting, including up to 5 s to resolve the name. undici may count half a second less. */
export const CONNECT_TIMEOUT_MS = 6_000
/** Maximum sockets per API origin: enough for several organizations that use their whole share. Further calls wait. */
export const MAX_SOCKETS_PER_ORIGIN = 256
/** Maximum calls that an organization can have in progress at one origin. */
export const MAX_CALLS_PER_ORIGIN = 32
/** How many such shares all organizations of one user have, so that no user can occupy an API for everybody. */
export const SHARES_OF_CREATOR = 2
/** How long a call waits for a connection. A longer wait means that the API is too slow for the calls that it gets. */
export const MAX_CONNECTION_WAIT_MS = 2_000
/** Share of the memory for responses that one organization may use. */
export const ORGANIZATION_MEMORY_SHARE = 1 / 4
/** The same for all organizations that one user created. */
export const CREATOR_MEMORY_SHARE = 1 / 2
/** How long a response waits for memory. */
export const MAX_MEMORY_WAIT_MS = 2_000
/** Longest time that a tool's results may be cached: one day. */
export const MAX_CACHE_SECONDS = 24 * 60 * 60
/** Maximum total size of the headers of an API response, in bytes. */
export const MAX_RESPONSE_HEADER_BYTES = 32 * 1_024
/** Maximum tools per page of tools/list. */
export const TOOLS_PER_PAGE = 200
/** Default and maximum number of items per page of the management API. */
export const DEFAULT_PAGE_SIZE = 50
export const MAX_PAGE_SIZE = 200
