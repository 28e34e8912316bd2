import type { Mail } from '../../lib/mail/mailer.ts'

/** Details in every email: the installation that sends it and the network address that made the request. */
export type EmailContext = { baseUrl: string; address: string | undefined }

const paragraphs = (...parts: string[]): string => `${parts.join('\n\n')}\n`

const askedFrom = (address: string | undefined): string =>
  address === undefined ? '' : ` The request came from the network address ${address}.`

export const verificationEmail = (to: string, link: string, { baseUrl, address }: EmailContext): Mail => ({
  to,
  subject: 'Confirm your email for Patchbay',
  text: paragraphs(
    `An account was created for ${to} on Patchbay at ${baseUrl}.`,
    `To confirm that this email is yours, open this link within 24 hours:\n${link}`,
    `If you did not sign up, ignore this email. The address stays unconfirmed.${askedFrom(address)}`,
  ),
})

export const passwordResetEmail = (to: string, link: string, { baseUrl, address }: EmailContext): Mail => ({
  to,
  subject: 'Set a new password for Patchbay',
  text: paragraphs(
    `Someone requested a new password for the account ${to} on Patchbay at ${baseUrl}.`,
    `To set a new password, open this link within 30 minutes. It works once:\n${link}`,
    `If this was not you, ignore this email. Your password stays the same.${askedFrom(address)}`,
  ),
})

/** The access that a password change ended. Every value includes the sessions. */
export type EndedAccess = 'sessions' | 'clients' | 'all access' | 'everything'

const REVOKE = 'Revoke any that you do not recognize.'
const ENDED: Record<EndedAccess, string> = {
  sessions:
    'You have been signed out everywhere else. Connected applications and personal access tokens still work. ' + REVOKE,
  clients:
    'You have been signed out everywhere else, and connected applications have lost access. Personal access tokens ' +
    `still work. ${REVOKE}`,
  'all access':
    'You have been signed out everywhere else. Connected applications and personal access tokens have lost access.',
  everything:
    'Nobody had confirmed this email before. So everything that was set up until now has ended: sessions, connected ' +
    'applications, personal access tokens, two-factor authentication and sign-in with other providers.',
}

export const passwordChangedEmail = (to: string, ended: EndedAccess, { baseUrl, address }: EmailContext): Mail => ({
  to,
  subject: 'Your password for Patchbay was changed',
  text: paragraphs(
    `The password of the account ${to} on Patchbay at ${baseUrl} was changed.`,
    ENDED[ended],
    `If this was not you, make sure that nobody else can read your email, then set a new password at ${baseUrl}/forgot-password.${askedFrom(address)}`,
  ),
})

/** Builds the email to the new address. */
export const emailChangeConfirmation = (
  to: string,
  link: string,
  from: string,
  { baseUrl, address }: EmailContext,
): Mail => ({
  to,
  subject: 'Confirm your new email for Patchbay',
  text: paragraphs(
    `Someone asked to change the email of the Patchbay account ${from} (${baseUrl}) to ${to}.`,
    `To confirm it, open this link within 24 hours and sign in as ${from}:\n${link}`,
    `If this was not you, ignore this email. Nothing changes.${askedFrom(address)}`,
  ),
})

/** Builds the email to the old address. */
export const emailChangeNotice = (to: string, newEmail: string, { baseUrl, address }: EmailContext): Mail => ({
  to,
  subject: 'Your email for Patchbay is about to change',
  text: paragraphs(
    `Someone asked to change the email of the Patchbay account ${to} (${baseUrl}) to ${newEmail}. A link was sent to ` +
      'the new address. Once somebody who is signed in to your account opens it, you sign in with that address only.',
    `If this was not you, sign in and change your password immediately. That invalidates the link.${askedFrom(address)}`,
  ),
})

/** Builds the email to an address that another account tried to change to but that already has an account. */
export const emailTakenNotice = (to: string, { baseUrl, address }: EmailContext): Mail => ({
  to,
  subject: 'You already have an account on Patchbay',
  text: paragraphs(
    `Someone tried to change the email of another account on Patchbay at ${baseUrl} to ${to}.`,
    'This address already has an account, so nothing was changed. If this was you, sign in with this address, or ' +
      'delete that account first.',
    `If this was not you, you do not need to do anything.${askedFrom(address)}`,
  ),
})
