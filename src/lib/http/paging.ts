import { z } from 'zod'
import { AppError } from '../kernel/errors.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../kernel/limits.ts'

/** Maximum length of an accepted cursor. Our cursors have about 100 characters. */
const MAX_CURSOR_CHARACTERS = 1_024

/** Query parameters of every list. */
export const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(MAX_PAGE_SIZE).default(DEFAULT_PAGE_SIZE),
  cursor: z.string().max(MAX_CURSOR_CHARACTERS).optional().describe('nextCursor of the previous page'),
})
export type PageQuery = z.infer<typeof pageQuery>

export type Page<T> = { items: T[]; nextCursor: string | null }

/** Returns the response schema for a list whose items match `item`. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable().describe('null on the last page') })

/** Cursors are opaque to clients, so their format may change between releases. */
export const encodeCursor = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const badCursor = (): AppError =>
  new AppError('invalid_request', 'The cursor is not from this list. Start again without a cursor.', {
    errors: [{ path: 'cursor', message: 'is not a cursor from this list' }],
  })

/** Decodes a cursor and validates it against the list's `schema`. Throws `invalid_request` if it is not valid. */
export const decodeCursor = <T extends z.ZodType>(cursor: string | undefined, schema: T): z.output<T> | undefined => {
  if (cursor === undefined) return undefined
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    throw badCursor()
  }
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw badCursor()
  return parsed.data
}

/**
 * Builds a page from at most `limit + 1` rows. The extra row means that there is a next page. `cursorOf` returns the
 * sort key of the page's last item. The next page starts after that key.
 */
export const toPage = <T>(rows: readonly T[], limit: number, cursorOf: (last: T) => unknown): Page<T> => {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(cursorOf(last)) : null }
}
