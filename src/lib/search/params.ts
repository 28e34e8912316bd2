export const SEARCH_MODES = ['regex', 'bm25', 'fuzzy', 'context', 'text'] as const
export type SearchMode = (typeof SEARCH_MODES)[number]

export type SearchParams = {
  /** The search runs only if this is set. */
  pattern?: string | undefined
  /** By default `text`. */
  mode?: SearchMode | undefined
  /** Limits the search to paths such as `users[].name`; none means everything. */
  fields?: readonly string[] | undefined
  /** Number of matches shown, best or first ones; by default DEFAULT_TOP_K, at most MAX_TOP_K. */
  topK?: number | undefined
  /** Lines, neighbours or sentences shown on either side of a match, at most MAX_CONTEXT_LINES. */
  contextLines?: number | undefined
  /** Whether a match may span lines. */
  multiline?: boolean | undefined
  caseInsensitive?: boolean | undefined
  /** Letters that may differ in mode `fuzzy`; by default a quarter, at most MAX_DISTANCE. */
  maxDistance?: number | undefined
}

export const DEFAULT_TOP_K = 10
/** Nobody reads more; the filter returns whole lists page by page. */
export const MAX_TOP_K = 1_000
export const MAX_CONTEXT_LINES = 50
/** With more, nearly all short words would match each other. */
export const MAX_DISTANCE = 10
/** More than any honest pattern; the time per character grows with it. */
export const MAX_PATTERN_CHARS = 1_000
