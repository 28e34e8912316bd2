import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { MINUTE_MS } from '../../lib/kernel/durations.ts'
import { SealError, type Sealing } from '../../lib/process/sealing.ts'

/** How long a removal can be undone. */
const UNDO_MS = 10 * MINUTE_MS
const COOKIE = 'removed'
/** Browsers store cookies of up to 4,096 bytes, including name and attributes (RFC 6265bis). */
const MAX_COOKIE_CHARACTERS = 3_800

type Page = {
  /** The path of the page that offers *Undo*, and of everything below it. */
  path: string
}

/**
 * Keeps what was removed in a cookie for ten minutes, so that its user can restore it. The cookie is encrypted, and only
 * for this user, page and purpose. The server keeps nothing. What does not fit into a cookie cannot be restored.
 */
export const createUndo = <Removed>(sealing: Sealing, purpose: string, schema: z.ZodType<Removed>) => {
  const Kept = z.object({ endsAt: z.number(), removed: schema })
  const contextOf = (request: FastifyRequest, { path }: Page) => ({
    purpose: `undo ${purpose}`,
    ownerId: actorOf(request).userId,
    name: path,
  })
  const clear = (reply: FastifyReply, { path }: Page) => reply.clearCookie(COOKIE, { path })

  const open = (text: string, context: ReturnType<typeof contextOf>): z.infer<typeof Kept> | undefined => {
    const [keyId = '', sealed = ''] = text.split('.')
    try {
      const opened = sealing.open({ keyId, text: Buffer.from(sealed, 'base64url').toString('base64') }, context)
      // A version before may have written something else.
      return Kept.safeParse(JSON.parse(inflateRawSync(Buffer.from(opened, 'base64')).toString())).data
    } catch (error) {
      if (error instanceof SealError) return undefined
      throw error
    }
  }

  /** Returns the value of the cookie, or undefined if it is too large for one. */
  const seal = (request: FastifyRequest, page: Page, removed: Removed): string | undefined => {
    const endsAt = request.server.sessionOptions.now() + UNDO_MS
    const plain = deflateRawSync(JSON.stringify({ endsAt, removed })).toString('base64')
    const { keyId, text } = sealing.seal(plain, contextOf(request, page))
    const value = `${keyId}.${Buffer.from(text, 'base64').toString('base64url')}`
    return value.length > MAX_COOKIE_CHARACTERS ? undefined : value
  }

  return {
    /** Says, before the removal, whether it can be undone. */
    describe: (request: FastifyRequest, page: Page, removed: Removed): string =>
      seal(request, page, removed) === undefined
        ? 'This cannot be undone, because it is more than can be restored at once.'
        : 'You can undo this for 10 minutes.',

    keep: (request: FastifyRequest, reply: FastifyReply, page: Page, removed: Removed): void => {
      const value = seal(request, page, removed)
      const secure = request.server.sessionOptions.isHttps
      const options = { path: page.path, httpOnly: true, sameSite: 'lax', secure } as const
      // An earlier removal must not be offered in its place.
      if (value === undefined) clear(reply, page)
      else reply.setCookie(COOKIE, value, { ...options, maxAge: UNDO_MS / 1_000 })
    },

    /** Returns what the user removed from this page last, if that was less than ten minutes ago. */
    find: (request: FastifyRequest, page: Page): Removed | undefined => {
      const kept = open(request.cookies[COOKIE] ?? '', contextOf(request, page))
      return kept !== undefined && kept.endsAt > request.server.sessionOptions.now() ? kept.removed : undefined
    },

    forget: clear,
  }
}
