import type { Mail } from '../platform/mail/index.ts'

/** What every letter says: where it comes from, and from which network address it was asked for. */
export type LetterFrame = { baseUrl: string; address: string | undefined }

const paragraphs = (...parts: string[]): string => `${parts.join('\n\n')}\n`

const askedFrom = (address: string | undefined): string =>
  address === undefined ? '' : ` It was asked for from the network address ${address}.`

export const verifyEmailLetter = (to: string, link: string, { baseUrl, address }: LetterFrame): Mail => ({
  to,
  subject: 'Confirm your e-mail address for Patchbay',
  text: paragraphs(
    `There is an account with the address ${to} on Patchbay at ${baseUrl}.`,
    `To confirm that the address is yours, open this link within 24 hours:\n${link}`,
    `Was it not you who signed up? Then leave the link alone: the address stays unconfirmed.${askedFrom(address)}`,
  ),
})

export const resetPasswordLetter = (to: string, link: string, { baseUrl, address }: LetterFrame): Mail => ({
  to,
  subject: 'Set a new password for Patchbay',
  text: paragraphs(
    `Somebody has forgotten the password of the account ${to} on Patchbay at ${baseUrl}.`,
    `To set a new one, open this link within 30 minutes. It works once:\n${link}`,
    `Was it not you? Then do nothing: the password stays as it is.${askedFrom(address)}`,
  ),
})

export const passwordChangedLetter = (to: string, { baseUrl, address }: LetterFrame): Mail => ({
  to,
  subject: 'Your password for Patchbay was changed',
  text: paragraphs(
    `The account ${to} on Patchbay at ${baseUrl} has a new password.`,
    'Every other session of the account has ended, and so has the access of every application. Personal access ' +
      'tokens still work: revoke those that you do not know.',
    `Was it not you? Then see first that nobody else reads your mail, and set another password at ${baseUrl}/forgot-password.${askedFrom(address)}`,
  ),
})

/** To the new address. */
export const changeEmailLetter = (to: string, link: string, from: string, { baseUrl, address }: LetterFrame): Mail => ({
  to,
  subject: 'Confirm your new e-mail address for Patchbay',
  text: paragraphs(
    `The account ${from} on Patchbay at ${baseUrl} is to have this address, ${to}, from now on.`,
    `To confirm it, open this link within 24 hours:\n${link}`,
    `Was it not you? Then leave the link alone: nothing changes.${askedFrom(address)}`,
  ),
})

/** To the old address. */
export const emailChangeNotice = (to: string, wished: string, { baseUrl, address }: LetterFrame): Mail => ({
  to,
  subject: 'Your e-mail address for Patchbay is about to change',
  text: paragraphs(
    `The account ${to} on Patchbay at ${baseUrl} is to have another address: ${wished}. A link was sent there, and ` +
      'once it is opened the account is found under that address alone.',
    `Was it not you? Then sign in and change your password at once: that ends the link.${askedFrom(address)}`,
  ),
})

/** To an address that somebody else wanted for theirs and that has an account already. */
export const emailTakenNotice = (to: string, { baseUrl, address }: LetterFrame): Mail => ({
  to,
  subject: 'You have an account on Patchbay already',
  text: paragraphs(
    `Somebody wanted to use the address ${to} for another account on Patchbay at ${baseUrl}.`,
    'It has an account already, so nothing was changed. Was it you? Then sign in with this address, or remove that ' +
      'account first.',
    `Was it not you? Then there is nothing to do.${askedFrom(address)}`,
  ),
})
