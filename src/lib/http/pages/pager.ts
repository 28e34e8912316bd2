import { z } from 'zod'
import { formatNumber } from '../../kernel/format.ts'
import { addressOf } from '../list-query.ts'

/** The range of items on a list page and the addresses of the previous and next pages. */
export type Pager = { text: string; previous: string | undefined; next: string | undefined }

export const pageNumber = z.coerce.number().int().min(1).max(100_000).catch(1)

/** `name` is the query parameter for the page number. Set it on pages with several lists. */
type PagerPlace = { path: string; query: Record<string, string>; name?: string }

/**
 * Returns the pager of a list page, or undefined if all items fit on one page. `page` counts from 1. `query` contains
 * the other query parameters.
 */
export const pagerOf = (
  { page, perPage, total, shown }: { page: number; perPage: number; total: number; shown: number },
  { path, query, name = 'page' }: PagerPlace,
): Pager | undefined => {
  if (total <= perPage && page === 1) return undefined
  const first = (page - 1) * perPage
  const addressOfPage = (number: number) => addressOf(path, { ...query, [name]: number === 1 ? '' : String(number) })
  const range = shown === 0 ? 'None' : `${formatNumber(first + 1)} to ${formatNumber(first + shown)}`
  return {
    text: `${range} of ${formatNumber(total)}`,
    previous: page > 1 ? addressOfPage(page - 1) : undefined,
    next: first + shown < total && shown > 0 ? addressOfPage(page + 1) : undefined,
  }
}

/** Returns the items and pager of a page, or of the last page if the page number is too high. */
export const takePage = <T>(
  items: readonly T[],
  { page, perPage, ...place }: PagerPlace & { page: number; perPage: number },
): { shown: readonly T[]; pager: Pager | undefined } => {
  const current = Math.min(page, Math.max(1, Math.ceil(items.length / perPage)))
  const shown = items.slice((current - 1) * perPage, current * perPage)
  const counts = { page: current, perPage, total: items.length, shown: shown.length }
  return { shown, pager: pagerOf(counts, place) }
}
