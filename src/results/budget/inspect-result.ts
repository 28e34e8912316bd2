import { LRUCache } from 'lru-cache'
import { cutText } from '../../lib/json/cut-text.ts'
import { cutToBudget } from '../../lib/json/cut-to-budget.ts'
import { decodeText, parseMediaType } from '../../lib/json/decode-text.ts'
import { heapOfDocument, MAX_HEAP_BYTES } from '../../lib/json/heap-cost.ts'
import { parseDocument } from '../../lib/json/parse-document.ts'
import { createPipeline, type PipelineOutcome } from '../../lib/json/pipeline.ts'
import { renderDocument } from '../../lib/json/render-document.ts'
import type { PageInfo, StepOutput } from '../../lib/json/result-document.ts'
import { countTokens, estimateTokens, type TokenEstimate } from '../../lib/tokens/tokens.ts'
import type { InspectionJob, InspectionView, ResultFormat } from './inspection-job.ts'

/** Maximum memory for the parsed results that a worker caches: enough for one of the largest, not two. */
const MAX_HELD_BYTES = MAX_HEAP_BYTES
/** Factor by which the cached search index increases the size of a document, and the minimum size of a cache entry. */
const INDEX_SHARE = 1.5
const MIN_ENTRY_BYTES = 10_000
/** How long a parsed result is cached. Equals CUT_RESULT_TTL_MS. */
const HELD_MS = 300_000
/** Share of the budget that notes may use, and a low estimate of characters per token, used to truncate them. */
const NOTES_SHARE = 0.4
const CHARACTERS_PER_TOKEN = 2

/** Members shown of an object whose names are data, in the beginning of a result. The others are like them. */
const KEYED_SHOWN = 2

type HeldResult = { parsed: StepOutput; bytes: number; before: TokenEstimate }

const MEDIA_TYPES: Record<ResultFormat, string> = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  text: 'text/plain',
  html: 'text/html',
  xml: 'application/xml',
  binary: 'text/plain',
}

/** Counts the tokens of a result. Those of a long one are estimated, because the caller waits for its beginning. */
const measureWhole = async (bytes: Uint8Array, mediaType: string, parsed: StepOutput): Promise<TokenEstimate> => {
  const decoded = parsed.document.kind === 'binary' ? undefined : decodeText(bytes, parseMediaType(mediaType))
  return estimateTokens(decoded?.text ?? renderDocument(parsed.document))
}

/** Returns the tokens that the job knows, if any. They are more exact than those counted here. */
const knownTokens = ({ tokensBefore, isBeforeEstimated }: InspectionJob): TokenEstimate | undefined =>
  tokensBefore === undefined ? undefined : { tokens: tokensBefore, isEstimated: isBeforeEstimated }

/** Returns the notes. The page note is replaced by one that states the number of items actually shown. */
const describeShown = (notes: readonly string[], page: PageInfo | undefined, shown: number): readonly string[] =>
  page === undefined ? notes : notes.map(note => (note === page.note ? page.describe(shown) : note))

const renderAsides = ({ errors }: PipelineOutcome, notes: readonly string[]): string =>
  [...notes, ...errors.map(error => error.message)].join('\n')

/** Returns the first notes that fit into the budget. The last one may be cut. */
const fitNotes = async (notes: readonly string[], budgetTokens: number): Promise<readonly string[]> => {
  const kept: string[] = []
  let left = Math.floor(budgetTokens * NOTES_SHARE)
  for (const note of notes) {
    const tokens = await countTokens(note)
    if (tokens > left) {
      const beginning = cutText(note, left * CHARACTERS_PER_TOKEN, 'text')
      return beginning === '' ? kept : [...kept, `${beginning}…`]
    }
    kept.push(note)
    left -= tokens
  }
  return kept
}

/**
 * Creates a function that inspects results and caches the parsed ones by key for the next inspection. The function
 * returns undefined if it is given no bytes and has nothing cached under the key.
 */
export const createResultInspection = () => {
  const held = new LRUCache<string, HeldResult>({ maxSize: MAX_HELD_BYTES, ttl: HELD_MS, updateAgeOnGet: true })
  const runSteps = createPipeline()

  const take = async (job: InspectionJob): Promise<HeldResult | undefined> => {
    const { bytes, mediaType, key } = job
    const known = key === undefined ? undefined : held.get(key)
    if (known !== undefined || bytes === undefined)
      return known && { ...known, before: knownTokens(job) ?? known.before }
    const parsed = parseDocument(bytes, mediaType)
    const before = knownTokens(job) ?? (await measureWhole(bytes, mediaType, parsed))
    const source = { parsed, bytes: bytes.byteLength, before }
    if (key !== undefined)
      held.set(key, source, { size: MIN_ENTRY_BYTES + Math.ceil(heapOfDocument(parsed.document) * INDEX_SHARE) })
    return source
  }

  const show = async (source: HeldResult, outcome: PipelineOutcome, job: InspectionJob): Promise<InspectionView> => {
    const { document, errors, page, stepsRun } = outcome
    const all = [...source.parsed.notes, ...outcome.notes]
    // The note that says how to continue comes first, because the last notes are dropped if there is no room.
    const said = page === undefined ? all : [page.note, ...all.filter(note => note !== page.note)]
    const notes = job.budgetTokens === 0 ? said : await fitNotes(said, job.budgetTokens)
    const isNothing = stepsRun > 0 && errors.length === stepsRun
    const isChanged = stepsRun > 0 && !isNothing
    const rendered = isChanged || job.budgetTokens === 0 ? renderDocument(document) : ''
    const after = isChanged ? await estimateTokens(rendered) : source.before
    // Reserves room for the page note, which is longer if the page is cut.
    const longest = page === undefined ? notes : describeShown(notes, page, page.countIn(document) - 1)
    const room = Math.max(1, job.budgetTokens - (await countTokens(renderAsides(outcome, longest))))
    const tokensOfAll = isChanged || job.budgetTokens > 0 ? after.tokens : (await estimateTokens(rendered)).tokens
    const whole = { text: rendered, shown: document, outline: '', tokensShown: tokensOfAll, isCut: false }
    const nothing = { text: '', shown: document, outline: '', tokensShown: 0, isCut: false }
    const shown = isNothing
      ? nothing
      : job.budgetTokens === 0
        ? whole
        : await cutToBudget(document, room, isChanged ? undefined : KEYED_SHOWN)
    const told = shown.isCut && page !== undefined ? describeShown(notes, page, page.countIn(shown.shown)) : notes
    const asideTokens = await countTokens(renderAsides(outcome, told))
    const format = document.kind === 'binary' ? 'binary' : document.format
    return {
      text: shown.text,
      outline: shown.outline,
      notes: told,
      errors,
      format,
      isCut: shown.isCut,
      bytes: source.bytes,
      tokensBefore: source.before.tokens,
      isBeforeEstimated: source.before.isEstimated,
      tokensAfter: after.tokens,
      isAfterEstimated: after.isEstimated,
      tokensShown: shown.tokensShown + asideTokens,
      whole:
        job.keepsWhole && isChanged
          ? { utf8: new TextEncoder().encode(rendered), mediaType: MEDIA_TYPES[format] }
          : undefined,
    }
  }

  return async (job: InspectionJob): Promise<InspectionView | undefined> => {
    const source = await take(job)
    return source === undefined ? undefined : show(source, runSteps(source.parsed.document, job.steps), job)
  }
}
