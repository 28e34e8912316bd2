import { z } from 'zod'
import { type Actor, AppError, SCOPES } from '../kernel/index.ts'
import type { Counters } from '../platform/counters/index.ts'
import type { Database } from '../platform/db/index.ts'
import type { Changes, EventBus } from '../platform/events/index.ts'
import { parseInput } from '../platform/http/index.ts'
import type { Logger } from '../platform/logger.ts'
import { createAccessTokens, issueToken } from './access-tokens.ts'
import type { OwnOrganization, User } from './account.ts'
import { auditFailedSignIn, auditSignIn, auditSignOut } from './account-audit.ts'
import {
  Email,
  NewToken,
  type NewTokenView,
  NewUser,
  toTokenView,
  toUserView,
  type UserView,
} from './accounts.schema.ts'
import * as store from './accounts.store.ts'
import { hashToken, isToken } from './credentials.ts'
import { ensureDemoAccount, UNUSABLE_PASSWORD_HASH } from './demo-account.ts'
import { createMcpTokens } from './mcp-tokens.ts'
import { createPasswords } from './passwords.ts'
import {
  assertMaySignUp,
  isFirstAccount,
  makeAccount,
  type SignUpPolicy,
  type SignUpTerms,
  signUpTermsOf,
} from './sign-up.ts'
import { createThrottle } from './throttle.ts'
import { createTokenUses } from './token-uses.ts'
import * as tokenStore from './tokens.store.ts'

export type AccountServiceParts = {
  db: Database
  changes: Changes
  bus: EventBus
  counters: Counters
  logger: Logger
  policy: SignUpPolicy
  /** Milliseconds since 1970. */
  now?: () => number
}

/** Credentials as they come in, with the network address they come from. */
export type SignUpInput = { email: string; password: string; setupToken?: string | undefined; address: string }
export type SignInInput = { email: string; password: string; address: string }

/** What `user create` takes. */
export type NewUserInput = z.input<typeof NewUser>

const ALL_SCOPES: ReadonlySet<(typeof SCOPES)[number]> = new Set(SCOPES)

// One text for every way to fail: whether there is an account is nobody's business.
const wrongCredentials = (): AppError => new AppError('unauthenticated', 'The e-mail address or the password is wrong.')

