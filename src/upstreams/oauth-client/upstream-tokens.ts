import { setTimeout as wait } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '../../lib/cache/single-flight.ts'
import type { Database } from '../../lib/db/client.ts'
import type { Changes } from '../../lib/events/changes.ts'
import type { Result } from '../../lib/kernel/result.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { ResolutionFault } from '../config/compiled-config.ts'
import { mcpClient } from '../connection/mcp-client.ts'
import { AccountError, UpstreamError } from '../connection/upstream-error.ts'
import type { ResolvedConfig } from '../upstream.ts'
import { AccountContent, accountSealContext, EVERYBODY, type Holder, type OAuthClient } from './account.ts'
import type { AccountProblem } from './account-messages.ts'
import * as store from './accounts.store.ts'
import type { Authorizer } from './authorizer.ts'
import { describeOAuthError, findPermanentRefusal } from './oauth-errors.ts'
import { headersOf, type OAuthFetchFor } from './oauth-fetch.ts'
import { parseTokens } from './parse-tokens.ts'

const MAX_CACHED_ACCOUNTS = 5_000
/** How long a process may take to renew tokens before another process may try. */
const CLAIM_MS = 30_000
/** How often to check whether another process has renewed the tokens. */
const POLL_MS = 100
/** Delay before the next attempt after a failed renewal if the token is still valid. */
const RETRY_DELAY_MS = 30_000
/** Maximum recent tokens remembered per connection, so that they can be masked. */
const MAX_REMEMBERED_TOKENS = 8

/** A decrypted account. */
type OpenAccount = Omit<store.StoredAccount, 'sealed'> & { content: AccountContent }

export type UpstreamTokensParts = {
  db: Database
  changes: Changes
  sealing: Sealing
  fetchFor: OAuthFetchFor
  /** Resolves an upstream's current configuration, including secrets. Throws `not_found`. */
  resolve: (upstreamId: string) => Promise<Result<ResolvedConfig, ResolutionFault>>
  /** Returns the client with its current secret, which may be newer than the account. */
  findCurrentClient: (upstreamId: string, account: AccountContent) => Promise<OAuthClient>
  /** Builds the error shown to a caller who has no usable account. */
  toError: (problem: AccountProblem, upstreamId: string, holder: Holder) => AccountError
}

const keyOf = (upstreamId: string, holder: Holder): string => `${upstreamId} ${holder}`

const notRenewed = (why: string): UpstreamError =>
  new UpstreamError('unauthorized', `The authorization server did not renew the token: ${why}. Try again.`)

/**
 * Supplies the tokens of accounts and renews them before they expire. Only one renewal of an account runs at a time
 * across all processes, because a refresh token may be valid only once.
 */
