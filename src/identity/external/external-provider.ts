import * as openid from 'openid-client'
import { createSingleFlight } from '../../lib/cache/single-flight.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { createTrustedFetch } from '../../lib/outbound/bounded-fetch.ts'
import type { Logger } from '../../lib/process/logger.ts'
import { Email } from '../accounts.schema.ts'

/** Timeout for each request to the provider: discovery, keys, token and user info. */
const REQUEST_TIMEOUT_MS = 5_000
/** Response size limit, far larger than any metadata, key set or token. */
const MAX_ANSWER_BYTES = 1_024 * 1_024
/** How long metadata is cached. Endpoints rarely move, and when they do, the old ones keep working for a while. */
const METADATA_FRESH_MS = 60 * 60 * 1_000
/** Maximum length of a subject (OpenID Connect Core §2). */
const MAX_SUBJECT_CHARACTERS = 255

export type ExternalProviderSettings = {
  issuer: string
  clientId: string
  clientSecret: string | undefined
  /** Display name. */
  name: string
}

/** Format of the error codes shown to users. RFC 6749 §4.1.2.1 lists the registered codes. */
const ERROR_CODE = /^[a-z_]{1,40}$/

/** Secrets that tie the callback to the sign-in that started it. Stored only in this browser's session. */
export type ExternalSecrets = { state: string; nonce: string; codeVerifier: string }

/** A user at the provider. */
export type ExternalIdentity = { issuer: string; subject: string }

export type ExternalPerson = {
  identity: ExternalIdentity
  /** Returns the user's email if the provider has verified it. */
  findVerifiedEmail: () => Promise<string | undefined>
}

export type ExternalProviderParts = {
  settings: ExternalProviderSettings
  logger: Pick<Logger, 'warn'>
}

const takesOnlyPost = ({ token_endpoint_auth_methods_supported: methods }: openid.ServerMetadata): boolean =>
  methods !== undefined && !methods.includes('client_secret_basic') && methods.includes('client_secret_post')

/**
 * Chooses the authentication method for each request, because the provider's methods are known only after discovery.
 * Every provider must accept Basic authentication (RFC 6749 §2.3.1).
 */
const authenticateWith = (secret: string | undefined): openid.ClientAuth => {
  if (secret === undefined) return openid.None()
  const basic = openid.ClientSecretBasic(secret)
  const post = openid.ClientSecretPost(secret)
  return (server, client, body, headers) => (takesOnlyPost(server) ? post : basic)(server, client, body, headers)
}

/** Throws if the metadata lacks a required endpoint. The library does not check the URL that browsers are sent to. */
const assertComplete = (
  { authorization_endpoint, token_endpoint, jwks_uri }: openid.ServerMetadata,
  isInsecure: boolean,
): void => {
  const protocol = URL.parse(authorization_endpoint ?? '')?.protocol
  const isWeb = protocol === 'https:' || (isInsecure && protocol === 'http:')
  if (!isWeb || token_endpoint === undefined || jwks_uri === undefined) {
    throw new Error('the metadata lacks a usable endpoint')
  }
}

/** Accepts only the boolean `true`: the string "true" may come from a claim that users set themselves. */
const verifiedEmailOf = (claims: Readonly<Record<string, unknown>>): string | undefined =>
  claims.email_verified === true ? Email.safeParse(claims.email).data : undefined

const isMissingAnswer = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'OutboundError' || isMissingAnswer(error.cause))

