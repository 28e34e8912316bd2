import type { Database } from '../../lib/db/client.ts'
import type { DatabaseHealth } from '../../lib/db/health.ts'
import type { EventBus } from '../../lib/events/event-bus.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { assertNotSuspended, type Suspensions } from '../../lib/kernel/suspensions.ts'
import type { Mailer } from '../../lib/mail/mailer.ts'
import type { Logger } from '../../lib/process/logger.ts'
import { hashToken, isToken } from '../credentials.ts'
import { createTokenVerifier } from './token-verifier.ts'
import * as store from './tokens.store.ts'

/** A caller of an MCP server, identified by a personal access token. */
type McpCaller = {
  userId: string
  tokenId: string
  memberships: Actor['memberships']
  isForMcp: boolean
  expiresAt: Date
}

const toCaller = ({ token, memberships }: store.TokenHolder): McpCaller => ({
  userId: token.userId,
  tokenId: token.id,
  memberships,
  isForMcp: token.scopes.includes('mcp'),
  expiresAt: token.expiresAt,
})

export type TokenChecksParts = {
  db: Database
  databaseHealth: Pick<DatabaseHealth, 'whileReachable'>
  bus: EventBus
  logger: Pick<Logger, 'warn'>
  mailer: Pick<Mailer, 'isDelivering'>
  suspensions: Suspensions
}

/** Checks personal access tokens and records their use. */
export const createTokenChecks = ({ db, databaseHealth, bus, logger, mailer, suspensions }: TokenChecksParts) => {
  const verifier = createTokenVerifier<McpCaller>({
    bus,
    isToken,
    find: async tokenHash => {
      const holder = await databaseHealth.whileReachable(() => store.findTokenHolder(db, tokenHash))
      return holder && toCaller(holder)
    },
    idOf: ({ tokenId }) => tokenId,
    writeUse: (tokenId, usedAt) => store.noteUse(db, tokenId, usedAt),
    onError: error => logger.warn({ err: error }, 'could not record when a token was used'),
  })
  return {
    /**
     * Returns the actor of an API request with a token. Not cached, so that roles and scopes are current. Throws
     * `forbidden` if the user is suspended.
     */
    findActorByToken: async (text: string): Promise<Actor | undefined> => {
      if (!isToken(text)) return undefined
      const holder = await store.findTokenHolder(db, hashToken(text))
      if (holder === undefined || holder.token.expiresAt.getTime() <= Date.now()) return undefined
      const { token, ...user } = holder
      const { userId, scopes, expiresAt } = token
      assertNotSuspended('account', suspensions.ofUser(userId))
      verifier.noteUse(token.id)
      const isUnconfirmed = user.isUnconfirmed && mailer.isDelivering
      return { ...user, isUnconfirmed, userId, scopes: new Set(scopes), expiresAt, suspensions }
    },

    /** Returns the caller of an MCP request with a token, cached for a few seconds. */
    verifyMcpToken: verifier.verify,

    close: verifier.close,
  }
}
