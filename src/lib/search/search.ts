import { type Path, parsePaths } from '../json/path.ts'
import type { PipelineStep, ResultDocument, StepOutput } from '../json/result-document.ts'
import { formatNumber } from '../kernel/format.ts'
import { failure, type Result } from '../kernel/result.ts'
import { BEST_TOP_K, DEFAULT_TOP_K, type Query, type SearchParams } from './query.ts'
import { buildIndex, type SearchIndex } from './search-index.ts'
import { searchJson } from './search-json.ts'
import { searchText } from './search-text.ts'
import { splitWords } from './split-words.ts'

/** Maximum CPU time of a search. When it is used up, the search returns what it has found. */
const MAX_SEARCH_MS = 2_000
/** Maximum elapsed time of a search on a busy machine. */
const MAX_WAIT_MS = 10_000

const threadTimeMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Returns a function that tells whether the time is up. */
const startClock = (): (() => boolean) => {
  const [startMs, startOfThreadMs] = [performance.now(), threadTimeMs()]
  return () => {
    const tookMs = performance.now() - startMs
    return tookMs > MAX_SEARCH_MS && (tookMs > MAX_WAIT_MS || threadTimeMs() - startOfThreadMs > MAX_SEARCH_MS)
  }
}

const refusalOf = ({ pattern, mode }: SearchParams): string | undefined => {
  if (pattern === undefined || pattern === '') {
    return 'The pattern is empty. proxy_explore shows what there is to search.'
  }
  return mode === 'bm25' && splitWords(pattern).length === 0
    ? 'Mode "bm25" ranks by words, and the pattern has none: use mode "text".'
    : undefined
}

const toQuery = (
  { pattern = '', mode = 'text', ...params }: SearchParams,
  fields: readonly Path[],
  show: readonly Path[],
): Query => ({
  pattern,
  mode,
  fields,
  show,
  topK: params.topK ?? (mode === 'bm25' ? BEST_TOP_K : DEFAULT_TOP_K),
  contextLines: params.contextLines,
  // A literal pattern that contains a line break can match only across lines.
  multiline: params.multiline === true || (mode === 'text' && pattern.includes('\n')),
  caseInsensitive: params.caseInsensitive ?? false,
  maxDistance: params.maxDistance,
  isLate: startClock(),
})

/** Searches a prepared index, so that repeated searches of one document are fast. The error is a sentence. */
export const searchIndex = (index: SearchIndex, params: SearchParams): Result<StepOutput, string> => {
  const refusal = refusalOf(params)
  if (refusal !== undefined) return failure(refusal)
  const fields = parsePaths(params.fields ?? [])
  if (!fields.ok) return fields
  const show = parsePaths(params.show ?? [])
  if (!show.ok) return show
  switch (index.kind) {
    case 'json':
      return searchJson(index, toQuery(params, fields.value, show.value))
    case 'text':
      if (fields.value.length > 0) {
        return failure(`The result is ${index.document.format}, which has no fields: omit fields to search all of it.`)
      }
      if (show.value.length > 0) {
        return failure(`The result is ${index.document.format}, which has no records: use context_lines, not show.`)
      }
      return searchText(index, toQuery(params, fields.value, show.value))
    case 'binary':
      return failure(
        `The result is binary (${index.mediaType}, ${formatNumber(index.bytes)} bytes): there is no text to search.`,
      )
  }
}

/** Creates the search step. The index of a document is cached for as long as the document exists. */
export const createSearch = (): PipelineStep<SearchParams> => {
  const indices = new WeakMap<ResultDocument, SearchIndex>()
  const indexOf = (document: ResultDocument): SearchIndex => {
    const index = indices.get(document) ?? buildIndex(document)
    indices.set(document, index)
    return index
  }
  return {
    name: 'search',
    isRequested: ({ pattern }) => pattern !== undefined,
    apply: (document, params) => searchIndex(indexOf(document), params),
  }
}