/** Client for the external OpenID Connect provider. Uses the authorization code flow with PKCE, state and nonce. */
export const createExternalProvider = ({ settings, logger }: ExternalProviderParts) => {
  const { issuer, clientId, clientSecret, name } = settings
  const net = createTrustedFetch({ timeoutMs: REQUEST_TIMEOUT_MS, maxResponseBytes: MAX_ANSWER_BYTES })
  const clientAuthentication = authenticateWith(clientSecret)
  const isInsecure = issuer.startsWith('http:')
  const discovery = createSingleFlight<openid.Configuration>()
  let known: { config: openid.Configuration; at: number } | undefined

  const cannotBeUsed = (): AppError =>
    new AppError('unavailable', `${name} is not responding correctly. Try again later, or sign in another way.`)

  /** Creates the error for a callback that does not complete the sign-in. */
  const noSignIn = (error: unknown): AppError =>
    error instanceof openid.AuthorizationResponseError && ERROR_CODE.test(error.error)
      ? new AppError('forbidden', `${name} did not sign you in (${error.error}). Try again, or sign in another way.`)
      : new AppError(
          'invalid_request',
          `The response from ${name} does not match a sign-in started here. Please try again.`,
        )

  /**
   * Runs `ask`. If it fails, logs the cause and throws `unavailable` if the provider does not respond, or the error
   * from `refusal` otherwise.
   */
  const asking = async <T>(
    what: string,
    ask: () => Promise<T>,
    refusal: (error: unknown) => AppError = cannotBeUsed,
  ): Promise<T> => {
    try {
      return await ask()
    } catch (error) {
      if (error instanceof AppError) throw error
      const reason = error instanceof Error ? error.message : 'unknown reason'
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      const below = error instanceof Error && error.cause instanceof Error ? error.cause.message : undefined
      logger.warn({ issuer, reason, code, below }, `the external provider: ${what} failed`)
      throw isMissingAnswer(error) ? cannotBeUsed() : refusal(error)
    }
  }

  const load = (): Promise<openid.Configuration> =>
    asking('discovery', async () => {
      const config = await openid.discovery(new URL(issuer), clientId, {}, clientAuthentication, {
        execute: [
          // Also verifies the signatures of ID tokens that come directly from the provider.
          openid.enableNonRepudiationChecks,
          ...(isInsecure ? [openid.allowInsecureRequests] : []),
        ],
        timeout: REQUEST_TIMEOUT_MS / 1_000,
        [openid.customFetch]: net.fetch,
      })
      assertComplete(config.serverMetadata(), isInsecure)
      known = { config, at: Date.now() }
      return config
    })

  /** Loads metadata on the first sign-in, so that an unavailable provider does not affect anything else. */
  const discover = async (): Promise<openid.Configuration> =>
    known !== undefined && Date.now() - known.at < METADATA_FRESH_MS ? known.config : discovery.run('metadata', load)

  const findVerifiedEmail = async (
    config: openid.Configuration,
    subject: string,
    claims: Readonly<Record<string, unknown>>,
    accessToken: string,
  ): Promise<string | undefined> => {
    if (claims.email !== undefined || config.serverMetadata().userinfo_endpoint === undefined) {
      return verifiedEmailOf(claims)
    }
    // OpenID Connect Core §5.4: in the code flow, claims of the `email` scope come from the userinfo endpoint.
    return verifiedEmailOf(await asking('userinfo', () => openid.fetchUserInfo(config, accessToken, subject)))
  }

  return {
    name,

    /** Returns the provider's URL to send the browser to. The provider redirects the browser back to `redirectUri`. */
    begin: async (redirectUri: string): Promise<{ url: string; secrets: ExternalSecrets }> => {
      const config = await discover()
      const codeVerifier = openid.randomPKCECodeVerifier()
      const secrets = { state: openid.randomState(), nonce: openid.randomNonce(), codeVerifier }
      const challenge = await openid.calculatePKCECodeChallenge(codeVerifier)
      const url = openid.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'openid email',
        code_challenge: challenge,
        code_challenge_method: 'S256',
        state: secrets.state,
        nonce: secrets.nonce,
      })
      return { url: url.href, secrets }
    },

    /** Completes a sign-in. `callbackUrl` is the redirect URI with the query parameters it received. */
    finish: async (callbackUrl: URL, { state, nonce, codeVerifier }: ExternalSecrets): Promise<ExternalPerson> => {
      const config = await discover()
      const { claims, accessToken } = await asking(
        'the sign-in',
        async () => {
          const tokens = await openid.authorizationCodeGrant(config, callbackUrl, {
            pkceCodeVerifier: codeVerifier,
            expectedState: state,
            expectedNonce: nonce,
            idTokenExpected: true,
          })
          const found = tokens.claims()
          if (found === undefined || found.sub === '' || found.sub.length > MAX_SUBJECT_CHARACTERS) {
            throw new Error('the ID token has no valid subject')
          }
          return { claims: found, accessToken: tokens.access_token }
        },
        noSignIn,
      )
      return {
        identity: { issuer: claims.iss, subject: claims.sub },
        findVerifiedEmail: () => findVerifiedEmail(config, claims.sub, claims, accessToken),
      }
    },

    close: (): Promise<void> => net.close(),
  }
}
export type ExternalProvider = ReturnType<typeof createExternalProvider>
