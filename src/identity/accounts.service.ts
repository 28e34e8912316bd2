import type { z } from 'zod'
import type { Counters } from '../lib/db/counters.ts'
import type { DatabaseHealth } from '../lib/db/health.ts'
import type { EventBus } from '../lib/events/event-bus.ts'
import { parseInput } from '../lib/http/validation.ts'
import type { Visitor } from '../lib/http/visitor.ts'
import { type Actor, SCOPES } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import { orThrow } from '../lib/kernel/missing.ts'
import type { Suspensions } from '../lib/kernel/suspensions.ts'
import type { Logger } from '../lib/process/logger.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import { accountGone, type OwnOrganization, type User } from './account.ts'
import type { MailFlowParts } from './account-parts.ts'
import { NewToken, NewTokenView, NewUser, type SignUp, UserView } from './accounts.schema.ts'
import * as store from './accounts.store.ts'
import { writeAudit } from './audit/audit.store.ts'
import { selfTarget } from './audit/audit-entry.ts'
import { ensureDemoAccount } from './demo-account.ts'
import { createExternalIdentities } from './external/external-identities.ts'
import { createExternalProvider, type ExternalProviderSettings } from './external/external-provider.ts'
import { createExternalSignIn } from './external/external-sign-in.ts'
import { createEmailChange } from './mail/email-change.ts'
import { createEmailVerification } from './mail/email-verification.ts'
import { createMailQueue } from './mail/mail-queue.ts'
import { createPasswordChanges } from './mail/password-changes.ts'
import { createOwnPassword, createSelfProof } from './own-password.ts'
import { createPasswords, type HashingCost } from './passwords.ts'
import { createSecondFactors } from './second-factor/second-factor.service.ts'
import { createOwnSessions } from './sign-in/own-sessions.ts'
import { createSignIn } from './sign-in/sign-in.ts'
import {
  type AccountMaking,
  admitSignUp,
  type Home,
  type Invitations,
  isFirstAccount,
  makeAccount,
  type SignUpPolicy,
  type SignUpTerms,
  type Standing,
  signUpTermsOf,
} from './sign-in/sign-up.ts'
import { createThrottle } from './sign-in/throttle.ts'
import { createAccessTokens, issueToken } from './tokens/access-tokens.ts'
import { createTokenChecks } from './tokens/token-checks.ts'
import { createUserAdministration } from './user-administration.ts'

export type AccountServiceParts = Pick<MailFlowParts, 'db' | 'changes' | 'mailer' | 'endGrantsOf' | 'baseUrl'> & {
  databaseHealth: Pick<DatabaseHealth, 'whileReachable'>
  bus: EventBus
  counters: Counters
  sealing: Pick<Sealing, 'seal' | 'open'>
  logger: Logger
  suspensions: Suspensions
  policy: SignUpPolicy
  /** The external sign-in provider, if one is configured. */
  externalProvider: ExternalProviderSettings | undefined
  invitations: Invitations
  adoptDemoServers: AccountMaking['adoptDemoServers']
  /** Overrides the cost of password hashing, for tests that are not about hashing. */
  hashingCost?: HashingCost | undefined
}

/** A sign-up, and where it was sent from. */
export type SignUpInput = z.infer<typeof SignUp> & Visitor

export type NewUserInput = z.input<typeof NewUser>

const ALL_SCOPES: Actor['scopes'] = new Set(SCOPES)

