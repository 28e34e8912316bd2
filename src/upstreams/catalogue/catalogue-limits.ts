/** Pages of one list; an end to one that never ends. */
export const MAX_LIST_PAGES = 200
/** Items of one list of one upstream. */
export const MAX_LIST_ITEMS = 5_000
/** One tool, resource or prompt as JSON, in characters: as large as a tool of one's own may be. */
export const MAX_ITEM_CHARS = 256 * 1_024
/** One output schema: clients compile each. */
export const MAX_OUTPUT_SCHEMA_CHARS = 64 * 1_024
/** Arrays and objects of one, by which the time grows that it takes to compile, and more than in proportion. */
export const MAX_OUTPUT_SCHEMA_NODES = 750
/** And of all output schemas of one upstream. */
export const MAX_OUTPUT_SCHEMAS_NODES = 10_000
/** All output schemas of one upstream. */
export const MAX_OUTPUT_SCHEMAS_CHARS = 1_024 * 1_024
/** All that is kept of one upstream, as JSON, in characters: it is read with every mount. */
export const MAX_CATALOGUE_CHARS = 8 * 1_024 * 1_024
/** What all upstreams of a server have together, as JSON, in characters: several times what a model could choose from. */
export const MAX_SERVER_CATALOGUES_CHARS = 32 * 1_024 * 1_024
/** Longest name of a tool or prompt, and URI, in characters. */
export const MAX_ITEM_NAME_CHARS = 2_048
/** Longest description; what is longer is cut. */
export const MAX_DESCRIPTION_CHARS = 16 * 1_024
/** Flags kept of one upstream: the first of them say enough. */
export const MAX_FLAGS = 200

/** A refresh that nothing asked for is made no more often, whatever an upstream says of its lists. */
export const MIN_FRESH_MS = 60_000
/** And no more seldom while the upstream can be asked without starting a process. */
export const MAX_FRESH_MS = 15 * 60_000
/** What nobody read or asked for this long is let go from memory. */
export const UNUSED_MS = 30 * 60_000
/** Between two looks at what is due. */
export const TICK_MS = 30_000
/** A burst of notifications is one refresh. */
export const BURST_MS = 100
/** Refreshes one soon after the other before each waits twice as long as the one before, up to MIN_FRESH_MS. */
export const MAX_SOON_IN_A_ROW = 10
/** How long the first client of a server waits for upstreams whose lists nobody has asked for yet. */
export const FIRST_FETCH_MS = 2_000
