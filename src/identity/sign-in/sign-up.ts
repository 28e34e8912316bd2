import { AppError, type Role } from '../kernel/index.ts'
import type { Transaction } from '../platform/db/index.ts'
import type { User } from './account.ts'
import { auditFirstMembership, auditNewUser } from './account-audit.ts'
import * as store from './accounts.store.ts'
import { isSameSecret } from './credentials.ts'
import { DEMO_EMAIL, takeDemoOver } from './demo-account.ts'

export type SignUpPolicy = {
  signup: 'open' | 'invite' | 'closed'
  tenancy: 'multi' | 'single'
  /** What making the first account takes, where strangers could reach it before the operator. */
  setupToken: string | undefined
}

/** What signing up takes, as its page says it. */
export type SignUpTerms = {
  /** Why nobody may; undefined: one may. */
  closed: string | undefined
  needsSetupToken: boolean
}

const CLOSED = {
  invite: 'by invitation only: open the link of your invitation and sign up there, or ask its operator for one.',
  closed: 'closed: ask its operator.',
} as const

const closedBy = (signup: 'invite' | 'closed'): string => `Sign-up on this installation is ${CLOSED[signup]}`

export const signUpTermsOf = ({ signup, setupToken }: SignUpPolicy, isFirst: boolean): SignUpTerms => ({
  closed: isFirst || signup === 'open' ? undefined : closedBy(signup),
  needsSetupToken: isFirst && setupToken !== undefined,
})

/** What somebody shows who signs up. That an invitation is good is seen to where it is taken up. */
export type SignUpPapers = { setupToken: string | undefined; invitation: string | undefined }

/** Refuses who may not sign up. The first account is always let in, with the setup token where there is one. */
export const assertMaySignUp = (
  policy: SignUpPolicy,
  isFirst: boolean,
  { setupToken, invitation }: SignUpPapers,
): void => {
  if (!isFirst) {
    if (policy.signup === 'open' || (policy.signup === 'invite' && invitation !== undefined)) return
    throw new AppError('forbidden', closedBy(policy.signup))
  }
  if (policy.setupToken === undefined) return
  if (setupToken !== undefined && isSameSecret(setupToken, policy.setupToken)) return
  const what = setupToken === undefined ? 'needs the setup token' : 'needs another setup token: the one'
  throw new AppError('forbidden', `Making the first account ${what} that Patchbay printed when it started.`, {
    errors: [{ path: 'setupToken', message: setupToken === undefined ? 'is missing' : 'is not the one printed' }],
  })
}

const emailTaken = (): AppError =>
  new AppError('conflict', 'There is an account with this e-mail address already.', {
    errors: [{ path: 'email', message: 'is taken' }],
  })

/** The organization that somebody is a member of from now on. */
type Joined = { id: string; name: string; isNew: boolean; role: Role }

/** What sign-up asks of who keeps the invitations; `services.ts` supplies it. */
export type Invitations = {
  /** Throws where the token is that of no open invitation to this address. */
  assertGoodFor: (tx: Transaction, token: string, email: string) => Promise<void>
  /** Uses it up: the user is a member from then on, and their address verified. Throws as above. */
  accept: (
    tx: Transaction,
    token: string,
    user: Pick<User, 'id' | 'email'>,
    address: string,
  ) => Promise<Pick<Joined, 'id' | 'name' | 'role'>>
}

/** Where a new user's first membership is. */
export type Home =
  /** An organization of one's own. */
  | { kind: 'own' }
  /** The organization of this name, made if need be; without a name the oldest. */
  | { kind: 'joined'; name: string | undefined }
  /** The one that an invitation is to. */
  | { kind: 'invited'; accept: (tx: Transaction, user: User) => Promise<Pick<Joined, 'id' | 'name' | 'role'>> }

const nameAfter = (email: string): string => email.slice(0, email.lastIndexOf('@'))

/** The one organization of an installation with PATCHBAY_TENANCY=single, once it is there. */
const findSingle = async (tx: Transaction, wished: string | undefined) => {
  const single = await store.findOldestOrganization(tx, undefined)
  if (single === undefined || wished === undefined || wished === single.name) return single
  throw new AppError('invalid_request', `There is one organization here, "${single.name}" (PATCHBAY_TENANCY=single).`)
}

const foundOrganization = async (tx: Transaction, name: string, ownerId: string): Promise<Joined> => ({
  ...(await store.createOrganization(tx, name, ownerId)),
  isNew: true,
  role: 'owner',
})

const settleIn = async (tx: Transaction, user: User, home: Home, tenancy: SignUpPolicy['tenancy']): Promise<Joined> => {
  if (home.kind === 'invited') return { ...(await home.accept(tx, user)), isNew: false }
  const wished = home.kind === 'joined' ? home.name : undefined
  const isJoining = tenancy === 'single' || home.kind === 'joined'
  const find = tenancy === 'single' ? findSingle : store.findOldestOrganization
  const existing = isJoining ? await find(tx, wished) : undefined
  if (existing === undefined) return foundOrganization(tx, wished ?? nameAfter(user.email), user.id)
  await store.addMember(tx, { organizationId: existing.id, userId: user.id, role: 'builder' })
  return { ...existing, isNew: false, role: 'builder' }
}

/** The first account owns the first organization: the demo's if that has been run, else one of its own. */
const settleFirst = async (tx: Transaction, user: User, home: Home): Promise<Joined> => {
  const name = (home.kind === 'joined' ? home.name : undefined) ?? nameAfter(user.email)
  const demoId = await takeDemoOver(tx, user.id, name)
  return demoId === undefined ? foundOrganization(tx, name, user.id) : { id: demoId, name, isNew: false, role: 'owner' }
}

/** Whether there is no account yet that anybody could sign in with. */
export const isFirstAccount = async (tx: Transaction): Promise<boolean> => !(await store.isAnyUserBut(tx, DEMO_EMAIL))

export type NewUser = {
  email: string
  passwordHash: string
  isOperator: boolean
  home: Home
  /** Where somebody signs up from; undefined for an account made at the command line. */
  address: string | undefined
}

/**
 * Makes an account and its first membership; the very first is the operator. `assertAllowed` is told whether this is
 * the first and throws what speaks against it. Of two made at once one is first: transactions hold as if alone.
 */
export const makeAccount = async (
  tx: Transaction,
  { email, passwordHash, isOperator, home, address }: NewUser,
  tenancy: SignUpPolicy['tenancy'],
  assertAllowed: (isFirst: boolean) => void = () => undefined,
): Promise<User> => {
  const isFirst = await isFirstAccount(tx)
  assertAllowed(isFirst)
  // The demo's address is taken also before the demo is run: who had it would be handed the demo, and not count.
  if (email === DEMO_EMAIL || (await store.findUserByEmail(tx, email)) !== undefined) throw emailTaken()
  const user = await store.createUser(tx, { email, passwordHash, isOperator: isOperator || isFirst })
  await auditNewUser(tx, user, address)
  const joined = await (isFirst ? settleFirst(tx, user, home) : settleIn(tx, user, home, tenancy))
  await auditFirstMembership(tx, user, address, joined)
  // An invitation verifies its address.
  return home.kind === 'invited' ? ((await store.findUser(tx, user.id)) ?? user) : user
}
