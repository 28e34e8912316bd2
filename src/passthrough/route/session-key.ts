import { createHash } from 'node:crypto'

const MAX_CHARS = 64

/** What a session of an upstream is remembered by: long ids by their hash, so that it has a bounded size. */
export const sessionKey = (session: string): string =>
  session.length <= MAX_CHARS ? session : createHash('sha256').update(session).digest('base64')
