import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { assertMay } from '../kernel/index.ts'
import { actorOf, addressOf, formText, uuidParam } from '../platform/http/index.ts'
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
