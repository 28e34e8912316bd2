/** Maximum number of pages, to stop a list that never ends. */
export const MAX_LIST_PAGES = 200
/** Maximum number of items in one list of an upstream. */
export const MAX_LIST_ITEMS = 5_000
/** Maximum size of the tools fetched for one client, as JSON and in pages. Any tools beyond it are dropped. */
export const MAX_CLIENT_LIST_CHARS = 2 * 1_024 * 1_024
export const MAX_CLIENT_LIST_PAGES = 20
/** Maximum size of one tool, resource or prompt as JSON, the same as for Patchbay's own tools. */
export const MAX_ITEM_CHARS = 256 * 1_024
/** Maximum size of one output schema. Clients compile every schema. */
export const MAX_OUTPUT_SCHEMA_CHARS = 64 * 1_024
/** Maximum number of arrays and objects in one output schema. Compile time grows faster than this number. */
export const MAX_OUTPUT_SCHEMA_NODES = 750
/** Maximum number of arrays and objects in all output schemas of one upstream. */
export const MAX_OUTPUT_SCHEMAS_NODES = 10_000
/** Maximum total size of one upstream's output schemas. */
export const MAX_OUTPUT_SCHEMAS_CHARS = 1_024 * 1_024
/** Maximum size of one upstream's catalogue as JSON. The catalogue is read whenever a server is mounted. */
export const MAX_CATALOGUE_CHARS = 8 * 1_024 * 1_024
/** Maximum size of all catalogues of one server as JSON: several times what a model could choose from. */
export const MAX_SERVER_CATALOGUES_CHARS = 32 * 1_024 * 1_024
/** Maximum number of tools from all upstreams of a server: several times what any model could choose from. */
export const MAX_UPSTREAM_TOOLS = 5_000
/** Maximum length of a tool name, a prompt name or a URI. */
export const MAX_ITEM_NAME_CHARS = 2_048
export const MAX_DESCRIPTION_CHARS = 16 * 1_024
export const MAX_FLAGS = 200

/** Minimum interval between automatic refreshes, even if the upstream's TTL is shorter. */
export const MIN_REFRESH_INTERVAL_MS = 60_000
/** Maximum interval between refreshes, unless a refresh would have to start a process. */
export const MAX_REFRESH_INTERVAL_MS = 15 * 60_000
/** Catalogues that are not used for this long are dropped from memory. */
export const UNUSED_MS = 30 * 60_000
/** How often to check which catalogues are due for a refresh. */
export const DUE_CHECK_INTERVAL_MS = 30_000
/** Notifications that arrive within this time cause only one refresh. */
export const BURST_MS = 100
/** After this many refreshes in quick succession, each refresh doubles the delay, up to MIN_REFRESH_INTERVAL_MS. */
export const MAX_QUICK_REFRESHES = 10
/** How long the first client of a server waits for catalogues that have never been fetched. */
export const FIRST_FETCH_TIMEOUT_MS = 2_000
