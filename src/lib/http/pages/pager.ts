import { z } from 'zod'
import { addressOf } from '../list-query.ts'
import { formatNumber } from './format.ts'

/** Pages of a list that is held whole: which items this one shows, and the ways to those beside it. */
export type Pager = { text: string; previous: string | undefined; next: string | undefined }

export const pageNumber = z.coerce.number().int().min(1).max(100_000).catch(1)

/** `name`: of the page's number in the address, where a page has several lists. */
type PagerPlace = { path: string; query: Record<string, string>; name?: string }

/** The ways from one page of a list to the next; `page` counts from 1, `query` is the rest of the list's address. */
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

/** The items of a list that its page shows; the last page stands for any after it. */
export const takePage = <T>(
  items: readonly T[],
  { page, perPage, ...place }: PagerPlace & { page: number; perPage: number },
): { shown: readonly T[]; pager: Pager | undefined } => {
  const current = Math.min(page, Math.max(1, Math.ceil(items.length / perPage)))
  const shown = items.slice((current - 1) * perPage, current * perPage)
  const counts = { page: current, perPage, total: items.length, shown: shown.length }
  return { shown, pager: pagerOf(counts, place) }
}
