import { createHash } from 'node:crypto'

const MAX_CHARS = 64

/** Key of an upstream's session. Long ids are hashed to bound its size. */
export const sessionKey = (session: string): string =>
  session.length <= MAX_CHARS ? session : createHash('sha256').update(session).digest('base64')
