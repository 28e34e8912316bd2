import { z } from 'zod'
import { formText } from './pages/forms.ts'

/** Longest text that a list is searched for: a whole name fits. */
const MAX_SEARCH_CHARACTERS = 200

/** What the address of a list on a page says: a text to look for, and where to go on. Never fails. */
export const listQuery = z.object({
  q: formText.transform(text => text.trim().slice(0, MAX_SEARCH_CHARACTERS).toWellFormed()),
  cursor: formText.transform(text => (text === '' ? undefined : text)),
})

/** A path of ours with what is given of a query; what is undefined or empty is left out. */
export const addressOf = (path: string, query: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(query).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '',
  )
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}
