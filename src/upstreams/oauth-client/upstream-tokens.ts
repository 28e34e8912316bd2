import { setTimeout as wait } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '../../lib/cache/single-flight.ts'
import type { Database } from '../../lib/db/client.ts'
import type { Changes } from '../../lib/events/changes.ts'
import type { BoundedFetch } from '../../lib/outbound/bounded-fetch.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { mcpClient } from '../connection/mcp-client.ts'
import { AccountError, UpstreamError } from '../connection/upstream-error.ts'
import { AccountContent, accountSealContext, EVERYBODY, type Holder, type OAuthClient } from './account.ts'
import type { AccountLack } from './account-words.ts'
import * as store from './accounts.store.ts'
import type { Authorizer } from './authorizer.ts'
import { findRefusal, wordsOf } from './oauth-words.ts'
import { readTokens } from './token-answer.ts'

/** Accounts kept open in memory at once: what is above it is read again. */
const MAX_HELD = 5_000
/** One process has so long to renew; then another may try. */
const TURN_MS = 30_000
/** How often it is looked whether another process has renewed. */
const LOOK_MS = 100
/** After an attempt in vain, while the token is good still. */
const PAUSE_MS = 30_000
/** Tokens of one connection that are masked: the latest, and those that it may have shown before. */
const MAX_SEEN = 8

/** A set of tokens as it is kept. */
type Held = Pick<store.StoredAccount, 'id' | 'upstreamId' | 'holder' | 'version' | 'brokenAt' | 'connectedAt'> & {
  content: AccountContent
}

export type UpstreamTokensParts = {
  db: Database
  changes: Changes
  sealing: Sealing
  fetch: BoundedFetch
  /** Who Patchbay is now, where the builder said so: their secret may be a newer one than when it was connected. */
  findClientNow: (upstreamId: string, connectedWith: OAuthClient, issuer: string) => Promise<OAuthClient>
  /** What to tell whoever lacks an account, or one that is good. */
  explain: (lack: AccountLack, upstreamId: string, holder: Holder) => AccountError
  now: () => number
}

const keyOf = (upstreamId: string, holder: Holder): string => `${upstreamId} ${holder}`

const notRenewed = (why: string): UpstreamError =>
  new UpstreamError('unauthorized', `Its authorization server did not renew the token: ${why}. Try again.`)

/**
 * The tokens of accounts at upstreams, renewed before they end: once however many wait, in whichever process, since a
 * refresh token may be good for one use.
 */
