/** Each upstream is a group of tools and needs a connection. Models cannot distinguish more groups than this. */
export const MAX_UPSTREAMS_PER_SERVER = 100
/** Default timeout of one operation. */
export const DEFAULT_UPSTREAM_TIMEOUT_MS = 10_000
/** One upstream's configuration as UTF-8 JSON. It is read whenever a server is mounted. */
export const MAX_UPSTREAM_CONFIG_BYTES = 64 * 1_024
/** Maximum length of a command or working directory: the limit for a path on Linux. */
export const MAX_PATH_CHARS = 4_096
/** Maximum number of additional URLs of one remote upstream. Each URL is health-checked. */
export const MAX_MORE_URLS = 15
export const MAX_ARGUMENTS = 256
/** Maximum length of an argument or of an environment variable's value, before globals are replaced. */
export const MAX_ARGUMENT_CHARS = 8_192
export const MAX_VARIABLES = 128
export const MAX_VARIABLE_NAME_CHARS = 128
/** Maximum length of a client ID or client secret. */
export const MAX_OAUTH_CLIENT_CHARS = 2_048
export const MAX_OAUTH_SCOPES = 100
export const MAX_OAUTH_SCOPE_CHARS = 200
/** Maximum number of an upstream's tools that have their own settings. */
export const MAX_NAMED_TOOLS = 1_000
export const MAX_PATTERNS = 200
/** The newest protocol version allows tool names of up to 128 characters. */
export const MAX_PATTERN_CHARS = 200
