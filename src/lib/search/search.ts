import { parsePaths } from '../json/path.ts'
import type { PipelineStep } from '../json/pipeline-step.ts'
import type { ResultDocument, StepOutput } from '../json/result-document.ts'
import { failure, type Result } from '../kernel/result.ts'
import { threadTimeMs } from '../worker/thread-time.ts'
import {
  DEFAULT_TOP_K,
  MAX_CONTEXT_LINES,
  MAX_DISTANCE,
  MAX_PATTERN_CHARS,
  MAX_TOP_K,
  SEARCH_MODES,
  type SearchParams,
} from './params.ts'
import type { Look } from './query.ts'
import { buildIndex, type SearchIndex } from './search-index.ts'
import { searchJson } from './search-json.ts'
import { searchText } from './search-text.ts'
import { splitWords } from './split-words.ts'

/** What one search may take of a core, in milliseconds; what it found until then is answered. */
const MAX_SEARCH_MS = 2_000
/** The same on a machine that is busy with everything else, while somebody waits. */
const MAX_WAIT_MS = 10_000

/** Tells when time is up. */
const startClock = (): (() => boolean) => {
  const [startMs, startOfThreadMs] = [performance.now(), threadTimeMs()]
  return () => {
    const tookMs = performance.now() - startMs
    return tookMs > MAX_SEARCH_MS && (tookMs > MAX_WAIT_MS || threadTimeMs() - startOfThreadMs > MAX_SEARCH_MS)
  }
}

const checkNumber = (name: string, value: number | undefined, least: number, most: number): string | undefined =>
  value === undefined || (Number.isInteger(value) && value >= least && value <= most)
    ? undefined
    : `${name} is a whole number from ${least} to ${most.toLocaleString('en')}.`

const refusalOf = ({ pattern, mode, topK, contextLines, maxDistance }: SearchParams): string | undefined => {
  if (pattern === undefined || pattern === '') {
    return 'The pattern is empty: say what to look for. proxy_explore shows what there is.'
  }
  if (pattern.length > MAX_PATTERN_CHARS) {
    return `The pattern is too long: at most ${MAX_PATTERN_CHARS.toLocaleString('en')} characters.`
  }
  if (mode === 'bm25' && splitWords(pattern).length === 0) {
    return 'Mode "bm25" ranks by words, and the pattern has none: use mode "text".'
  }
  if (mode !== undefined && !SEARCH_MODES.includes(mode)) return `mode is one of ${SEARCH_MODES.join(', ')}.`
  return (
    checkNumber('top_k', topK, 1, MAX_TOP_K) ??
    checkNumber('context_lines', contextLines, 0, MAX_CONTEXT_LINES) ??
    checkNumber('max_distance', maxDistance, 0, MAX_DISTANCE)
  )
}

const toLook = ({ pattern = '', mode = 'text', ...params }: SearchParams): Look => ({
  pattern,
  mode,
  topK: params.topK ?? DEFAULT_TOP_K,
  contextLines: params.contextLines,
  // A text says itself that it goes over line breaks.
  multiline: params.multiline === true || (mode === 'text' && pattern.includes('\n')),
  caseInsensitive: params.caseInsensitive ?? false,
  maxDistance: params.maxDistance,
  isLate: startClock(),
})

/** Searches what was read before: the second search on one document is the faster for it. The error is a sentence. */
export const searchIndex = (index: SearchIndex, params: SearchParams): Result<StepOutput, string> => {
  const refusal = refusalOf(params)
  if (refusal !== undefined) return failure(refusal)
  const paths = parsePaths(params.fields ?? [])
  if (!paths.ok) return paths
  switch (index.kind) {
    case 'json':
      return searchJson(index, paths.value, toLook(params))
    case 'text':
      if (paths.value.length > 0) {
        return failure(
          `The answer is ${index.document.format}, which has no fields: leave fields out, and all of it is searched.`,
        )
      }
      return searchText(index, toLook(params))
    case 'binary':
      return failure(
        `The answer is binary (${index.mediaType}, ${index.bytes.toLocaleString('en')} bytes): there is no text to search.`,
      )
  }
}

/** The search as a step of what looks into an answer; it keeps the index of a document as long as that is kept. */
export const createSearch = (): PipelineStep<SearchParams> => {
  const indices = new WeakMap<ResultDocument, SearchIndex>()
  const indexOf = (document: ResultDocument): SearchIndex => {
    const index = indices.get(document) ?? buildIndex(document)
    indices.set(document, index)
    return index
  }
  return {
    name: 'search',
    isWanted: ({ pattern }) => pattern !== undefined,
    apply: (document, params) => searchIndex(indexOf(document), params),
  }
}
