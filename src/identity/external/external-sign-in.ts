import type { Transaction } from '../../lib/db/client.ts'
import type { Announce } from '../../lib/events/changes.ts'
import type { Visitor } from '../../lib/http/visitor.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { assertNotSuspended } from '../../lib/kernel/suspensions.ts'
import type { User } from '../account.ts'
import { auditSignIn } from '../account-audit.ts'
import type { AccountParts } from '../account-parts.ts'
import * as accountStore from '../accounts.store.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { userActor, userTarget } from '../audit/audit-entry.ts'
import type { SecondFactors } from '../second-factor/second-factor.service.ts'
import type { FirstStep, SignIns } from '../sign-in/sign-in.ts'
import { type AccountMaking, admitSignUp, makeAccount, type SignUpPolicy, type Standing } from '../sign-in/sign-up.ts'
import { assertConfirmed } from '../unconfirmed.ts'
import * as store from './external-identities.store.ts'
import type { ExternalIdentity, ExternalProvider, ExternalSecrets } from './external-provider.ts'

/** Path of the redirect URI registered with the provider. */
export const CALLBACK_PATH = '/sign-in/external/callback'

/** Completes "before you …" in the error for an unconfirmed email. */
export const LINK = 'link another way to sign in'

export type ExternalSignInParts = AccountParts & {
  /** Undefined if none is configured. */
  provider: ExternalProvider | undefined
  signIns: SignIns
  secondFactors: SecondFactors
  policy: SignUpPolicy
  adoptDemoServers: AccountMaking['adoptDemoServers']
}

/** A user at the provider whose email belongs to an account that is not yet linked to this identity. */
export type UnlinkedPerson = { email: string; identity: ExternalIdentity }

export type ExternalReturn =
  | { kind: 'signed_in'; first: FirstStep }
  /** An account with this email exists. It may belong to someone else, so its password is required. */
  | { kind: 'taken'; person: UnlinkedPerson }

const notVerified = (name: string): AppError =>
  new AppError('forbidden', `${name} has not verified your email. Confirm it there, or sign in here with a password.`)

const takenIdentity = (): AppError =>
  new AppError('conflict', 'Another account is already linked to this identity. Sign in to that account instead.')

const linkIdentity = async (
  tx: Transaction,
  user: Pick<User, 'id' | 'email'>,
  identity: ExternalIdentity,
  address: string | undefined,
): Promise<void> => {
  const ownerId = await store.findUserIdByIdentity(tx, identity)
  if (ownerId === user.id) return
  if (ownerId !== undefined) throw takenIdentity()
  await store.createIdentity(tx, user.id, identity)
  const actor = userActor(user, address)
  await writeAudit(tx, { action: 'user.identity_linked', actor, target: userTarget(user), change: { ...identity } })
}

