import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { addressOf } from '../../lib/http/list-query.ts'
import { formText } from '../../lib/http/pages/forms.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { assertMay } from '../../lib/kernel/actor.ts'
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

/** Returns the frame of the requested tab for the requesting user. */
export const frameOf = (frames: ServerFrameParts, request: FastifyRequest, tab: ServerTab): Promise<ServerFrame> =>
  getServerFrame(frames, actorOf(request), serverIdOf(request), tab)

/** Like `frameOf`, for changes. Throws `forbidden` for users who may not build, before their input is examined. */
export const frameForChange = async (
  frames: ServerFrameParts,
  request: FastifyRequest,
  tab: ServerTab,
): Promise<ServerFrame> => {
  const frame = await frameOf(frames, request, tab)
  assertMay(actorOf(request), frame.organizationId, 'build')
  return frame
}

/** Redirects after a change. `done` and `count` select the message that the page shows. */
export const redirectDone = (reply: FastifyReply, path: string, done: string, count?: number): FastifyReply =>
  reply.redirect(addressOf(path, { done, count: count?.toString() }), 303)

const DoneQuery = z.object({ done: formText, count: z.coerce.number().int().min(1).catch(1) })
/** Messages by the name in `done`: sentences without the full stop; `count` is the number of changed items. */
export type DoneTexts = Readonly<Record<string, (count: number) => string>>

/** Returns the message shown after a change, followed by the number of open connections. */
export const doneNote = (
  request: FastifyRequest,
  { liveText }: Pick<ServerFrame, 'liveText'>,
  texts: DoneTexts,
): string | undefined => {
  const { done, count } = DoneQuery.parse(request.query)
  const text = Object.hasOwn(texts, done) ? texts[done] : undefined
  return text === undefined ? undefined : `${text(count)}. ${liveText}.`
}

/** Returns the path of the form that adds a global, with the key filled in. */
export const newGlobalPath = (serverId: string, key: string): string =>
  `${serverTabPath(serverId, 'globals')}?${new URLSearchParams({ key })}#key`

/** Bundles the frame functions for pages of other folders that show a tab of a server. */
export const createServerTab = (frames: ServerFrameParts, tab: ServerTab) => ({
  frameOf: (request: FastifyRequest): Promise<ServerFrame> => frameOf(frames, request, tab),
  frameForChange: (request: FastifyRequest): Promise<ServerFrame> => frameForChange(frames, request, tab),
  pathOf: (serverId: string): string => serverTabPath(serverId, tab),
  addGlobalPath: newGlobalPath,
  doneNote,
  redirectDone,
})
