import { z } from 'zod'
import { formText } from './pages/forms.ts'

/** Maximum length of a list's search text. Long enough for any name. */
const MAX_SEARCH_CHARACTERS = 200

/** Query parameters of a list page: the search text and the cursor. Parsing never fails. */
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

/** Returns the address of the next page of a list, or undefined on the last page. */
export const nextAddressOf = (
  path: string,
  nextCursor: string | null,
  query: Readonly<Record<string, string | undefined>> = {},
): string | undefined => (nextCursor === null ? undefined : addressOf(path, { ...query, cursor: nextCursor }))
