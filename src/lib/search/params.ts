export const SEARCH_MODES = ['regex', 'bm25', 'fuzzy', 'context', 'text'] as const
export type SearchMode = (typeof SEARCH_MODES)[number]

export type SearchParams = {
  /** What to look for; without it nothing is searched. */
  pattern?: string | undefined
  /** `text` where it is left out. */
  mode?: SearchMode | undefined
  /** Paths such as `users[].name` that alone are searched; none means all that there is. */
  fields?: readonly string[] | undefined
  /** Results shown, the best or first ones; DEFAULT_TOP_K where it is left out, MAX_TOP_K at most. */
  topK?: number | undefined
  /** Lines, neighbours or sentences shown on either side of a match, MAX_CONTEXT_LINES at most. */
  contextLines?: number | undefined
  /** Whether a match may go over line breaks. */
  multiline?: boolean | undefined
  caseInsensitive?: boolean | undefined
  /** Letters that may differ in mode `fuzzy`, MAX_DISTANCE at most; a quarter of them where it is left out. */
  maxDistance?: number | undefined
}

export const DEFAULT_TOP_K = 10
/** More is read by nobody, and the filter gives all of a list page by page. */
export const MAX_TOP_K = 1_000
export const MAX_CONTEXT_LINES = 50
/** With more, nearly every short word is near every other. */
export const MAX_DISTANCE = 10
/** Far above any honest pattern; the time for each character grows with it. */
export const MAX_PATTERN_CHARS = 1_000
