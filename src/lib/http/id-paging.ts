import { z } from 'zod'
import { decodeCursor, type Page, type PageQuery, toPage } from './paging.ts'

/**
 * Keyset paging by id: at most `limit` items after `afterId`. Stores fetch one extra row to find out whether there is a
 * next page.
 */
export type IdPage = { limit: number; afterId: string | undefined }

export const idPageOf = (query: PageQuery): IdPage => ({
  limit: query.limit,
  afterId: decodeCursor(query.cursor, z.uuid()),
})

export const toIdPage = <T extends { id: string }, V>(
  rows: readonly T[],
  { limit }: IdPage,
  toView: (row: T) => V,
): Page<V> => {
  const { items, nextCursor } = toPage(rows, limit, last => last.id)
  return { items: items.map(toView), nextCursor }
}

/** Returns the query arguments that select one page of the rows matching `where`. */
export const idPageQuery = <Where extends object>({ limit, afterId }: IdPage, where: Where) => ({
  where: { ...where, ...(afterId !== undefined && { id: { gt: afterId } }) },
  take: limit + 1,
  orderBy: { id: 'asc' as const },
})
