import type { Transaction } from '../../lib/db/client.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { User } from '../account.ts'
import { findUser } from '../accounts.store.ts'
import * as store from './mailed-links.store.ts'
import { LINKS, type LinkPurpose, linkHashOf, makeLinkToken } from './mailed-links.ts'

/** The same error for every way a link can fail, so that it reveals nothing. */
export const linkIsOver = (): AppError =>
  new AppError('invalid_request', 'This link is no longer valid. It has been used or has expired. Request a new one.', {
    errors: [{ path: 'token', message: 'is no longer valid' }],
  })

/**
 * Creates a single-use link that is valid for a limited time. Returns its URL, which cannot be retrieved again.
 * `baseUrl` is never taken from a request.
 */
export const issueLink = async (
  tx: Transaction,
  baseUrl: string,
  purpose: LinkPurpose,
  { userId, email }: store.MailedLink,
): Promise<string> => {
  const { token, tokenHash } = makeLinkToken()
  const { path, ttlMs } = LINKS[purpose]
  await store.createMailedLink(tx, { userId, purpose, email, tokenHash, expiresAt: new Date(Date.now() + ttlMs) })
  return `${new URL(path, baseUrl)}?${new URLSearchParams({ token })}`
}

const linkFrom =
  (lookUp: typeof store.findMailedLink) =>
  async (tx: Transaction, purpose: LinkPurpose, token: string): Promise<store.MailedLink> => {
    const tokenHash = linkHashOf(token)
    const link = tokenHash === undefined ? undefined : await lookUp(tx, purpose, tokenHash)
    if (link === undefined) throw linkIsOver()
    return link
  }

/** Returns the link for this token without using it up. Throws `invalid_request` if it is not valid. */
export const checkLink = linkFrom(store.findMailedLink)

/** Uses up the link for this token and returns it. Throws `invalid_request` if it is not valid. */
export const takeLink = linkFrom(store.takeMailedLink)

/** Returns whose link this is, without using it up. Undefined if it is not valid. */
export const findLinkedUserId = async (
  tx: Transaction,
  purpose: LinkPurpose,
  token: string,
): Promise<string | undefined> => {
  const tokenHash = linkHashOf(token)
  return tokenHash === undefined ? undefined : (await store.findMailedLink(tx, purpose, tokenHash))?.userId
}

/** Like `takeLink`, but returns the user. Also throws if their email has changed since the link was sent. */
export const takeLinkOfUser = async (tx: Transaction, purpose: LinkPurpose, token: string): Promise<User> => {
  const { userId, email } = await takeLink(tx, purpose, token)
  const user = await findUser(tx, userId)
  if (user?.email !== email) throw linkIsOver()
  return user
}
