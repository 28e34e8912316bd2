import { type Actor, AppError } from '../kernel/index.ts'
import { writeAudit } from '../platform/audit/index.ts'
import type { Database, Transaction } from '../platform/db/index.ts'
import type { Changes } from '../platform/events/index.ts'
import type { User } from './account.ts'
import { auditSignIn } from './account-audit.ts'
import * as accountStore from './accounts.store.ts'
import { UNUSABLE_PASSWORD_HASH } from './demo-account.ts'
import * as store from './external-identities.store.ts'
import type { ExternalIdentity, ExternalProvider, ExternalSecrets } from './external-provider.ts'
import type { SecondFactors } from './second-factor.service.ts'
import type { FirstStep, SignIns } from './sign-in.ts'
import { assertMaySignUp, makeAccount, type SignUpPolicy } from './sign-up.ts'
import type { Throttle } from './throttle.ts'

/** Where the provider sends browsers back to; registered there. */
export const CALLBACK_PATH = '/sign-in/external/callback'

export type ExternalSignInParts = {
  db: Database
  changes: Changes
  /** undefined: the settings name none. */
  provider: ExternalProvider | undefined
  signIns: Pick<SignIns, 'beginSignIn'>
  secondFactors: Pick<SecondFactors, 'findSecondStep'>
  throttle: Throttle
  policy: SignUpPolicy
  baseUrl: string
  /** Milliseconds since 1970. */
  now: () => number
}

/** Somebody at the provider whose address is that of an account which is not theirs yet. */
export type UnlinkedPerson = { email: string; identity: ExternalIdentity }

export type ExternalReturn =
  | { kind: 'signed_in'; first: FirstStep }
  /** There is an account with this address: who had it first may be somebody else, so that its password is asked for. */
  | { kind: 'taken'; person: UnlinkedPerson }

const notVerified = (name: string): AppError =>
  new AppError(
    'forbidden',
    `${name} does not vouch for an e-mail address of yours: confirm it there, or sign in with a password here.`,
  )

const takenIdentity = (): AppError =>
  new AppError('conflict', 'Another account here is linked to this person at the provider: sign in with that one.')

/** Writes down in the account that this person at the provider is its user. */
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
  await writeAudit(tx, {
    action: 'user.identity_linked',
    actor: { userId: user.id, email: user.email, ...(address !== undefined && { address }) },
    target: { type: 'user', id: user.id, name: user.email },
    change: { ...identity },
  })
}

/** Signing in with the external OpenID Connect provider. */
export const createExternalSignIn = (parts: ExternalSignInParts) => {
  const { db, changes, provider, signIns, secondFactors, throttle, policy, baseUrl, now } = parts

  const getProvider = (): ExternalProvider => {
    if (provider === undefined) throw new AppError('not_found', 'No external provider is set up here.')
    return provider
  }

  const callbackUrl = (query: URLSearchParams): URL => {
    const url = new URL(CALLBACK_PATH, baseUrl)
    url.search = query.toString()
    return url
  }

  const makeLinkedAccount = async (
    tx: Transaction,
    { email, identity }: UnlinkedPerson,
    address: string,
  ): Promise<string> => {
    const account = { email, passwordHash: UNUSABLE_PASSWORD_HASH, isOperator: false, home: { kind: 'own' } as const }
    const assertAllowed = (isFirst: boolean) =>
      assertMaySignUp(policy, isFirst, { setupToken: undefined, invitation: undefined })
    const user = await makeAccount(tx, { ...account, address }, policy.tenancy, assertAllowed)
    await accountStore.markEmailVerified(tx, user.id, new Date(now()))
    await linkIdentity(tx, user, identity, address)
    return user.id
  }

  /** The user of this address at the provider, made if need be; undefined: the address is another account's. */
  const settle = (person: UnlinkedPerson, address: string): Promise<string | undefined> =>
    changes.commit(async tx => {
      const userId = await store.findUserIdByIdentity(tx, person.identity)
      if (userId !== undefined) return userId
      const isTaken = (await accountStore.findUserByEmail(tx, person.email)) !== undefined
      return isTaken ? undefined : makeLinkedAccount(tx, person, address)
    })

  const firstStepOf = async (userId: string, address: string): Promise<FirstStep> => {
    const user = await accountStore.findUser(db, userId)
    if (user === undefined) throw new AppError('forbidden', 'This account is gone.')
    const secondStep = await secondFactors.findSecondStep(userId)
    if (secondStep === undefined) await auditSignIn(db, user, address)
    return { user, secondStep }
  }

  return {
    /** What the button says; undefined: there is none. */
    externalProviderName: provider?.name,

    /** Where to send the browser, and what its session keeps until it comes back. Throws `not_found` without a provider. */
    beginExternalSignIn: async (address: string): Promise<{ url: string; secrets: ExternalSecrets }> => {
      const { begin } = getProvider()
      await throttle.countExternal(address)
      return begin(callbackUrl(new URLSearchParams()).href)
    },

    /**
     * Who came back, signed in or to be asked for a password. Throws `forbidden` for who has no account and can get
     * none, `invalid_request` or `unavailable` where the provider’s answer is not to be had.
     */
    finishExternalSignIn: async (
      query: URLSearchParams,
      secrets: ExternalSecrets,
      address: string,
    ): Promise<ExternalReturn> => {
      const { name, finish } = getProvider()
      const { identity, findVerifiedEmail } = await finish(callbackUrl(query), secrets)
      const knownId = await store.findUserIdByIdentity(db, identity)
      if (knownId !== undefined) return { kind: 'signed_in', first: await firstStepOf(knownId, address) }
      const email = await findVerifiedEmail()
      if (email === undefined) throw notVerified(name)
      await throttle.countSignUp(address)
      const userId = await settle({ email, identity }, address)
      if (userId === undefined) return { kind: 'taken', person: { email, identity } }
      return { kind: 'signed_in', first: await firstStepOf(userId, address) }
    },

    /** Links a person to the account of their address for who knows its password. Throws as `beginSignIn` does. */
    linkByPassword: async (person: UnlinkedPerson, password: string, address: string): Promise<FirstStep> => {
      const first = await signIns.beginSignIn({ email: person.email, password, address })
      if (first.secondStep === undefined)
        await changes.commit(tx => linkIdentity(tx, first.user, person.identity, address))
      return first
    },

    /** The same once the second step is done as well. Throws `conflict` where the person has another account by now. */
    linkAfterCode: (user: User, identity: ExternalIdentity, address: string): Promise<void> =>
      changes.commit(tx => linkIdentity(tx, user, identity, address)),

    /** Who came back to be linked to the account that they are signed in to. */
    finishLinking: async (actor: Actor, query: URLSearchParams, secrets: ExternalSecrets): Promise<void> => {
      const { identity } = await getProvider().finish(callbackUrl(query), secrets)
      const user = { id: actor.userId, email: actor.email }
      await changes.commit(tx => linkIdentity(tx, user, identity, actor.address))
    },
  }
}
export type ExternalSignIn = ReturnType<typeof createExternalSignIn>
