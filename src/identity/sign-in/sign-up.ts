import type { Transaction } from '../../lib/db/client.ts'
import type { Announce } from '../../lib/events/changes.ts'
import type { Visitor } from '../../lib/http/visitor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Role } from '../../lib/kernel/roles.ts'
import type { User } from '../account.ts'
import { auditFirstMembership, auditNewUser } from '../account-audit.ts'
import * as store from '../accounts.store.ts'
import { isSameSecret } from '../credentials.ts'
import { type AdoptDemoServers, DEMO_EMAIL, takeDemoOver } from '../demo-account.ts'

export type SignUpPolicy = {
  signup: 'open' | 'invite' | 'closed'
  tenancy: 'multi' | 'single'
  setup: Setup
}

/**
 * The token that proves that the first user can read what Patchbay prints. Without it, a stranger who can reach the
 * installation before the operator would become the operator.
 */
export type Setup = {
  token: string | undefined
  /** Whether even requests that were made on this machine need it. All others do. */
  isAlwaysRequired: boolean
}

/** The conditions for signing up, shown on the sign-up page. */
export type SignUpTerms = {
  /** Why sign-up is closed, or undefined if it is open. */
  closed: string | undefined
  needsSetupToken: boolean
}

const CLOSED = {
  invite: 'by invitation only. Open the link in your invitation to sign up, or ask the operator for one.',
  closed: 'closed. Ask the operator for access.',
} as const

const closedBy = (signup: 'invite' | 'closed'): string => `Sign-up on this installation is ${CLOSED[signup]}`

const needsSetupToken = ({ setup }: SignUpPolicy, isFirst: boolean, isLocal: boolean): boolean =>
  isFirst && (setup.isAlwaysRequired || !isLocal)

export const signUpTermsOf = (policy: SignUpPolicy, isFirst: boolean, isLocal: boolean): SignUpTerms => ({
  closed: isFirst || policy.signup === 'open' ? undefined : closedBy(policy.signup),
  needsSetupToken: needsSetupToken(policy, isFirst, isLocal),
})

/** What a user provides to sign up. The invitation is validated when it is accepted. */
export type SignUpProof = Pick<Visitor, 'isLocal'> & {
  setupToken?: string | undefined
  invitation?: string | undefined
}

/** Whether a new account's email counts as confirmed. */
export type Standing = 'proven' | 'unproven'

/**
 * Throws `forbidden` if sign-up is not allowed. Creating the first account is always allowed, but may require the setup
 * token, which only the operator can read.
 */
export const admitSignUp = (
  policy: SignUpPolicy,
  isFirst: boolean,
  { setupToken, invitation, isLocal }: SignUpProof,
): Standing => {
  if (!isFirst) {
    if (policy.signup === 'open' || (policy.signup === 'invite' && invitation !== undefined)) return 'unproven'
    throw new AppError('forbidden', closedBy(policy.signup))
  }
  if (!needsSetupToken(policy, isFirst, isLocal)) return 'unproven'
  const { token } = policy.setup
  if (setupToken !== undefined && token !== undefined && isSameSecret(setupToken, token)) return 'proven'
  const wrong = setupToken === undefined ? '' : 'This setup token is wrong. '
  const message =
    `${wrong}Creating the first account requires the setup token that Patchbay printed at startup, ` +
    'after “No account exists yet”. Every start prints it until there is an account.'
  throw new AppError('forbidden', message, {
    errors: [
      { path: 'setupToken', message: setupToken === undefined ? 'is missing' : 'is not the one that Patchbay printed' },
    ],
  })
}

const emailTaken = (): AppError =>
  new AppError('conflict', 'An account with this email already exists.', {
    errors: [{ path: 'email', message: 'is already taken' }],
  })

/** The organization that a user joined. */
type Joined = { id: string; name: string; isNew: boolean; role: Role }

/** The invitation operations that sign-up needs; supplied by `services.ts`. */
export type Invitations = {
  /** Throws if the token does not belong to an open invitation to this email. */
  assertGoodFor: (tx: Transaction, token: string, email: string) => Promise<unknown>
  /** Accepts the invitation: makes the user a member and verifies their email. Throws the same errors as above. */
  accept: (
    tx: Transaction,
    token: string,
    user: Pick<User, 'id' | 'email'>,
    address: string,
  ) => Promise<Pick<Joined, 'id' | 'name' | 'role'>>
}

