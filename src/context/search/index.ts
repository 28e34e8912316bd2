export { MAX_PATTERN_CHARS, MAX_TOP_K, SEARCH_MODES, type SearchParams } from './params.ts'
export { createSearch, searchIndex } from './search.ts'
export { buildIndex } from './search-index.ts'
