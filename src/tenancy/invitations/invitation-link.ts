import type { Mail } from '../platform/mail/index.ts'
import type { OpenInvitation } from './organization.ts'

/** Long enough for somebody who is away for some days; another one is sent as easily. */
export const INVITATION_DAYS = 7

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
