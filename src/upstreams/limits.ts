/** Models cannot tell more groups apart, and each upstream needs a connection. */
export const MAX_UPSTREAMS_PER_SERVER = 100
/** Default timeout of one operation. */
export const DEFAULT_UPSTREAM_TIMEOUT_MS = 10_000
/** One upstream's configuration as UTF-8 JSON. It is read whenever a server is mounted. */
export const MAX_UPSTREAM_CONFIG_BYTES = 64 * 1_024
/** Longest command and working directory: the limit of a path on Linux. */
export const MAX_PATH_CHARS = 4_096
/** Further URLs of one remote upstream. Each one is health-checked. */
export const MAX_MORE_URLS = 15
export const MAX_ARGUMENTS = 256
/** Longest argument, or value of an environment variable, before globals are replaced. */
export const MAX_ARGUMENT_CHARS = 8_192
export const MAX_VARIABLES = 128
export const MAX_VARIABLE_NAME_CHARS = 128
/** Longest client ID or client secret. */
export const MAX_OAUTH_CLIENT_CHARS = 2_048
export const MAX_OAUTH_SCOPES = 100
export const MAX_OAUTH_SCOPE_CHARS = 200
/** Tools of one upstream that have their own settings. */
export const MAX_NAMED_TOOLS = 1_000
export const MAX_PATTERNS = 200
/** The newest protocol allows 128 characters for a tool's name. */
export const MAX_PATTERN_CHARS = 200
