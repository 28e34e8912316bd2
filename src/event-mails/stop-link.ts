import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Sealing } from '../lib/process/sealing.ts'

const PATH = '/stop-event-emails'
const TOKEN = /^([\da-f-]{36})\.([\w-]{43})$/

/**
 * Creates the links with which the emails of a member can be stopped without signing in. Their token is the id of the
 * choice with its HMAC, so it works as long as the choice exists.
 */
export const createStopLinks = (sealing: Pick<Sealing, 'derive'>, baseUrl: string) => {
  const keys = sealing.derive('event mail stop links').map(({ key }) => key)
  const sign = (key: Buffer, id: string): Buffer => createHmac('sha256', key).update(id).digest()
  return {
    linkTo: (id: string): string => {
      const [key] = keys
      if (key === undefined) throw new Error('no master key is set')
      return `${baseUrl}${PATH}?token=${id}.${sign(key, id).toString('base64url')}`
    },
    /** Returns the id in a token, or undefined if the token was not made here. */
    read: (token: string): string | undefined => {
      const [, id = '', signature = ''] = TOKEN.exec(token) ?? []
      const sent = Buffer.from(signature, 'base64url')
      return keys.some(key => sent.length === 32 && timingSafeEqual(sign(key, id), sent)) ? id : undefined
    },
  }
}
export type StopLinks = ReturnType<typeof createStopLinks>
