import type { Transaction } from '../../lib/db/client.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { MailedLink } from './mailed-links.store.ts'
import * as store from './mailed-links.store.ts'
import { buildLink, LINK_TTL_MS, type LinkPurpose, linkHashOf, makeLinkToken } from './mailed-links.ts'

export type MailedLinksParts = {
  /** Origin of every link. Never taken from a request. */
  baseUrl: string
  now: () => number
}

/** One error for every way a link can fail, so that it reveals nothing. */
export const linkIsOver = (): AppError =>
  new AppError('invalid_request', 'This link is no longer valid. It has been used or has expired. Request a new one.', {
    errors: [{ path: 'token', message: 'is no longer valid' }],
  })

/**
 * Creates and checks links in emails. Each works once, for a limited time. `check` and `take` throw `invalid_request`.
 */
export const createMailedLinks = ({ baseUrl, now }: MailedLinksParts) => {
  const find = async (
    token: string,
    lookUp: (tokenHash: string, at: Date) => Promise<MailedLink | undefined>,
  ): Promise<MailedLink> => {
    const tokenHash = linkHashOf(token)
    const link = tokenHash === undefined ? undefined : await lookUp(tokenHash, new Date(now()))
    if (link === undefined) throw linkIsOver()
    return link
  }
  return {
    /** Creates a link and returns its URL, which cannot be retrieved again. */
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