/** Operations for signing in through the external OpenID Connect provider. */
export const createExternalSignIn = (parts: ExternalSignInParts) => {
  const { db, changes, provider, signIns, secondFactors, throttle, policy, baseUrl, adoptDemoServers } = parts

  const getProvider = (): ExternalProvider => {
    if (provider === undefined) throw new AppError('not_found', 'This installation has no external sign-in provider.')
    return provider
  }

  const callbackUrl = (query: URLSearchParams): URL => {
    const url = new URL(CALLBACK_PATH, baseUrl)
    url.search = query.toString()
    return url
  }

  const makeLinkedAccount = async (
    tx: Transaction,
    announce: Announce,
    { email, identity }: UnlinkedPerson,
    { address, isLocal }: Visitor,
  ): Promise<string> => {
    const account = { email, passwordHash: undefined, isOperator: false, home: { kind: 'own' } as const }
    const admit = (isFirst: boolean): Standing => {
      admitSignUp(policy, isFirst, { isLocal })
      // The provider has verified the email.
      return 'proven'
    }
    const making = { tenancy: policy.tenancy, adoptDemoServers, admit }
    const user = await makeAccount(tx, announce, { ...account, address }, making)
    await linkIdentity(tx, user, identity, address)
    return user.id
  }

  /** Returns the user's ID, creating an account if needed. Returns undefined if another account has this email. */
  const settle = (person: UnlinkedPerson, visitor: Visitor): Promise<string | undefined> =>
    changes.commit(async (tx, announce) => {
      const userId = await store.findUserIdByIdentity(tx, person.identity)
      if (userId !== undefined) return userId
      const isTaken = (await accountStore.findUserByEmail(tx, person.email)) !== undefined
      return isTaken ? undefined : makeLinkedAccount(tx, announce, person, visitor)
    })

  /** Links an identity for whose email the user has just entered the password. */
  const linkProven = (user: User, identity: ExternalIdentity, address: string): Promise<void> =>
    changes.commit(async tx => {
      await linkIdentity(tx, user, identity, address)
      if (await accountStore.markEmailVerified(tx, user.id, new Date())) {
        await writeAudit(tx, {
          action: 'user.email_verified',
          actor: userActor(user, address),
          target: userTarget(user),
        })
      }
    })

  const firstStepOf = async (userId: string, address: string): Promise<FirstStep> => {
    const user = await accountStore.findUser(db, userId)
    if (user === undefined) throw new AppError('forbidden', 'This account no longer exists.')
    assertNotSuspended('account', user.suspendedReason)
    const secondStep = await secondFactors.findSecondStep(userId)
    if (secondStep === undefined) await auditSignIn(db, user, address)
    return { user, secondStep }
  }

  return {
    /** Name on the sign-in button, or undefined if there is no provider. */
    externalProviderName: provider?.name,

    /**
     * Returns the URL to send the browser to and the secrets to store in its session. Throws `not_found` if there is no
     * provider.
     */
    beginExternalSignIn: async (address: string): Promise<{ url: string; secrets: ExternalSecrets }> => {
      const { begin } = getProvider()
      await throttle.countExternal(address)
      return begin(callbackUrl(new URLSearchParams()).href)
    },

    /**
     * Handles the callback: the user is signed in or must enter a password first. Throws `forbidden` for users who have
     * no account and cannot get one. Throws `invalid_request` or `unavailable` if the provider’s response is missing or
     * invalid.
     */
    finishExternalSignIn: async (
      query: URLSearchParams,
      secrets: ExternalSecrets,
      visitor: Visitor,
    ): Promise<ExternalReturn> => {
      const { address } = visitor
      const { name, finish } = getProvider()
      const { identity, findVerifiedEmail } = await finish(callbackUrl(query), secrets)
      const knownId = await store.findUserIdByIdentity(db, identity)
      if (knownId !== undefined) return { kind: 'signed_in', first: await firstStepOf(knownId, address) }
      const email = await findVerifiedEmail()
      if (email === undefined) throw notVerified(name)
      await throttle.countSignUp(address)
      const userId = await settle({ email, identity }, visitor)
      if (userId === undefined) return { kind: 'taken', person: { email, identity } }
      return { kind: 'signed_in', first: await firstStepOf(userId, address) }
    },

    /**
     * Links an identity to the account with its email after checking the password. The account's email is then
     * confirmed, because the provider has verified it. Throws like `beginSignIn`.
     */
    linkByPassword: async (person: UnlinkedPerson, password: string, address: string): Promise<FirstStep> => {
      const first = await signIns.beginSignIn({ email: person.email, password, address })
      if (first.secondStep === undefined) await linkProven(first.user, person.identity, address)
      return first
    },

    /** Links the identity after the second step. Throws `conflict` if it has since been linked to another account. */
    linkAfterCode: linkProven,

    /** Links the returned identity to the signed-in user's account. */
    finishLinking: async (actor: Actor, query: URLSearchParams, secrets: ExternalSecrets): Promise<void> => {
      assertConfirmed(actor, LINK)
      const { identity } = await getProvider().finish(callbackUrl(query), secrets)
      const user = { id: actor.userId, email: actor.email }
      await changes.commit(tx => linkIdentity(tx, user, identity, actor.address))
    },
  }
}
export type ExternalSignIn = ReturnType<typeof createExternalSignIn>
