import type { FastifyRequest } from 'fastify'
import type { ExternalSecrets } from './external-provider.ts'
import type { UnlinkedPerson } from './external-sign-in.ts'

/** Time limit for signing in at the provider. Restarts if the user then has to enter a password. */
const JOURNEY_MS = 10 * 60 * 1_000

/** The pending sign-in, stored in the session while the browser is at the provider. */
export type PendingExternalSignIn = ExternalSecrets & {
  returnTo: string
  /** The user to link the identity to, or undefined for a sign-in. */
  linkTo?: string
}

/** A user who has returned from the provider and must enter the password of the account with the same email. */
export type WaitingLink = UnlinkedPerson & { returnTo: string }

/** Milliseconds since 1970. */
type WithEnd<T> = T & { endsAt: number }

declare module 'fastify' {
  interface Session {
    journey?: WithEnd<PendingExternalSignIn>
    waitingLink?: WithEnd<WaitingLink>
  }
}

/** Limits an anonymous session to the lifetime of the data it stores. */
const boundSession = ({ session }: FastifyRequest, endsAt: number): void => {
  if (session.userId === undefined) session.endsAt = endsAt
}

export const saveExternalSignIn = (request: FastifyRequest, journey: PendingExternalSignIn): void => {
  const endsAt = request.server.sessionOptions.now() + JOURNEY_MS
  request.session.journey = { ...journey, endsAt }
  boundSession(request, endsAt)
}

/** Takes the pending sign-in from the session; undefined if this browser started none or it has expired. */
export const takeExternalSignIn = async (request: FastifyRequest): Promise<PendingExternalSignIn | undefined> => {
  const { journey } = request.session
  if (journey === undefined) return undefined
  delete request.session.journey
  // Saved before the provider is called, so that the pending sign-in cannot be used twice.
  await request.session.save()
  return journey.endsAt <= request.server.sessionOptions.now() ? undefined : journey
}

/** Gives the session a new ID, as every sign-in step does. */
export const saveWaitingLink = async (request: FastifyRequest, waiting: WaitingLink): Promise<void> => {
  const endsAt = request.server.sessionOptions.now() + JOURNEY_MS
  await request.session.regenerate()
  request.session.waitingLink = { ...waiting, endsAt }
  boundSession(request, endsAt)
}

export const findWaitingLink = ({ session, server }: FastifyRequest): WaitingLink | undefined => {
  const { waitingLink } = session
  return waitingLink === undefined || waitingLink.endsAt <= server.sessionOptions.now() ? undefined : waitingLink
}
