import { AppError } from '../kernel/index.ts'
import type { Transaction } from '../platform/db/index.ts'
import type { MailedLink } from './mailed-links.store.ts'
import * as store from './mailed-links.store.ts'
import { buildLink, LINK_TTL_MS, type LinkPurpose, linkHashOf, makeLinkToken } from './mailed-links.ts'

export type MailedLinksParts = {
  /** The origin of every link: never what a request says. */
  baseUrl: string
  /** Milliseconds since 1970. */
  now: () => number
}

/** One text for every way a link can fail: which it was is nobody's business. */
export const linkIsOver = (): AppError =>
  new AppError(
    'invalid_request',
    'This link is no good any more: it was used, or its time is over. Ask for a new one.',
    {
      errors: [{ path: 'token', message: 'is no good any more' }],
    },
  )

/** Links in letters, each good once and for a time. `check` and `take` throw `invalid_request`. */
export const createMailedLinks = ({ baseUrl, now }: MailedLinksParts) => {
  const find = async (
    token: string,
    look: (tokenHash: string, at: Date) => Promise<MailedLink | undefined>,
  ): Promise<MailedLink> => {
    const tokenHash = linkHashOf(token)
    const link = tokenHash === undefined ? undefined : await look(tokenHash, new Date(now()))
    if (link === undefined) throw linkIsOver()
    return link
  }
  return {
    /** Makes a link and answers its address: the only time that it is seen. */
    issue: async (tx: Transaction, purpose: LinkPurpose, { userId, email }: MailedLink): Promise<string> => {
      const { token, tokenHash } = makeLinkToken()
      const expiresAt = new Date(now() + LINK_TTL_MS[purpose])
      await store.createMailedLink(tx, { userId, purpose, email, tokenHash, expiresAt })
      return buildLink(baseUrl, purpose, token)
    },
    check: (tx: Transaction, purpose: LinkPurpose, token: string): Promise<MailedLink> =>
      find(token, (tokenHash, at) => store.findMailedLink(tx, purpose, tokenHash, at)),
    take: (tx: Transaction, purpose: LinkPurpose, token: string): Promise<MailedLink> =>
      find(token, (tokenHash, at) => store.takeMailedLink(tx, purpose, tokenHash, at)),
  }
}
export type MailedLinks = ReturnType<typeof createMailedLinks>