export const createUpstreamTokens = ({
  db,
  changes,
  sealing,
  fetch,
  findClientNow,
  explain,
  now,
}: UpstreamTokensParts) => {
  const memory = new LRUCache<string, Held>({ max: MAX_HELD })
  /** Counts what was forgotten: what began to be read or renewed before may have been disconnected since. */
  let forgotten = 0
  const keep = (held: Held, seen: number): void => {
    if (seen === forgotten) memory.set(keyOf(held.upstreamId, held.holder), held)
  }
  const renewals = createSingleFlight<Held>()
  const writings = new Set<Promise<void>>()

  const open = ({ sealed, ...account }: store.StoredAccount): Held => {
    const { upstreamId, holder } = account
    const plain = sealing.open(sealed, accountSealContext(upstreamId, holder))
    return { ...account, content: AccountContent.parse(JSON.parse(plain)) }
  }

  const read = async (upstreamId: string, holder: Holder): Promise<Held | undefined> => {
    const seen = forgotten
    const stored = await store.findAccount(db, upstreamId, holder)
    if (stored === undefined) {
      memory.delete(keyOf(upstreamId, holder))
      return undefined
    }
    const held = open(stored)
    keep(held, seen)
    return held
  }

  /** The account, where it is there and good. Throws what to tell. */
  const get = async (upstreamId: string, holder: Holder): Promise<Held> => {
    const held = memory.get(keyOf(upstreamId, holder)) ?? (await read(upstreamId, holder))
    if (held === undefined) throw explain('missing', upstreamId, holder)
    if (held.brokenAt !== undefined) throw explain('broken', upstreamId, holder)
    return held
  }

  /** Written down while whoever asked is told: what hears of it closes their connection. */
  const breakIt = (held: Held): AccountError => {
    const { id, upstreamId, holder, version } = held
    const brokenAt = new Date(now())
    memory.set(keyOf(upstreamId, holder), { ...held, brokenAt })
    const writing: Promise<void> = changes
      .commit(async (tx, announce) => {
        const serverId = await store.breakAccount(tx, { id, version }, brokenAt)
        if (serverId !== undefined) announce({ type: 'upstream_changed', upstreamId, serverId })
      })
      // Not written, it is found out anew.
      .catch(() => memory.delete(keyOf(upstreamId, holder)))
      .then(() => void writings.delete(writing))
    writings.add(writing)
    return explain('broken', upstreamId, holder)
  }

  const ask = async ({ upstreamId, content }: Held): Promise<AccountContent> => {
    const { server, resource, tokens, client } = content
    const answer = await mcpClient().refreshAuthorization(server.issuer, {
      metadata: server,
      clientInformation: await findClientNow(upstreamId, client, server.issuer),
      refreshToken: tokens.refreshToken ?? '',
      resource,
      fetchFn: fetch,
    })
    const read = readTokens(answer, now())
    if (!read.ok) throw notRenewed(read.error)
    return { ...content, tokens: { scope: tokens.scope, ...read.value } }
  }

  /** By whoever has the turn. */
  const renewNow = async (held: Held): Promise<Held> => {
    const { id, upstreamId, holder, version } = held
    const seen = forgotten
    let content: AccountContent
    try {
      content = await ask(held)
    } catch (error) {
      if (findRefusal(error) !== undefined) throw breakIt(held)
      await store.dropRenewal(db, held)
      throw error instanceof UpstreamError ? error : notRenewed(wordsOf(error))
    }
    const sealed = sealing.seal(JSON.stringify(content), accountSealContext(upstreamId, holder))
    const isSaved = await store.saveRenewed(db, { id, version, sealed })
    // Disconnected, or connected anew, meanwhile: what is kept now counts.
    if (!isSaved) return get(upstreamId, holder)
    const renewed = { ...held, version: version + 1, content }
    keep(renewed, seen)
    return renewed
  }

  /** Waits for its turn, or for the process that has it. */
  const renew = async ({ upstreamId, holder, version: seen }: Held): Promise<Held> => {
    const giveUpAt = now() + TURN_MS
    for (;;) {
      const held = await read(upstreamId, holder)
      if (held === undefined) throw explain('missing', upstreamId, holder)
      if (held.brokenAt !== undefined) throw explain('broken', upstreamId, holder)
      if (held.version !== seen) return held
      if (held.content.tokens.refreshToken === undefined) throw breakIt(held)
      const at = now()
      if (await store.claimRenewal(db, held, { now: new Date(at), until: new Date(at + TURN_MS) })) {
        return renewNow(held)
      }
      if (at > giveUpAt) throw notRenewed('another process is at it and does not get on')
      await wait(LOOK_MS, undefined, { ref: false })
    }
  }

  const renewOnce = (held: Held): Promise<Held> => renewals.run(keyOf(held.upstreamId, held.holder), () => renew(held))

  const isGood = ({ content }: Held): boolean => (content.tokens.expiresAt ?? Number.POSITIVE_INFINITY) > now()

  /** One that will not end at once: renewed where that is due. */
  const getFresh = async (upstreamId: string, holder: Holder): Promise<Held> => {
    const held = await get(upstreamId, holder)
    const { renewAt, refreshToken } = held.content.tokens
    if (renewAt === undefined || now() < renewAt) return held
    // Without a way to renew it, it is good until it ends.
    if (refreshToken === undefined && isGood(held)) return held
    const seen = forgotten
    try {
      return await renewOnce(held)
    } catch (error) {
      if (error instanceof AccountError || !isGood(held)) throw error
      const tokens = { ...held.content.tokens, renewAt: now() + PAUSE_MS }
      keep({ ...held, content: { ...held.content, tokens } }, seen)
      // Disconnected meanwhile, it is shown to nobody any more.
      return seen === forgotten ? held : await get(upstreamId, holder)
    }
  }

  const tokenFor = (held: Held, url: string): string => {
    if (held.content.url !== url) throw explain('moved', held.upstreamId, held.holder)
    return held.content.tokens.accessToken
  }

  return {
    /** For one connection. */
    authorizerOf: (upstreamId: string, holder: Holder): Authorizer => {
      let seen: string[] = []
      let forced: { token: string; at: number } | undefined
      const note = (held: Held): Held => {
        const { accessToken, refreshToken } = held.content.tokens
        const fresh = [accessToken, refreshToken].flatMap(token =>
          token === undefined || seen.includes(token) ? [] : token,
        )
        if (fresh.length > 0) seen = [...seen, ...fresh].slice(-MAX_SEEN)
        return held
      }
      return {
        getToken: async url => tokenFor(note(await getFresh(upstreamId, holder)), url),
        renewToken: async (url, refused) => {
          const held = await get(upstreamId, holder)
          if (held.content.tokens.accessToken !== refused) return tokenFor(note(held), url)
          // What is refused as soon as it was renewed is not for want of renewing.
          if (forced?.token === refused && now() - forced.at < PAUSE_MS) throw explain('refused', upstreamId, holder)
          const newer = note(await renewOnce(held))
          forced = { token: newer.content.tokens.accessToken, at: now() }
          return tokenFor(newer, url)
        },
        refused: () => explain('refused', upstreamId, holder),
        secrets: () => seen,
      }
    },

    /** Throws, with what to tell, where there is no account that is good. */
    assertConnected: async (upstreamId: string, holder: Holder): Promise<void> => {
      await get(upstreamId, holder)
    },

    open,
    /** What is kept of an upstream's accounts in memory may be stale. */
    forget: (upstreamId: string): void => {
      forgotten++
      for (const key of memory.keys()) if (key.startsWith(keyOf(upstreamId, EVERYBODY))) memory.delete(key)
    },
    forgetHolder: (holder: Holder): void => {
      forgotten++
      for (const key of memory.keys()) if (key.endsWith(` ${holder}`)) memory.delete(key)
    },
    forgetAll: (): void => {
      forgotten++
      memory.clear()
    },
    /** Waits for what is written. */
    close: async (): Promise<void> => {
      await Promise.allSettled([renewals.settle(), ...writings])
    },
  }
}