export const createAccountService = ({
  db,
  changes,
  bus,
  counters,
  logger,
  policy,
  now = Date.now,
}: AccountServiceParts) => {
  const passwords = createPasswords()
  const throttle = createThrottle(counters, now)
  const uses = createTokenUses({
    write: (tokenId, usedAt) => tokenStore.noteUse(db, tokenId, usedAt),
    onError: error => logger.warn({ err: error }, 'could not write down when a token was used'),
    now,
  })
  const mcpTokens = createMcpTokens({
    findHolder: tokenHash => tokenStore.findTokenHolder(db, tokenHash),
    noteUse: uses.note,
    now,
  })
  const unsubscribe = [
    bus.subscribe('access_changed', ({ userId }) => mcpTokens.forgetUser(userId)),
    bus.subscribe('resync', () => mcpTokens.forgetAll()),
  ]

  const findActorByUserId = async (userId: string): Promise<Actor | undefined> => {
    const member = await store.findMember(db, userId)
    if (member === undefined) return undefined
    const { user, memberships } = member
    return { userId: user.id, email: user.email, isOperator: user.isOperator, scopes: ALL_SCOPES, memberships }
  }

  return {
    ...createAccessTokens({ db, changes, now }),

    getSignUpTerms: async (): Promise<SignUpTerms> => signUpTermsOf(policy, await isFirstAccount(db)),

    /** Throws `forbidden` where sign-up is not open or the setup token is wrong, `conflict` for a taken address. */
    signUp: async ({ email, password, setupToken, address }: SignUpInput): Promise<User> => {
      await throttle.countSignUp(address)
      const assertAllowed = (isFirst: boolean) => assertMaySignUp(policy, isFirst, setupToken)
      // Asked again where it counts; here it only spares the hashing.
      assertAllowed(await isFirstAccount(db))
      const passwordHash = await passwords.hashPassword(password)
      const account = { email, passwordHash, isOperator: false, home: { kind: 'own' } as const, address }
      return changes.commit(tx => makeAccount(tx, account, policy.tenancy, assertAllowed))
    },

    /** Throws `unauthenticated`, the same and after the same work whether or not there is such an account. */
    signIn: async ({ email, password, address }: SignInInput): Promise<User> => {
      await throttle.countSignIn({ email, address })
      const found = await store.findUserByEmail(db, email)
      const { isRight, needsRehash } = await passwords.checkPassword(
        password,
        found?.passwordHash === UNUSABLE_PASSWORD_HASH ? undefined : found?.passwordHash,
      )
      if (found === undefined || !isRight) {
        await auditFailedSignIn(db, { email, address }, found)
        throw wrongCredentials()
      }
      await throttle.forgiveSignIn({ email, address })
      const { passwordHash: _, ...user } = found
      if (needsRehash) await store.updatePasswordHash(db, user.id, await passwords.hashPassword(password))
      await auditSignIn(db, user, address)
      return user
    },

    /** For once the session is over. */
    noteSignOut: (actor: Actor): Promise<void> => auditSignOut(db, actor),

    getMe: async (actor: Actor): Promise<{ user: User; organizations: OwnOrganization[] }> => {
      const user = await store.findUser(db, actor.userId)
      if (user === undefined) throw new AppError('unauthenticated', 'This account is gone.')
      return { user, organizations: await store.listOrganizationsOf(db, user.id) }
    },

    findActorByUserId,

    findActorByToken: async (token: string): Promise<Actor | undefined> => {
      if (!isToken(token)) return undefined
      const holder = await tokenStore.findTokenHolder(db, hashToken(token))
      if (holder === undefined || holder.token.expiresAt.getTime() <= now()) return undefined
      uses.note(holder.token.id)
      const { token: found, email, isOperator, memberships } = holder
      return {
        userId: found.userId,
        email,
        isOperator,
        scopes: new Set(found.scopes),
        expiresAt: found.expiresAt,
        memberships,
      }
    },

    /** Who a token lets call MCP servers; see `createMcpTokens`. */
    verifyMcpToken: mcpTokens.verify,

    /** As the operator at the command line: no throttle, no policy of sign-up. Throws `conflict` for a taken address. */
    createUser: async (input: NewUserInput): Promise<z.infer<typeof UserView>> => {
      const { email, password, isOperator = false, organization } = parseInput(NewUser, input)
      const passwordHash = await passwords.hashPassword(password)
      const home = { kind: 'joined', name: organization } as const
      const account = { email, passwordHash, isOperator, home, address: undefined }
      return toUserView(await changes.commit(tx => makeAccount(tx, account, policy.tenancy)))
    },

    /** As the operator at the command line. Throws `not_found` for an address without an account. */
    createTokenFor: async (email: string, input: z.input<typeof NewToken>): Promise<z.infer<typeof NewTokenView>> => {
      const wish = parseInput(NewToken, input)
      const user = await store.findUserByEmail(db, parseInput(z.object({ email: Email }), { email }).email)
      if (user === undefined) throw new AppError('not_found', `There is no user with the address ${email}.`)
      const made = await changes.commit(tx => issueToken(tx, user.id, wish, now(), undefined))
      return { ...toTokenView(made), token: made.token }
    },

    /** Who owns what `patchbay demo` makes: the operator, or before there is one the demo's own account. */
    getDemoActor: async (): Promise<Actor> => {
      const userId = (await store.findOldestOperatorId(db)) ?? (await changes.commit(tx => ensureDemoAccount(tx))).id
      const actor = await findActorByUserId(userId)
      if (actor === undefined) throw new AppError('not_found', 'The account of the demo is gone.')
      return actor
    },

    /** Whether anybody has signed up. */
    isAnyUser: async (): Promise<boolean> => !(await isFirstAccount(db)),

    /** Stops listening for changes and writes what is left to write. */
    close: async (): Promise<void> => {
      for (const stop of unsubscribe) stop()
      await uses.settle()
    },
  }
}
export type AccountService = ReturnType<typeof createAccountService>
