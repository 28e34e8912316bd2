/** Stops a list that never ends. */
export const MAX_LIST_PAGES = 200
/** Per list of one upstream. */
export const MAX_LIST_ITEMS = 5_000
/** The tools fetched for one client, as JSON and in pages. The rest is dropped. */
export const MAX_CLIENT_LIST_CHARS = 2 * 1_024 * 1_024
export const MAX_CLIENT_LIST_PAGES = 20
/** One tool, resource or prompt as JSON; the same limit as for our own tools. */
export const MAX_ITEM_CHARS = 256 * 1_024
/** One output schema. Clients compile each schema. */
export const MAX_OUTPUT_SCHEMA_CHARS = 64 * 1_024
/** Arrays and objects in one output schema. Compile time grows faster than their number. */
export const MAX_OUTPUT_SCHEMA_NODES = 750
/** Arrays and objects in all output schemas of one upstream. */
export const MAX_OUTPUT_SCHEMAS_NODES = 10_000
/** All output schemas of one upstream together. */
export const MAX_OUTPUT_SCHEMAS_CHARS = 1_024 * 1_024
/** One upstream's catalogue as JSON. It is read whenever a server is mounted. */
export const MAX_CATALOGUE_CHARS = 8 * 1_024 * 1_024
/** All catalogues of one server as JSON: several times what a model could choose from. */
export const MAX_SERVER_CATALOGUES_CHARS = 32 * 1_024 * 1_024
/** Tools of all upstreams of a server: several times what any model could choose from. */
export const MAX_UPSTREAM_TOOLS = 5_000
/** Longest name of a tool or prompt, or longest URI. */
export const MAX_ITEM_NAME_CHARS = 2_048
export const MAX_DESCRIPTION_CHARS = 16 * 1_024
export const MAX_FLAGS = 200

/** Shortest interval between automatic refreshes, even if the upstream's TTL is shorter. */
export const MIN_REFRESH_INTERVAL_MS = 60_000
/** Longest interval between refreshes, unless a refresh would have to start a process. */
export const MAX_REFRESH_INTERVAL_MS = 15 * 60_000
/** Catalogues not used for this long are dropped from memory. */
export const UNUSED_MS = 30 * 60_000
/** How often to check which catalogues are due for a refresh. */
export const DUE_CHECK_INTERVAL_MS = 30_000
/** Notifications within this time cause one refresh. */
export const BURST_MS = 100
/** After this many refreshes in quick succession the delay doubles each time, up to MIN_REFRESH_INTERVAL_MS. */
export const MAX_QUICK_REFRESHES = 10
/** How long the first client of a server waits for catalogues that were never fetched. */
export const FIRST_FETCH_TIMEOUT_MS = 2_000
