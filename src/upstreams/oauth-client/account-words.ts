import type { AccountMark, Holder } from './account.ts'
import { EVERYBODY } from './account.ts'

/** Why there is no token: nobody connected one, it cannot be renewed, it is refused, or for where the upstream was before. */
export type AccountLack = 'missing' | 'broken' | 'refused' | 'moved'

const SHARED: Readonly<Record<AccountLack, string>> = {
  missing: 'It is not connected to an account yet: whoever builds this server connects it on its page in Patchbay.',
  broken:
    'Its connection has to be renewed, for its account is not good any more: whoever builds this server connects it anew on its page in Patchbay.',
  refused:
    'Its connection has to be renewed, for it refuses the token of its account: whoever builds this server connects it anew on its page in Patchbay.',
  moved:
    'Its connection has to be renewed, for it has another address than when it was connected: whoever builds this server connects it anew on its page in Patchbay.',
}

const OWN: Readonly<Record<AccountLack, string>> = {
  missing: 'You have not connected your own account there yet.',
  broken: 'The account that you connected there is not good any more.',
  refused: 'It refuses the token of the account that you connected there.',
  moved: 'It has another address than when you connected your account there.',
}

/** Where somebody connects an account of theirs, or a builder the one that all share. */
export const connectPath = (upstreamId: string): string => `/connect/${upstreamId}`

/** What to tell whoever calls. */
export const explainLack = (lack: AccountLack, holder: Holder, connectUrl: string): string => {
  if (holder === EVERYBODY) return SHARED[lack]
  const again = lack === 'missing' ? 'connect it' : 'connect it anew'
  return `${OWN[lack]} Open ${connectUrl} in a browser, ${again}, and call again.`
}

/** To a caller without a name, of whom no account is known. */
export const NAMELESS =
  'Each caller goes there by an account of their own: call with a token of yours, so that it is known whose.'

/** What lacks of an account that all callers share. */
export const findAccountLack = (account: AccountMark | undefined): string | undefined => {
  if (account === undefined) return SHARED.missing
  return account.brokenAt === undefined ? undefined : SHARED.broken
}
