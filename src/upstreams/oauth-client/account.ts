import { z } from 'zod'
import type { SealContext } from '../../lib/process/sealing.ts'
import { AuthorizationServer } from './authorization-server.ts'

/** Whose calls go by an account: a user's id, or `EVERYBODY` for the one account of an upstream that all share. */
export type Holder = string
export const EVERYBODY: Holder = ''

/** Who Patchbay is to an authorization server (RFC 7591 §3.2.1), as the SDK takes it. */
export const OAuthClient = z.object({
  client_id: z.string(),
  client_secret: z.string().optional(),
  /** Seconds since 1970; 0: never. */
  client_secret_expires_at: z.number().optional(),
  token_endpoint_auth_method: z.string().optional(),
  /** What it was registered with. */
  redirect_uris: z.array(z.string()).optional(),
})
export type OAuthClient = z.infer<typeof OAuthClient>

/** Milliseconds since 1970. */
const time = z.number()

/** One set of tokens. */
export const Tokens = z.object({
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  scope: z.string().optional(),
  /** Left out: nobody said. */
  expiresAt: time.optional(),
  /** From when on it is renewed before it is used. */
  renewAt: time.optional(),
})
export type Tokens = z.infer<typeof Tokens>

/** All that is sealed of an account: its tokens, where they are good and where they are renewed. */
export const AccountContent = z.object({
  /** The upstream's address when it was connected: tokens go nowhere else. */
  url: z.string(),
  /** As the resource's metadata name it (RFC 8707). */
  resource: z.string(),
  server: AuthorizationServer,
  client: OAuthClient,
  tokens: Tokens,
})
export type AccountContent = z.infer<typeof AccountContent>

/** An account that is there, good or not. */
export type AccountMark = {
  id: string
  upstreamId: string
  holder: Holder
  connectedAt: Date
  /** Since when it has to be connected anew. */
  brokenAt: Date | undefined
}

export const accountSealContext = (upstreamId: string, holder: Holder): SealContext => ({
  purpose: 'upstream account',
  ownerId: upstreamId,
  name: holder,
})

export const clientSealContext = (upstreamId: string): SealContext => ({
  purpose: 'upstream client',
  ownerId: upstreamId,
  name: 'client',
})