export const createAccountService = (needs: AccountServiceParts) => {
  const { db, changes, bus, counters, mailer, logger, suspensions, policy, externalProvider, invitations } = needs
  const { hashingCost } = needs
  const passwords = createPasswords(undefined, hashingCost)
  const throttle = createThrottle(counters)
  bus.subscribe('resync', throttle.forgetBlocks)
  // A password reset in another process may have lifted blocks.
  bus.subscribe('access_changed', throttle.forgetBlocks)
  const ownPassword = createOwnPassword({ db, passwords, throttle })
  const parts = { ...needs, passwords, throttle, ownPassword }
  const making = { tenancy: policy.tenancy, adoptDemoServers: needs.adoptDemoServers }
  const secondFactors = createSecondFactors(parts)
  const signIns = createSignIn({ ...parts, secondFactors })
  const provider = externalProvider && createExternalProvider({ settings: externalProvider, logger })
  const external = createExternalSignIn({ ...parts, provider, signIns, secondFactors })
  const mailQueue = createMailQueue(logger)
  const mailParts = { ...parts, mailQueue }
  const { welcome, ...emailVerification } = createEmailVerification(mailParts)
  const administration = createUserAdministration(parts)
  const { close: closeTokenChecks, ...tokenChecks } = createTokenChecks(parts)

  const findActorByUserId = async (userId: string): Promise<Actor | undefined> => {
    const user = await store.findActingUser(db, userId)
    if (user === undefined || suspensions.ofUser(userId) !== undefined) return undefined
    const isUnconfirmed = user.isUnconfirmed && mailer.isDelivering
    return { ...user, userId, isUnconfirmed, scopes: ALL_SCOPES, suspensions }
  }

  const homeOf = (invitation: string | undefined, address: string): Home =>
    invitation === undefined
      ? { kind: 'own' }
      : { kind: 'invited', accept: (tx, user) => invitations.accept(tx, invitation, user, address) }

  return {
    ...createAccessTokens(parts),
    ...administration,
    ...tokenChecks,
    ...signIns,
    ...external,
    ...createExternalIdentities({ ...parts, external }),
    ...secondFactors,
    ...emailVerification,
    ...createPasswordChanges(mailParts),
    ...createEmailChange(mailParts),
    /** Whether emails are delivered, or only saved to the outbox for the operator. */
    isMailDelivered: mailer.isDelivering,
    ...createOwnSessions(parts),
    ...createSelfProof(parts),

    getSignUpTerms: async ({ isLocal }: Pick<Visitor, 'isLocal'>): Promise<SignUpTerms> =>
      signUpTermsOf(policy, await isFirstAccount(db), isLocal),

    /** Throws `forbidden` if sign-up is not open or the setup token is wrong, `conflict` if the email is taken. */
    signUp: async ({ email, password, setupToken, invitation, address, isLocal }: SignUpInput): Promise<User> => {
      await throttle.countSignUp(address)
      const admit = (isFirst: boolean) => admitSignUp(policy, isFirst, { setupToken, invitation, isLocal })
      // This check only avoids needless hashing. The transaction checks again.
      admit(await isFirstAccount(db))
      if (invitation !== undefined) await invitations.assertGoodFor(db, invitation, email)
      const passwordHash = await passwords.hashPassword(password)
      const account = { email, passwordHash, isOperator: false, home: homeOf(invitation, address), address }
      const user = await changes.commit((tx, announce) => makeAccount(tx, announce, account, { ...making, admit }))
      welcome(user, address)
      return user
    },

    /** Records a sign-out after the session has ended. */
    noteSignOut: (actor: Actor): Promise<void> =>
      writeAudit(db, { action: 'user.signed_out', actor, target: selfTarget(actor) }),

    getMe: async (actor: Actor): Promise<{ user: User; organizations: OwnOrganization[] }> => {
      const user = orThrow(await store.findUser(db, actor.userId), accountGone)
      return { user, organizations: await store.listOrganizationsOf(db, user.id) }
    },

    findActorByUserId,

    /**
     * Creates an account for the operator's command line. Skips throttling and the sign-up policy. Throws `conflict` if
     * the email is taken.
     */
    createUser: async (input: NewUserInput): Promise<z.output<typeof UserView>> => {
      const { email, password, isOperator = false, organization } = parseInput(NewUser, input)
      const passwordHash = await passwords.hashPassword(password)
      const home = { kind: 'joined', name: organization } as const
      const account = { email, passwordHash, isOperator, home, address: undefined }
      const rules = { ...making, admit: (): Standing => 'proven' }
      return UserView.parse(await changes.commit((tx, announce) => makeAccount(tx, announce, account, rules)))
    },

    /** Creates a token for the operator's command line. Throws `not_found` if no account has this email. */
    createTokenFor: async (email: string, input: z.input<typeof NewToken>): Promise<z.output<typeof NewTokenView>> => {
      const tokenInput = parseInput(NewToken, input)
      const user = await administration.getUserByEmail(email)
      const made = await changes.commit(tx => issueToken(tx, user.id, tokenInput, undefined))
      return NewTokenView.parse(made)
    },

    /**
     * Resets the second factor of a user who has lost all codes, for the operator's command line. Throws `not_found` if
     * no account has this email.
     */
    resetSecondFactorFor: async (email: string): Promise<z.output<typeof UserView>> => {
      const user = await administration.getUserByEmail(email)
      await secondFactors.resetSecondFactor(user)
      return UserView.parse(user)
    },

    /**
     * Returns the owner of the objects that `patchbay demo` creates: the operator, or the demo account if there is no
     * operator yet.
     */
    getDemoActor: async (): Promise<Actor> => {
      // In one transaction, because nobody would take over an account that is created after the first sign-up.
      const userId = await changes.commit(
        async tx => (await store.findOldestOperatorId(tx)) ?? (await ensureDemoAccount(tx)).id,
      )
      const actor = await findActorByUserId(userId)
      if (actor === undefined) throw new AppError('not_found', 'The demo account no longer exists.')
      return actor
    },

    /** Whether anyone has signed up. */
    isAnyUser: async (): Promise<boolean> => !(await isFirstAccount(db)),

    /** Stops listening for changes, and completes pending writes and emails. */
    close: async (): Promise<void> => {
      await closeTokenChecks()
      await provider?.close()
      await mailQueue.settle()
    },
  }
}
export type AccountService = ReturnType<typeof createAccountService>