/** The first organization that a new user belongs to. */
export type Home =
  /** A new organization of their own. */
  | { kind: 'own' }
  /** The organization with this name, created if needed. If no name is given, the oldest organization. */
  | { kind: 'joined'; name: string | undefined }
  /** The organization that sent the invitation. */
  | { kind: 'invited'; accept: (tx: Transaction, user: User) => Promise<Pick<Joined, 'id' | 'name' | 'role'>> }

const nameAfter = (email: string): string => email.slice(0, email.lastIndexOf('@'))

/** Returns the only organization of an installation with PATCHBAY_TENANCY=single, if it exists yet. */
const findSingle = async (tx: Transaction, requested: string | undefined) => {
  const single = await store.findOldestOrganization(tx, undefined)
  if (single === undefined || requested === undefined || requested === single.name) return single
  throw new AppError(
    'invalid_request',
    `This installation has a single organization, "${single.name}" (PATCHBAY_TENANCY=single).`,
  )
}

const foundOrganization = async (tx: Transaction, name: string, ownerId: string): Promise<Joined> => ({
  ...(await store.createOrganization(tx, name, ownerId)),
  isNew: true,
  role: 'owner',
})

const settleIn = async (tx: Transaction, user: User, home: Home, tenancy: SignUpPolicy['tenancy']): Promise<Joined> => {
  if (home.kind === 'invited') return { ...(await home.accept(tx, user)), isNew: false }
  const requested = home.kind === 'joined' ? home.name : undefined
  const isJoining = tenancy === 'single' || home.kind === 'joined'
  const find = tenancy === 'single' ? findSingle : store.findOldestOrganization
  const existing = isJoining ? await find(tx, requested) : undefined
  if (existing === undefined) return foundOrganization(tx, requested ?? nameAfter(user.email), user.id)
  await store.addMember(tx, { organizationId: existing.id, userId: user.id, role: 'builder' })
  return { ...existing, isNew: false, role: 'builder' }
}

/** Makes the first account the owner of the demo's organization, or of a new one if the demo has not been run. */
const settleFirst = async (
  tx: Transaction,
  announce: Announce,
  owner: User,
  { home, address }: NewUser,
  adoptServers: AdoptDemoServers,
): Promise<Joined> => {
  const name = (home.kind === 'joined' ? home.name : undefined) ?? nameAfter(owner.email)
  const id = await takeDemoOver(tx, announce, { owner, address, name, adoptServers })
  return id === undefined ? foundOrganization(tx, name, owner.id) : { id, name, isNew: false, role: 'owner' }
}

/** Returns whether there is no account yet that someone could sign in to. */
export const isFirstAccount = async (tx: Transaction): Promise<boolean> => !(await store.isAnyUserBut(tx, DEMO_EMAIL))

export type NewUser = {
  email: string
  /** Undefined for an account without a password. */
  passwordHash: string | undefined
  isOperator: boolean
  home: Home
  /** Network address of the sign-up, or undefined on the command line. */
  address: string | undefined
}

/** The rules for new accounts, and what the first one takes over. */
export type AccountMaking = { tenancy: SignUpPolicy['tenancy']; adoptDemoServers: AdoptDemoServers }

/**
 * Creates an account and its first membership. The first account of an installation becomes the operator. Calls `admit`,
 * which may throw, with a flag that says whether this is the first account. Transactions are serializable, so two
 * concurrent sign-ups cannot both be the first.
 */
export const makeAccount = async (
  tx: Transaction,
  announce: Announce,
  account: NewUser,
  { tenancy, adoptDemoServers, admit }: AccountMaking & { admit: (isFirst: boolean) => Standing },
): Promise<User> => {
  const { email, passwordHash, isOperator, home, address } = account
  const isFirst = await isFirstAccount(tx)
  const emailVerifiedAt = admit(isFirst) === 'proven' ? new Date() : undefined
  // The demo's email is reserved even before the demo is run: an account with it would own the demo and not be counted.
  if (email === DEMO_EMAIL || (await store.findUserByEmail(tx, email)) !== undefined) throw emailTaken()
  const user = await store.createUser(tx, { email, emailVerifiedAt, passwordHash, isOperator: isOperator || isFirst })
  await auditNewUser(tx, user, address)
  const joined = await (isFirst
    ? settleFirst(tx, announce, user, account, adoptDemoServers)
    : settleIn(tx, user, home, tenancy))
  await auditFirstMembership(tx, user, address, joined)
  // Accepting an invitation verifies the email, so the user is read again.
  return home.kind === 'invited' ? ((await store.findUser(tx, user.id)) ?? user) : user
}
