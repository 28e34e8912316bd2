import { z } from 'zod'
import type { SealContext } from '../../lib/process/sealing.ts'
import { AuthorizationServer } from './authorization-server.ts'

/** The owner of an account: a user's id, or `EVERYBODY` for the single account that all callers share. */
export type Holder = string
export const EVERYBODY: Holder = ''

/** Patchbay's registration at an authorization server (RFC 7591 §3.2.1), in the SDK's format. */
export const OAuthClient = z.object({
  client_id: z.string(),
  client_secret: z.string().optional(),
  /** Seconds since 1970. 0 means that the secret never expires. */
  client_secret_expires_at: z.number().optional(),
  token_endpoint_auth_method: z.string().optional(),
  /** The redirect URIs in the registration. */
  redirect_uris: z.array(z.string()).optional(),
})
export type OAuthClient = z.infer<typeof OAuthClient>

/** Milliseconds since 1970. */
const time = z.number()

export const Tokens = z.object({
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  scope: z.string().optional(),
  /** Undefined if the authorization server did not provide it. */
  expiresAt: time.optional(),
  /** When to renew the token, some time before it expires. */
  renewAt: time.optional(),
})
export type Tokens = z.infer<typeof Tokens>

/** The encrypted part of an account. */
export const AccountContent = z.object({
  /** The upstream's URL at the time the account was connected. Tokens are sent nowhere else. */
  url: z.string(),
  /** The identifier from the resource's metadata (RFC 8707). */
  resource: z.string(),
  server: AuthorizationServer,
  client: OAuthClient,
  tokens: Tokens,
})
export type AccountContent = z.infer<typeof AccountContent>

/** The unencrypted part of an account. The account may no longer work. */
export type AccountInfo = {
  id: string
  upstreamId: string
  holder: Holder
  connectedAt: Date
  /** Set once the account no longer works and must be reconnected. */
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
