import type { AccountInfo, Holder } from './account.ts'
import { EVERYBODY } from './account.ts'

/**
 * The reason that there is no usable token: no account is connected, renewal failed, the upstream rejects the token, or
 * the upstream's address has changed since the account was connected.
 */
export type AccountProblem = 'missing' | 'broken' | 'refused' | 'moved'

const SHARED: Readonly<Record<AccountProblem, string>> = {
  missing: 'It has no connected account yet. A builder of this server can connect one on its page in Patchbay.',
  broken: 'Its connected account no longer works. A builder of this server must reconnect it on its page in Patchbay.',
  refused:
    'It rejects the token of its connected account. A builder of this server must reconnect it on its page in Patchbay.',
  moved:
    'Its address has changed since its account was connected. A builder of this server must reconnect it on its page in Patchbay.',
}

const OWN: Readonly<Record<AccountProblem, string>> = {
  missing: 'You have not connected your own account yet.',
  broken: 'The account that you connected no longer works.',
  refused: 'It rejects the token of the account that you connected.',
  moved: 'Its address has changed since you connected your account.',
}

/** Returns the path of the page where a caller connects their own account or a builder connects the shared one. */
export const connectPath = (upstreamId: string): string => `/connect/${upstreamId}`

export const describeAccountProblem = (problem: AccountProblem, holder: Holder, connectUrl: string): string => {
  if (holder === EVERYBODY) return SHARED[problem]
  const action = problem === 'missing' ? 'connect it' : 'reconnect it'
  return `${OWN[problem]} Open ${connectUrl} in a browser, ${action}, and call again.`
}

/** Message for an anonymous caller, who cannot have an account. */
export const CALLER_UNKNOWN =
  'Each caller needs their own account at this MCP server. Call with your own access token, so that Patchbay knows which account to use.'

/** Describes what is wrong with an account that all callers share. Returns undefined if the account works. */
export const findSharedAccountProblem = (account: AccountInfo | undefined): string | undefined => {
  if (account === undefined) return SHARED.missing
  return account.brokenAt === undefined ? undefined : SHARED.broken
}
