/** Upstreams of one server; above it no model tells the groups apart, and each is a connection. */
export const MAX_UPSTREAMS_PER_SERVER = 100
/** One operation of an upstream, unless it says otherwise. */
export const DEFAULT_UPSTREAM_TIMEOUT_MS = 10_000
/** An upstream's whole configuration as UTF-8 JSON: it is read with every mount. */
export const MAX_UPSTREAM_CONFIG_BYTES = 64 * 1_024
/** Longest command and working directory, in characters: Linux takes no longer path. */
export const MAX_PATH_CHARS = 4_096
/** Addresses of one remote upstream besides its first: each is asked whether it is there. */
export const MAX_MORE_URLS = 15
/** Arguments of one command. */
export const MAX_ARGUMENTS = 256
/** Longest argument, and value of an environment variable, as written, in characters. */
export const MAX_ARGUMENT_CHARS = 8_192
/** Variables in the environment of one command. */
export const MAX_VARIABLES = 128
/** Longest name of an environment variable, in characters. */
export const MAX_VARIABLE_NAME_CHARS = 128
/** Longest client ID and secret that an authorization server gives out, in characters. */
export const MAX_OAUTH_CLIENT_CHARS = 2_048
/** Scopes that one account is asked for. */
export const MAX_OAUTH_SCOPES = 100
/** Longest of them, in characters. */
export const MAX_OAUTH_SCOPE_CHARS = 200
/** Tools of one upstream that something of their own is said of. */
export const MAX_NAMED_TOOLS = 1_000
/** Patterns of tool names in one list. */
export const MAX_PATTERNS = 200
/** Longest pattern, in characters: a tool's own name may have 128 in the newest protocol. */
export const MAX_PATTERN_CHARS = 200
