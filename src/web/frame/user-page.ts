import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { type IdPage, idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { nextAddressOf } from '../../lib/http/list-query.ts'
import { formText } from '../../lib/http/pages/forms.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { DEFAULT_PAGE_SIZE } from '../../lib/kernel/limits.ts'

/** Route options for pages that require a signed-in user. */
export const userRoute = { config: { access: 'user' } } as const
/** Route options for pages that require a signed-in user and have an `id` in their path. */
export const idRoute = { ...userRoute, schema: { params: uuidParams } } as const
export const idOf = ({ params }: FastifyRequest): string => uuidParams.parse(params).id
/** Returns the query parameters of the URL exactly as they were sent. */
export const queryOf = ({ url }: FastifyRequest): URLSearchParams =>
  new URLSearchParams(url.split('?').slice(1).join('?'))
/** Options for a form that concerns only the signed-in user. */
export const ownForm = { ...userRoute, load: actorOf } as const

const DoneQuery = z.object({ done: formText })

/** Returns the message shown after a change. The `done` query parameter selects it. */
export const doneText = ({ query }: FastifyRequest, texts: Readonly<Record<string, string>>): string | undefined => {
  const { done } = DoneQuery.parse(query)
  return Object.hasOwn(texts, done) ? texts[done] : undefined
}

/** Returns whether the page was opened after a removal, as `done` says. */
export const isAfter = ({ query }: FastifyRequest, ...names: readonly string[]): boolean =>
  names.includes(DoneQuery.parse(query).done)

/** Returns one page of a list ordered by ID, and the URL of the next page. */
export const readList = async <Row extends { id: string }, View>(
  place: { path: string; cursor: string | undefined; query?: Record<string, string>; limit?: number },
  list: (page: IdPage) => Promise<readonly Row[]>,
  toView: (row: Row) => View,
): Promise<{ items: View[]; next: string | undefined }> => {
  const { path, cursor, query, limit = DEFAULT_PAGE_SIZE } = place
  const page = idPageOf({ limit, cursor })
  const { items, nextCursor } = toIdPage(await list(page), page, toView)
  return { items, next: nextAddressOf(path, nextCursor, query) }
}
