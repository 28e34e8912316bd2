import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf, isSafeMethod } from '../../lib/http/access.ts'
import { addressOf } from '../../lib/http/list-query.ts'
import { formText } from '../../lib/http/pages/forms.ts'
import { serverParams } from '../../lib/http/schemas.ts'
import { assertMay } from '../../lib/kernel/actor.ts'
import {
  getServerFrame,
  type ServerFrame,
  type ServerFrameParts,
  type ServerTab,
  serverTabPath,
} from './server-frame.ts'
import { userRoute } from './user-page.ts'

/** Route options for a server's pages: access and path parameters. */
export const serverRoute = { ...userRoute, schema: { params: serverParams } } as const
export const serverIdOf = (request: FastifyRequest): string => serverParams.parse(request.params).uuid

/** Returns functions that load the frame around a tab of a server's page for the requesting user. */
export const createServerTab = (frames: ServerFrameParts, tab: ServerTab) => {
  /** Loads the frame. Throws `forbidden` for users who may not build, before their input is validated. */
  const frameForChange = async (request: FastifyRequest): Promise<ServerFrame> => {
    const frame = await getServerFrame(frames, actorOf(request), serverIdOf(request), tab)
    assertMay(actorOf(request), frame.organizationId, 'build')
    return frame
  }
  return {
    frameForChange,
    /** Works like `frameForChange`, but lets everyone in the organization view the page. */
    frameOf: (request: FastifyRequest): Promise<ServerFrame> =>
      isSafeMethod(request.method)
        ? getServerFrame(frames, actorOf(request), serverIdOf(request), tab)
        : frameForChange(request),
  }
}

/** Returns the path to redirect to after a change. `done` and `count` select the message shown on the page. */
export const donePath = (path: string, done: string, count?: number): string =>
  addressOf(path, { done, count: count?.toString() })

const DoneQuery = z.object({ done: formText, count: z.coerce.number().int().min(1).catch(1) })
/** Messages by the value of `done`, without the final period. `count` is the number of changed items. */
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

/** Returns the path of the form for adding a global, with the key filled in. */
export const newGlobalPath = (serverId: string, key: string): string =>
  `${serverTabPath(serverId, 'globals')}?${new URLSearchParams({ key })}#key`
