/** Every limit's default, with its unit and reason. Those of the contract are settings, `PATCHBAY_MAX_…`. */

/** Largest body read on /s/:uuid and the API: far above any honest call, small enough to hold many at once. */
export const MAX_REQUEST_BYTES = 4 * 1_024 * 1_024
/** Largest answer of a tool's API after decompression. Above it the read stops and the result says so. */
export const MAX_RESPONSE_BYTES = 10 * 1_024 * 1_024
/** A tool's whole call, redirects included, unless the tool says otherwise. */
export const DEFAULT_TOOL_TIMEOUT_MS = 30_000
/** The longest a tool may ask for: clients themselves give up after a few minutes. */
export const MAX_TOOL_TIMEOUT_MS = 300_000
/** Redirects followed by one call; the fetch standard allows 20, an API needs one or two. */
export const MAX_REDIRECTS = 5
/** Tools put to work in one server; above it no model can choose and lists grow past a megabyte. */
export const MAX_TOOLS_PER_SERVER = 2_000
/** Tools of one toolkit: what the largest API has operations, and as many as one server may put to work. */
export const MAX_TOOLS_PER_TOOLKIT = 2_000
/** A tool's whole definition as UTF-8 JSON: it is read with every mount and copied into every snapshot. */
export const MAX_TOOL_DEFINITION_BYTES = 256 * 1_024
/** Each schema of a tool as UTF-8 JSON: far above any honest one, and its validator is compiled from it. */
export const MAX_TOOL_SCHEMA_BYTES = 64 * 1_024
/** Globals of one server: all of them are read, and every secret opened, whenever it is mounted. */
export const MAX_GLOBALS_PER_SERVER = 200
/** A secret's value in UTF-8; keys and tokens take a fraction, and each is looked for in all that a call answers. */
export const MAX_SECRET_BYTES = 8 * 1_024
/**
 * All secrets of one server together, as sealed: the hundred spellings of each are made when the server is mounted, which
 * takes some milliseconds for every kilobyte that is no plain key, and holds up everybody else.
 */
export const MAX_SECRETS_BYTES = 64 * 1_024
/** The value in UTF-8 of a global that is no secret: what a header or a URL could still carry. */
export const MAX_GLOBAL_BYTES = 16 * 1_024
/** Nesting of a call's arguments and of every JSON body: deeper input only exhausts the stack. */
export const MAX_JSON_DEPTH = 64
/** Sessions, and open streams, one server holds. */
export const MAX_SESSIONS_PER_SERVER = 10_000
/** A session that sent no request for this long is over. */
export const MAX_SESSION_IDLE_MS = 24 * 60 * 60 * 1_000
/** Days an audit entry is kept: a year, which is what most rules ask for; 0 would be for ever. */
export const AUDIT_DAYS = 365
/** A refresh token that was used is good for this long still: processes of one client refresh at the same time. */
export const OAUTH_REFRESH_GRACE_SECONDS = 10
/** Answers too large to be sent, all that a process keeps of them for the calls that go on from them, in MiB. */
export const ANSWER_CACHE_MB = 256
/** How long a stop waits for calls under way. */
export const MAX_DRAIN_MS = 10_000

/** Time to open a connection to a tool's API. */
export const CONNECT_TIMEOUT_MS = 5_000
/** Sockets per API origin; more calls at once wait their turn. */
export const MAX_SOCKETS_PER_ORIGIN = 128
/** The longest a tool's answers are kept, in seconds: a day. */
export const MAX_CACHE_SECONDS = 24 * 60 * 60
/** All headers of an API's answer together. */
export const MAX_RESPONSE_HEADER_BYTES = 32 * 1_024
/** Tools in one page of tools/list. */
export const TOOLS_PER_PAGE = 200
/** Items in one page of the management API: the default and the most. */
export const DEFAULT_PAGE_SIZE = 50
export const MAX_PAGE_SIZE = 200
