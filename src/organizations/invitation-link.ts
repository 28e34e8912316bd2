import { randomBytes } from 'node:crypto'
import { hashToken } from '../accounts/index.ts'
import type { Mail } from '../platform/mail/index.ts'
import type { OpenInvitation } from './organization.ts'

/** Long enough for somebody who is away for some days; another one is sent as easily. */
export const INVITATION_DAYS = 7

const TOKEN_BYTES = 32
const TOKEN_FORMAT = /^[\w-]{43}$/

/** A new token for a link, with what is stored of it. */
export const makeInvitationToken = (): { token: string; tokenHash: string } => {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  return { token, tokenHash: hashToken(token) }
}

/** What is looked up for a token that came back; undefined: it is none of ours, and needs no look. */
export const invitationHashOf = (token: string): string | undefined =>
  TOKEN_FORMAT.test(token) ? hashToken(token) : undefined

/** Where the page of an invitation is, as a path of ours. */
export const invitationPath = (token: string): string => `/invitation?${new URLSearchParams({ token })}`

export const invitationLetter = (
  { email, role, organizationName, invitedBy }: Omit<OpenInvitation, 'id'>,
  link: string,
  baseUrl: string,
): Mail => ({
  to: email,
  subject: `Invitation to ${organizationName} on Patchbay`,
  text: `${[
    `${invitedBy ?? 'Somebody'} invites ${email} to join the organization "${organizationName}" on Patchbay at ${baseUrl}, as ${role}.`,
    `To join, open this link within ${INVITATION_DAYS} days. It works once; an account is made there if you have none:\n${link}`,
    'You know nothing of this? Then leave the link alone: nothing happens.',
  ].join('\n\n')}\n`,
})
