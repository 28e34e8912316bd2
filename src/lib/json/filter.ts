import type { JsonValue } from '../kernel/json.ts'
import { failure, type Result, success } from '../kernel/result.ts'
import { describeMiss, matches } from './describe-miss.ts'
import { type Page, pageLines, pageValue } from './paging.ts'
import { type Path, parsePaths } from './path.ts'
import type { PipelineStep } from './pipeline-step.ts'
import { excludePaths, includePaths } from './project.ts'
import type { ResultDocument, StepOutput } from './result-document.ts'

export type FilterParams = {
  /** Paths such as `users[].name`, `meta.*`, `[0]`; none means all that there is. */
  fields?: readonly string[] | undefined
  /** Whether the fields are what is kept (so where it is left out) or what is taken away. */
  mode?: 'include' | 'exclude' | undefined
  /** Items (of a text: lines) of one page, 1 or more. */
  limit?: number | undefined
  /** Items left out before the page, 0 or more. */
  offset?: number | undefined
}

/** Misses that are answered by what there is; beyond them the same would be said over and over. */
const MAX_MISSES_SHOWN = 5

type JsonDocument = Extract<ResultDocument, { kind: 'json' }>
type TextDocument = Extract<ResultDocument, { kind: 'text' }>

const pageFrom = ({ limit, offset }: FilterParams): Result<Page | undefined, string> => {
  if (limit === undefined && offset === undefined) return success(undefined)
  if (limit !== undefined && (!Number.isInteger(limit) || limit < 1))
    return failure('limit is a whole number from 1 on.')
  if (offset !== undefined && (!Number.isInteger(offset) || offset < 0))
    return failure('offset is a whole number from 0 on.')
  return success({ limit, offset: offset ?? 0 })
}

const describeMisses = (value: JsonValue, paths: readonly Path[]): readonly string[] => {
  const missed = paths.filter(path => !matches(value, path))
  const notes = missed.slice(0, MAX_MISSES_SHOWN).map(path => describeMiss(value, path))
  return missed.length > notes.length
    ? [...notes, `${missed.length - notes.length} other fields match nothing.`]
    : notes
}

const project = (value: JsonValue, paths: readonly Path[], mode: FilterParams['mode']): JsonValue => {
  if (paths.length === 0) return value
  const empty = Array.isArray(value) ? [] : {}
  return (mode === 'exclude' ? excludePaths(value, paths) : includePaths(value, paths)) ?? empty
}

const filterJson = (document: JsonDocument, paths: readonly Path[], page: Page | undefined, params: FilterParams) => {
  const misses = describeMisses(document.value, paths)
  const value = project(document.value, paths, params.mode)
  const format = Array.isArray(value) ? document.format : 'json'
  if (page === undefined) return { document: { kind: 'json' as const, value, format }, notes: misses }
  const paged = pageValue(value, params.mode === 'exclude' ? [] : paths, page)
  const notes = [...misses, paged.note]
  return { document: { kind: 'json' as const, value: paged.value, format }, notes, page: paged.page }
}

const filterText = (document: TextDocument, page: Page): StepOutput => {
  const paged = pageLines(document.text, page)
  return { document: { ...document, text: paged.text }, notes: [paged.page.note], page: paged.page }
}

const apply = (document: ResultDocument, params: FilterParams): Result<StepOutput, string> => {
  const paths = parsePaths(params.fields ?? [])
  if (!paths.ok) return paths
  const page = pageFrom(params)
  if (!page.ok) return page
  if (document.kind === 'json') return success(filterJson(document, paths.value, page.value, params))
  if (document.kind === 'binary')
    return failure(`The answer is binary (${document.mediaType}): there is nothing to choose from.`)
  if (paths.value.length > 0)
    return failure(
      `The answer is ${document.format}, which has no fields: search it, or page its lines by limit and offset.`,
    )
  return page.value === undefined ? success({ document, notes: [] }) : success(filterText(document, page.value))
}

/** Projection by paths, then paging. A path that matches nothing leaves nothing, and a note that says what there is. */
export const filter: PipelineStep<FilterParams> = {
  name: 'filter',
  isWanted: ({ fields = [], limit, offset }) => fields.length > 0 || limit !== undefined || offset !== undefined,
  apply,
}
