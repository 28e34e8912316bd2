import { z } from 'zod'
import { CHANGE_PARTS } from '../../imports/again/compared-items.store.ts'
import { IMPORT_ITEM_STATES } from '../../imports/import.ts'
import type { ItemFilter } from '../../imports/imports.service.ts'
import { addressOf, listQuery } from '../../lib/http/list-query.ts'
import { formText } from '../../lib/http/pages/forms.ts'

export const REVIEW_VIEWS = ['changes', 'operations', 'findings', 'names', 'access'] as const

const given = formText.transform(text => (text === '' ? undefined : text))

/** What the review page shows. Parsing never fails. */
export const ReviewQuery = listQuery.extend({
  view: z.enum(REVIEW_VIEWS).catch('operations'),
  tag: given,
  /** Lists the operations without a tag. */
  untagged: z.literal('on').optional().catch(undefined),
  method: given,
  state: z.enum(IMPORT_ITEM_STATES).optional().catch(undefined),
  rule: given,
  /** `selected` lists only the selected operations. */
  show: z.enum(['selected']).optional().catch(undefined),
  /** The part of the changes that is listed alone. */
  part: z.enum(CHANGE_PARTS).optional().catch(undefined),
  /** Key of the opened operation. */
  open: given,
})
export type ReviewQuery = z.infer<typeof ReviewQuery>

/** Returns the tag whose operations are listed, '' for those without one. */
export const tagOf = ({ tag, untagged }: Pick<ReviewQuery, 'tag' | 'untagged'>): string | undefined =>
  untagged === undefined ? tag : ''

/** Returns the parameters that list the operations of a tag. */
export const tagQuery = (tag: string | undefined): Pick<ReviewQuery, 'tag' | 'untagged'> =>
  tag === '' ? { tag: undefined, untagged: 'on' } : { tag, untagged: undefined }

/** Returns which operations are listed. */
export const toFilter = ({ q, method, state, rule, show, ...query }: ReviewQuery): ItemFilter => ({
  ...(q === '' ? {} : { q }),
  ...(tagOf(query) === undefined ? {} : { tag: tagOf(query) }),
  ...(method === undefined ? {} : { method }),
  ...(state === undefined ? {} : { state }),
  ...(rule === undefined ? {} : { rule }),
  ...(show === undefined ? {} : { selected: true }),
})

/** Returns whether the list is filtered by more than a tag, whose folder shows it. */
export const isFiltered = ({ q, method, state, rule, show }: ReviewQuery): boolean =>
  q !== '' || [method, state, rule, show].some(one => one !== undefined)

/** Returns the address of the page with this query. */
export const reviewAddress = (path: string, query: Partial<ReviewQuery>): string => addressOf(path, query)
