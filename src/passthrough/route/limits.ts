/** Maximum number of sessions per server whose address is remembered. The least recently used is dropped first. */
export const MAX_REMEMBERED_SESSIONS = 10_000
/** A session idle for this long may move to another address. Equals the idle timeout of our own sessions. */
export const SESSION_IDLE_MS = 24 * 60 * 60 * 1_000
/** Interval of probes of an address that is down, and so the delay until it is used again. */
export const DOWN_CHECK_MS = 1_000
/** Interval of probes of an address that is up, while there are others. */
export const UP_CHECK_MS = 10_000
/** Addresses that are up are probed only if the server was used within this time. */
export const IN_USE_MS = 60_000
export const CHECK_TIMEOUT_MS = 2_000
/** Consecutive requests without a response after which an address is probed at once. */
export const MAX_FAILURES = 3
/** Maximum number of servers whose addresses are remembered. More than are mounted at once. */
export const MAX_BALANCED_SERVERS = 5_000
