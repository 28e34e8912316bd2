import type { Mail } from '../../lib/mail/mailer.ts'
import type { OpenInvitation } from '../organization.ts'

/** Lifetime of an invitation, in days. Long enough for people who are away for a few days. */
export const INVITATION_DAYS = 7

export const invitationPath = (token: string): string => `/invitation?${new URLSearchParams({ token })}`

export const invitationEmail = (
  { email, role, organizationName, invitedBy }: Omit<OpenInvitation, 'id'>,
  link: string,
  baseUrl: string,
): Mail => ({
  to: email,
  subject: `Invitation to ${organizationName} on Patchbay`,
  text: `${[
    `${invitedBy ?? 'Someone'} has invited ${email} to join the organization "${organizationName}" on Patchbay at ${baseUrl} as ${role}.`,
    `To join, open this link within ${INVITATION_DAYS} days. It works once. You can create an account there if you do not have one:\n${link}`,
    'If you did not expect this invitation, ignore this email.',
  ].join('\n\n')}\n`,
})
