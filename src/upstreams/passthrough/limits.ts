/** Sessions whose address is remembered for one server; the one unused for longest is forgotten first. */
export const MAX_REMEMBERED_SESSIONS = 10_000
/** A session that sent no request for this long may go anywhere again: as long as our own sessions live. */
export const SESSION_IDLE_MS = 24 * 60 * 60 * 1_000
/** Between two looks at an address that is down: what a client may find missing after it is back. */
export const DOWN_CHECK_MS = 1_000
/** Between two looks at an address that was last seen up, while there are others to take its place. */
export const UP_CHECK_MS = 10_000
/** An address that was up is looked at while somebody used the server within this time. */
export const IN_USE_MS = 60_000
/** How long an address may take to answer when it is looked at. */
export const CHECK_TIMEOUT_MS = 2_000
/** Requests in a row that got no answer, after which an address is looked at at once. */
export const MAX_FAILURES = 3
/** Servers whose addresses are remembered: more than are mounted at once. */
export const MAX_BALANCED_SERVERS = 5_000
