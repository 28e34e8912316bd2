import { formatNumber } from '../kernel/format.ts'
import type { JsonValue } from '../kernel/json.ts'
import { failure, type Result, success } from '../kernel/result.ts'
import { describeMiss, matches } from './describe-miss.ts'
import { dropEmptyObjects, findEmptyObjects } from './empty-objects.ts'
import { type Page, pageLines, pageValue } from './paging.ts'
import { type Path, parsePaths } from './path.ts'
import { excludePaths, includePaths } from './project.ts'
import type { JsonDocument, PipelineStep, ResultDocument, StepOutput, TextDocument } from './result-document.ts'

export type FilterParams = {
  /** Paths such as `users[].name`, `meta.*` or `[0]`. If there are none, everything is selected. */
  fields?: readonly string[] | undefined
  /** Whether to keep the fields (the default) or drop them. */
  mode?: 'include' | 'exclude' | undefined
  /** Number of items, or lines of text, per page, at least 1. */
  limit?: number | undefined
  /** Number of items to skip. A negative number counts from the end: -5 begins with the fifth last item. */
  offset?: number | undefined
}

/** Maximum number of unmatched paths that are explained individually. */
const MAX_MISSES_SHOWN = 5

/** Maximum number of objects that a filter empties and still returns. If there are more, all are left out. */
const MAX_EMPTIED_OBJECTS = 20

const pageFrom = ({ limit, offset }: FilterParams): Page | undefined =>
  limit === undefined && offset === undefined ? undefined : { limit, offset: offset ?? 0 }

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

/**
 * Leaves out the objects that the projection emptied if there are many, for example because a field was excluded that was
 * the only one. Objects that are empty in the whole value stay.
 */
const withoutEmptied = (projected: JsonValue, whole: JsonValue): { value: JsonValue; notes: readonly string[] } => {
  const before = findEmptyObjects(whole)
  const emptied = new Set([...findEmptyObjects(projected)].filter(object => !before.has(object)))
  if (emptied.size <= MAX_EMPTIED_OBJECTS) return { value: projected, notes: [] }
  const value = dropEmptyObjects(projected, emptied) ?? (Array.isArray(projected) ? [] : {})
  return { value, notes: [`${formatNumber(emptied.size)} empty objects are left out.`] }
}

const filterJson = (document: JsonDocument, paths: readonly Path[], page: Page | undefined, params: FilterParams) => {
  const projected = project(document.value, paths, params.mode)
  const { value, notes } =
    paths.length === 0 ? { value: projected, notes: [] } : withoutEmptied(projected, document.value)
  const told = [...describeMisses(document.value, paths), ...notes]
  const format = Array.isArray(value) ? document.format : 'json'
  if (page === undefined) return { document: { kind: 'json' as const, value, format }, notes: told }
  const paged = pageValue(value, params.mode === 'exclude' ? [] : paths, page)
  return {
    document: { kind: 'json' as const, value: paged.value, format },
    notes: [...told, paged.note],
    page: paged.page,
  }
}

const filterText = (document: TextDocument, page: Page): StepOutput => {
  const paged = pageLines(document.text, page)
  return { document: { ...document, text: paged.text }, notes: [paged.page.note], page: paged.page }
}

const apply = (document: ResultDocument, params: FilterParams): Result<StepOutput, string> => {
  const paths = parsePaths(params.fields ?? [])
  if (!paths.ok) return paths
  const page = pageFrom(params)
  if (document.kind === 'json') return success(filterJson(document, paths.value, page, params))
  if (document.kind === 'binary')
    return failure(`The result is binary (${document.mediaType}), so there is nothing to filter.`)
  if (paths.value.length > 0)
    return failure(
      `The result is ${document.format}, which has no fields: search it, or page through its lines with limit and offset.`,
    )
  return page === undefined ? success({ document, notes: [] }) : success(filterText(document, page))
}

/**
 * Selects fields by path, then a page. For each path that matches nothing, adds a note that says what is there instead.
 */
export const filter: PipelineStep<FilterParams> = {
  name: 'filter',
  isRequested: ({ fields = [], limit, offset }) => fields.length > 0 || limit !== undefined || offset !== undefined,
  apply,
}
