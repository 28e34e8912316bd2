import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { assertMay } from '../kernel/index.ts'
import { actorOf, addressOf, formatNumber, formText, uuidParam } from '../platform/http/index.ts'
import {
  getServerFrame,
  type ServerFrame,
  type ServerFrameParts,
  type ServerTab,
  serverTabPath,
} from './server-frame.ts'

export const TAB_CONFIG = { access: 'user' } as const

const ServerParams = z.object({ uuid: uuidParam })
export const serverSchema = { params: ServerParams }
export const serverIdOf = (request: FastifyRequest): string => ServerParams.parse(request.params).uuid

/** The frame of the tab that is asked for, for who asks. */
export const frameOf = (frames: ServerFrameParts, request: FastifyRequest, tab: ServerTab): Promise<ServerFrame> =>
  getServerFrame(frames, actorOf(request), serverIdOf(request), tab)

/** As `frameOf`, for who wants to change something: refused here, before it is looked at what they sent. */
export const frameForChange = async (
  frames: ServerFrameParts,
  request: FastifyRequest,
  tab: ServerTab,
): Promise<ServerFrame> => {
  const frame = await frameOf(frames, request, tab)
  assertMay(actorOf(request), frame.organizationId, 'build')
  return frame
}

/** Where a change leads: the page that shows it, which says by `done` what was done, and to how many. */
export const redirectDone = (reply: FastifyReply, path: string, done: string, count?: number): FastifyReply =>
  reply.redirect(addressOf(path, { done, count: count?.toString() }), 303)

const DoneQuery = z.object({ done: formText, count: z.coerce.number().int().min(1).catch(1) })
/** By the name in `done`: what was done, as a sentence without its full stop; `count` is how many. */
export type DoneTexts = Readonly<Record<string, (count: number) => string>>

/** What the note says after a change, and that it is live. */
export const doneNote = (
  request: FastifyRequest,
  { liveText }: Pick<ServerFrame, 'liveText'>,
  texts: DoneTexts,
): string | undefined => {
  const { done, count } = DoneQuery.parse(request.query)
  const text = Object.hasOwn(texts, done) ? texts[done] : undefined
  return text === undefined ? undefined : `${text(count)}. ${liveText}.`
}

/** Pages of a list that is held whole: which items this one shows, and the ways to those beside it. */
export type Pager = { text: string; previous: string | undefined; next: string | undefined }

export const pageNumber = z.coerce.number().int().min(1).max(100_000).catch(1)

type PagerPlace = { path: string; query: Record<string, string> }

/** The ways from one page of a list to the next; `page` counts from 1, `query` is the rest of the list's address. */
export const pagerOf = (
  { page, perPage, total, shown }: { page: number; perPage: number; total: number; shown: number },
  { path, query }: PagerPlace,
): Pager | undefined => {
  if (total <= perPage && page === 1) return undefined
  const first = (page - 1) * perPage
  const addressOfPage = (number: number) => addressOf(path, { ...query, page: number === 1 ? '' : String(number) })
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

/** Where a global of this key is added: the form is filled in so far. */
export const newGlobalPath = (serverId: string, key: string): string =>
  `${serverTabPath(serverId, 'globals')}?${new URLSearchParams({ key })}#key`

/** A tab of a server's page for pages of other folders to stand in. */
export const createServerTab = (frames: ServerFrameParts, tab: ServerTab) => ({
  frameOf: (request: FastifyRequest): Promise<ServerFrame> => frameOf(frames, request, tab),
  frameForChange: (request: FastifyRequest): Promise<ServerFrame> => frameForChange(frames, request, tab),
  pathOf: (serverId: string): string => serverTabPath(serverId, tab),
  addGlobalPath: newGlobalPath,
  doneNote,
  redirectDone,
})
