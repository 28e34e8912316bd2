import type { FastifyRequest } from 'fastify'
import type { ExternalSecrets } from './external-provider.ts'
import type { UnlinkedPerson } from './external-sign-in.ts'

/** How long somebody may take at the provider, and with the password after that. */
const JOURNEY_MS = 10 * 60 * 1_000

/** What a session keeps of a browser that is away at the provider. */
export type Journey = ExternalSecrets & {
  returnTo: string
  /** The user to link to who comes back; undefined: they come to sign in. */
  linkTo?: string
}

/** Somebody who came back, and is asked for the password of the account that has their address. */
export type WaitingLink = UnlinkedPerson & { returnTo: string }

/** Milliseconds since 1970. */
type WithEnd<T> = T & { endsAt: number }

declare module 'fastify' {
  interface Session {
    journey?: WithEnd<Journey>
    waitingLink?: WithEnd<WaitingLink>
  }
}

/** A session of nobody lasts no longer than what it is for. */
const boundSession = ({ session }: FastifyRequest, endsAt: number): void => {
  if (session.userId === undefined) session.endsAt = endsAt
}

export const keepJourney = (request: FastifyRequest, journey: Journey): void => {
  const endsAt = request.server.sessionOptions.now() + JOURNEY_MS
  request.session.journey = { ...journey, endsAt }
  boundSession(request, endsAt)
}

/** The journey that this browser is back from, once; undefined: none was begun in it, or it took too long. */
export const takeJourney = async (request: FastifyRequest): Promise<Journey | undefined> => {
  const { journey } = request.session
  if (journey === undefined) return undefined
  delete request.session.journey
  // Before the provider is asked, not only with the answer.
  await request.session.save()
  return journey.endsAt <= request.server.sessionOptions.now() ? undefined : journey
}

/** On a session of a new id, as after every step of a sign-in. */
export const keepWaitingLink = async (request: FastifyRequest, waiting: WaitingLink): Promise<void> => {
  const endsAt = request.server.sessionOptions.now() + JOURNEY_MS
  await request.session.regenerate()
  request.session.waitingLink = { ...waiting, endsAt }
  boundSession(request, endsAt)
}

export const findWaitingLink = ({ session, server }: FastifyRequest): WaitingLink | undefined => {
  const { waitingLink } = session
  return waitingLink === undefined || waitingLink.endsAt <= server.sessionOptions.now() ? undefined : waitingLink
}
