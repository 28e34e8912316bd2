import { z } from 'zod'
import { type Actor, AppError, SCOPES } from '../kernel/index.ts'
import type { Counters } from '../platform/counters/index.ts'
import type { Database } from '../platform/db/index.ts'
import type { Changes, EventBus } from '../platform/events/index.ts'
import { parseInput } from '../platform/http/index.ts'
import type { Logger } from '../platform/logger.ts'
import type { Mailer } from '../platform/mail/index.ts'
import type { Sealing } from '../platform/sealing.ts'
import { createAccessTokens, issueToken } from './access-tokens.ts'
import type { OwnOrganization, User } from './account.ts'
import { auditSignOut } from './account-audit.ts'
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
import { ensureDemoAccount } from './demo-account.ts'
import { createExternalIdentities } from './external-identities.ts'
import { createExternalProvider, type ExternalProviderSettings } from './external-provider.ts'
import { createExternalSignIn } from './external-sign-in.ts'
import { createMailFlows } from './mail-flows.ts'
import type { EndGrantsOf } from './mail-parts.ts'
import { createMcpTokens } from './mcp-tokens.ts'
import { createOwnPassword } from './own-password.ts'
import { createOwnSessions } from './own-sessions.ts'
import { createPasswords, type HashingCost } from './passwords.ts'
import { createSecondFactors } from './second-factor.service.ts'
import { createSelfProof } from './self-proof.ts'
import { createSignIn } from './sign-in.ts'
import {
  assertMaySignUp,
  type Home,
  type Invitations,
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
  sealing: Pick<Sealing, 'seal' | 'open'>
  mailer: Mailer
  logger: Logger
  policy: SignUpPolicy
  /** The one that people may sign in with, if there is one. */
  externalProvider: ExternalProviderSettings | undefined
  invitations: Invitations
  endGrantsOf: EndGrantsOf
  /** The origin of the links in letters. */
  baseUrl: string
  /** Of passwords, in place of the usual one: for tests that are not of hashing. */
  hashingCost?: HashingCost | undefined
  /** Milliseconds since 1970. */
  now?: () => number
}

/** Credentials as they come in, with the network address they come from. */
export type SignUpInput = {
  email: string
  password: string
  setupToken?: string | undefined
  /** The token of an invitation's link. */
  invitation?: string | undefined
  address: string
}

/** What `user create` takes. */
export type NewUserInput = z.input<typeof NewUser>

const ALL_SCOPES: ReadonlySet<(typeof SCOPES)[number]> = new Set(SCOPES)

export const createAccountService = ({
  db,
  changes,
  bus,
  counters,
  sealing,
  mailer,
  logger,
  policy,
  externalProvider,
  invitations,
  endGrantsOf,
  baseUrl,
  hashingCost,
  now = Date.now,
}: AccountServiceParts) => {
  const passwords = createPasswords(undefined, hashingCost)
  const throttle = createThrottle(counters, now)
  const ownPassword = createOwnPassword({ db, passwords, throttle })
  const secondFactors = createSecondFactors({ db, changes, sealing, ownPassword, throttle, now })
  const signIns = createSignIn({ db, passwords, throttle, secondFactors })
  const provider = externalProvider && createExternalProvider({ settings: externalProvider, logger, now })
  const external = createExternalSignIn({
    db,
    changes,
    provider,
    signIns,
    secondFactors,
    throttle,
    policy,
    baseUrl,
    now,
  })
  const mailFlows = createMailFlows({
    db,
    changes,
    mailer,
    throttle,
    passwords,
    ownPassword,
    endGrantsOf,
    baseUrl,
    logger,
    now,
  })
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

  const homeOf = (invitation: string | undefined, address: string): Home =>
    invitation === undefined
      ? { kind: 'own' }
      : { kind: 'invited', accept: (tx, user) => invitations.accept(tx, invitation, user, address) }

  /** As the command line names users. Throws `not_found` for an address without an account. */
  const getUserAt = async (email: string): Promise<User> => {
    const found = await store.findUserByEmail(db, parseInput(z.object({ email: Email }), { email }).email)
    if (found === undefined) throw new AppError('not_found', `There is no user with the address ${email}.`)
    const { passwordHash: _, ...user } = found
    return user
  }

  return {
    ...createAccessTokens({ db, changes, now }),
    ...signIns,
    ...external,
    ...createExternalIdentities({ db, changes, ownPassword, external }),
    ...secondFactors,
    ...mailFlows.operations,
    ...createOwnSessions({ db, changes, now }),
    ...createSelfProof({ db, ownPassword }),

    getSignUpTerms: async (): Promise<SignUpTerms> => signUpTermsOf(policy, await isFirstAccount(db)),

    /** Throws `forbidden` where sign-up is not open or the setup token is wrong, `conflict` for a taken address. */
    signUp: async ({ email, password, setupToken, invitation, address }: SignUpInput): Promise<User> => {
      await throttle.countSignUp(address)
      const assertAllowed = (isFirst: boolean) => assertMaySignUp(policy, isFirst, { setupToken, invitation })
      // Asked again where it counts; here it only spares the hashing.
      assertAllowed(await isFirstAccount(db))
      if (invitation !== undefined) await invitations.assertGoodFor(db, invitation, email)
      const passwordHash = await passwords.hashPassword(password)
      const account = { email, passwordHash, isOperator: false, home: homeOf(invitation, address), address }
      const user = await changes.commit(tx => makeAccount(tx, account, policy.tenancy, assertAllowed))
      mailFlows.welcome(user, address)
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
      const user = await getUserAt(email)
      const made = await changes.commit(tx => issueToken(tx, user.id, wish, now(), undefined))
      return { ...toTokenView(made), token: made.token }
    },

    /** As the operator at the command line, for who has lost everything. Throws `not_found` for an unknown address. */
    resetSecondFactorFor: async (email: string): Promise<z.infer<typeof UserView>> => {
      const user = await getUserAt(email)
      await secondFactors.resetSecondFactor(user)
      return toUserView(user)
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

    /** Stops listening for changes; writes and sends what is left. */
    close: async (): Promise<void> => {
      for (const stop of unsubscribe) stop()
      await uses.settle()
      await provider?.close()
      await mailFlows.settle()
    },
  }
}
export type AccountService = ReturnType<typeof createAccountService>