export const createUpstreamTokens = ({
  db,
  changes,
  sealing,
  fetchFor,
  resolve,
  findCurrentClient,
  toError,
}: UpstreamTokensParts) => {
  const cache = new LRUCache<string, OpenAccount>({ max: MAX_CACHED_ACCOUNTS })
  /** Number of invalidations so far. A read or renewal that started before the latest one must not fill the cache. */
  let invalidations = 0
  const cacheAccount = (account: OpenAccount, seen: number): void => {
    if (seen === invalidations) cache.set(keyOf(account.upstreamId, account.holder), account)
  }
  const renewals = createSingleFlight<OpenAccount>()
  const pendingWrites = new Set<Promise<void>>()

  const open = ({ sealed, ...account }: store.StoredAccount): OpenAccount => {
    const { upstreamId, holder } = account
    const plain = sealing.open(sealed, accountSealContext(upstreamId, holder))
    return { ...account, content: AccountContent.parse(JSON.parse(plain)) }
  }

  /** Reads the stored account and caches it. If there is no account, throws an error meant for the caller. */
  const read = async (upstreamId: string, holder: Holder): Promise<OpenAccount> => {
    const seen = invalidations
    const stored = await store.findAccount(db, upstreamId, holder)
    if (stored === undefined) {
      cache.delete(keyOf(upstreamId, holder))
      throw toError('missing', upstreamId, holder)
    }
    const account = open(stored)
    cacheAccount(account, seen)
    return account
  }

  /** Returns the account if it is connected and valid. Otherwise throws an error meant for the caller. */
  const get = async (upstreamId: string, holder: Holder): Promise<OpenAccount> => {
    const account = cache.get(keyOf(upstreamId, holder)) ?? (await read(upstreamId, holder))
    if (account.brokenAt !== undefined) throw toError('broken', upstreamId, holder)
    return account
  }

  /**
   * Marks the account as broken and stores this state in the background. The announced event closes the account's
   * connections.
   */
  const markBroken = (account: OpenAccount): AccountError => {
    const { id, upstreamId, holder, version } = account
    const brokenAt = new Date()
    cache.set(keyOf(upstreamId, holder), { ...account, brokenAt })
    const write: Promise<void> = changes
      .commit(async (tx, announce) => {
        const serverId = await store.breakAccount(tx, { id, version }, brokenAt)
        if (serverId !== undefined) announce({ type: 'upstream_changed', upstreamId, serverId })
      })
      // If the write fails, the next call detects the broken account again.
      .catch(() => cache.delete(keyOf(upstreamId, holder)))
      .then(() => void pendingWrites.delete(write))
    pendingWrites.add(write)
    return toError('broken', upstreamId, holder)
  }

  const requestTokens = async ({ upstreamId, organizationId, content }: OpenAccount): Promise<AccountContent> => {
    const { server, resource, tokens } = content
    const resolved = await resolve(upstreamId)
    if (!resolved.ok) throw new UpstreamError('misconfigured', resolved.error.message)
    const response = await mcpClient().refreshAuthorization(server.issuer, {
      metadata: server,
      clientInformation: await findCurrentClient(upstreamId, content),
      refreshToken: tokens.refreshToken ?? '',
      resource,
      fetchFn: fetchFor(organizationId, headersOf(resolved.value), server.issuer),
    })
    const read = parseTokens(response, Date.now())
    if (!read.ok) throw notRenewed(read.error)
    return { ...content, tokens: { scope: tokens.scope, ...read.value } }
  }

  /** Renews the tokens. The caller must hold the claim. */
  const renewClaimed = async (account: OpenAccount): Promise<OpenAccount> => {
    const { id, upstreamId, holder, version } = account
    const seen = invalidations
    let content: AccountContent
    try {
      content = await requestTokens(account)
    } catch (error) {
      if (findPermanentRefusal(error) !== undefined) throw markBroken(account)
      await store.releaseRenewal(db, account)
      throw error instanceof UpstreamError ? error : notRenewed(describeOAuthError(error))
    }
    const sealed = sealing.seal(JSON.stringify(content), accountSealContext(upstreamId, holder))
    const isSaved = await store.saveRenewed(db, { id, version, sealed })
    // The account was disconnected or reconnected in the meantime. Use the stored account.
    if (!isSaved) return get(upstreamId, holder)
    const renewed = { ...account, version: version + 1, content }
    cacheAccount(renewed, seen)
    return renewed
  }

  /** Claims and performs the renewal, or waits for the process that holds the claim. */
  const renew = async ({ upstreamId, holder, version: seen }: OpenAccount): Promise<OpenAccount> => {
    const giveUpAt = Date.now() + CLAIM_MS
    for (;;) {
      const account = await read(upstreamId, holder)
      if (account.brokenAt !== undefined) throw toError('broken', upstreamId, holder)
      if (account.version !== seen) return account
      if (account.content.tokens.refreshToken === undefined) throw markBroken(account)
      const at = Date.now()
      if (await store.claimRenewal(db, account, { now: new Date(at), until: new Date(at + CLAIM_MS) })) {
        return renewClaimed(account)
      }
      if (at > giveUpAt) throw notRenewed('another process is still renewing it')
      await wait(POLL_MS, undefined, { ref: false })
    }
  }

  const renewOnce = (account: OpenAccount): Promise<OpenAccount> =>
    renewals.run(keyOf(account.upstreamId, account.holder), () => renew(account))

  const isUnexpired = ({ content }: OpenAccount): boolean =>
    (content.tokens.expiresAt ?? Number.POSITIVE_INFINITY) > Date.now()

  /** Returns an account whose token remains valid for a while. Renews the token if it is due. */
  const getFresh = async (upstreamId: string, holder: Holder): Promise<OpenAccount> => {
    const account = await get(upstreamId, holder)
    const { renewAt, refreshToken } = account.content.tokens
    if (renewAt === undefined || Date.now() < renewAt) return account
    if (refreshToken === undefined && isUnexpired(account)) return account
    const seen = invalidations
    try {
      return await renewOnce(account)
    } catch (error) {
      if (error instanceof AccountError || !isUnexpired(account)) throw error
      const tokens = { ...account.content.tokens, renewAt: Date.now() + RETRY_DELAY_MS }
      cacheAccount({ ...account, content: { ...account.content, tokens } }, seen)
      // Never use an account that was disconnected in the meantime.
      return seen === invalidations ? account : await get(upstreamId, holder)
    }
  }

  /** Throws an error meant for the caller if the account was connected for another URL, whose tokens are not renewed. */
  const assertUrl = (account: OpenAccount, url: string): void => {
    if (account.content.url !== url) throw toError('moved', account.upstreamId, account.holder)
  }

  const tokenFor = (account: OpenAccount, url: string): string => {
    assertUrl(account, url)
    return account.content.tokens.accessToken
  }

  return {
    authorizerOf: (upstreamId: string, holder: Holder): Authorizer => {
      let opening: readonly string[] = []
      let latest: readonly string[] = []
      let seen: readonly string[] = []
      let forced: { token: string; at: number } | undefined
      const rememberTokens = (account: OpenAccount): OpenAccount => {
        const { accessToken, refreshToken } = account.content.tokens
        const unseen = [accessToken, refreshToken].flatMap(token =>
          token === undefined || latest.includes(token) ? [] : token,
        )
        if (unseen.length > 0) {
          latest = [...latest, ...unseen].slice(-MAX_REMEMBERED_TOKENS)
          seen = [...new Set([...opening, ...latest])]
        }
        return account
      }
      return {
        getToken: async url => {
          assertUrl(await get(upstreamId, holder), url)
          return tokenFor(rememberTokens(await getFresh(upstreamId, holder)), url)
        },
        renewToken: async (url, refused) => {
          const account = await get(upstreamId, holder)
          assertUrl(account, url)
          if (account.content.tokens.accessToken !== refused) return tokenFor(rememberTokens(account), url)
          // If a token is rejected right after its renewal, renewing it again will not help.
          if (forced?.token === refused && Date.now() - forced.at < RETRY_DELAY_MS)
            throw toError('refused', upstreamId, holder)
          const newer = rememberTokens(await renewOnce(account))
          forced = { token: newer.content.tokens.accessToken, at: Date.now() }
          return tokenFor(newer, url)
        },
        refused: () => toError('refused', upstreamId, holder),
        keepOpeningTokens: () => {
          opening = latest
        },
        secrets: () => seen,
      }
    },

    /** If there is no working account, throws an error meant for the caller. */
    assertConnected: async (upstreamId: string, holder: Holder): Promise<void> => {
      await get(upstreamId, holder)
    },

    open,
    /** Drops the cached accounts of an upstream. */
    invalidate: (upstreamId: string): void => {
      invalidations++
      for (const key of cache.keys()) if (key.startsWith(keyOf(upstreamId, EVERYBODY))) cache.delete(key)
    },
    invalidateHolder: (holder: Holder): void => {
      invalidations++
      for (const key of cache.keys()) if (key.endsWith(` ${holder}`)) cache.delete(key)
    },
    invalidateAll: (): void => {
      invalidations++
      cache.clear()
    },
    /** Waits for pending writes. */
    close: async (): Promise<void> => {
      await Promise.allSettled([renewals.settle(), ...pendingWrites])
    },
  }
}
