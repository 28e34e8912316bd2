import { z } from 'zod'
import { formText } from './pages/forms.ts'

/** Longest search text for a list; long enough for any name. */
const MAX_SEARCH_CHARACTERS = 200

/** Query parameters of a list page: search text and cursor. Parsing never fails. */
export const listQuery = z.object({
  q: formText.transform(text => text.trim().slice(0, MAX_SEARCH_CHARACTERS).toWellFormed()),
  cursor: formText.transform(text => (text === '' ? undefined : text)),
})

/** Adds a query string to a path. Omits undefined and empty values. */
export const addressOf = (path: string, query: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(query).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '',
  )
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

/** Returns the address of a list's next page; undefined on the last one. */
export const nextAddressOf = (
  path: string,
  nextCursor: string | null,
  query: Readonly<Record<string, string | undefined>> = {},
): string | undefined => (nextCursor === null ? undefined : addressOf(path, { ...query, cursor: nextCursor }))
