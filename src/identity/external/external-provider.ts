import * as openid from 'openid-client'
import { AppError } from '../kernel/index.ts'
import type { Logger } from '../platform/logger.ts'
import { createTrustedFetch } from '../platform/net/index.ts'
import { Email } from './accounts.schema.ts'

/** One request to the provider: discovery, keys, the code, the claims. */
const REQUEST_TIMEOUT_MS = 5_000
/** Far above any metadata, key set or token. */
const MAX_ANSWER_BYTES = 1_024 * 1_024
/** How long metadata is taken for good: endpoints move rarely, and then the old ones stay for a while. */
const METADATA_FRESH_MS = 60 * 60 * 1_000
/** OpenID Connect Core §2: no subject is longer. */
const MAX_SUBJECT_CHARACTERS = 255

export type ExternalProviderSettings = {
  issuer: string
  clientId: string
  clientSecret: string | undefined
  /** What people know it as. */
  name: string
}

/** RFC 6749 §4.1.2.1 has the registered ones; whatever else is there is not repeated. */
const ERROR_CODE = /^[a-z_]{1,40}$/

/** What one sign-in there is known by again when it comes back; nobody but this browser's session has it. */
export type ExternalSecrets = { state: string; nonce: string; codeVerifier: string }

/** Somebody at the provider. */
export type ExternalIdentity = { issuer: string; subject: string }

export type ExternalPerson = {
  identity: ExternalIdentity
  /** The address that the provider vouches for; undefined where there is none, or it does not. */
  findVerifiedEmail: () => Promise<string | undefined>
}

export type ExternalProviderParts = {
  settings: ExternalProviderSettings
  logger: Pick<Logger, 'warn'>
  /** Milliseconds since 1970. */
  now: () => number
}

const takesOnlyPost = ({ token_endpoint_auth_methods_supported: methods }: openid.ServerMetadata): boolean =>
  methods !== undefined && !methods.includes('client_secret_basic') && methods.includes('client_secret_post')

/** RFC 6749 §2.3.1: basic is what every server must take; it is known only after discovery which this one does. */
const authenticateWith = (secret: string | undefined): openid.ClientAuth => {
  if (secret === undefined) return openid.None()
  const basic = openid.ClientSecretBasic(secret)
  const post = openid.ClientSecretPost(secret)
  return (server, client, body, headers) => (takesOnlyPost(server) ? post : basic)(server, client, body, headers)
}

/** What a sign-in needs. Where it sends browsers is not for the library to check. */
const assertComplete = (
  { authorization_endpoint, token_endpoint, jwks_uri }: openid.ServerMetadata,
  isInsecure: boolean,
): void => {
  const protocol = URL.parse(authorization_endpoint ?? '')?.protocol
  const isWeb = protocol === 'https:' || (isInsecure && protocol === 'http:')
  if (!isWeb || token_endpoint === undefined || jwks_uri === undefined) {
    throw new Error('its metadata lacks an endpoint that can be used')
  }
}

/** `true` and nothing like it: a text "true" may come from a claim that people set themselves. */
const verifiedEmailOf = (claims: Readonly<Record<string, unknown>>): string | undefined =>
  claims.email_verified === true ? Email.safeParse(claims.email).data : undefined

const isMissingAnswer = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'OutboundError' || isMissingAnswer(error.cause))

/** The external OpenID Connect provider, asked by authorization code with PKCE, state and nonce. */
export const createExternalProvider = ({ settings, logger, now }: ExternalProviderParts) => {
  const { issuer, clientId, clientSecret, name } = settings
  const net = createTrustedFetch({ timeoutMs: REQUEST_TIMEOUT_MS, maxResponseBytes: MAX_ANSWER_BYTES })
  const clientAuthentication = authenticateWith(clientSecret)
  const isInsecure = issuer.startsWith('http:')
  let known: { config: openid.Configuration; at: number } | undefined
  let underWay: Promise<openid.Configuration> | undefined

  const cannotBeUsed = (): AppError =>
    new AppError('unavailable', `${name} does not answer as it should: try again later, or sign in another way.`)

  /** What came back with the browser, or for it, is no sign-in. */
  const noSignIn = (error: unknown): AppError =>
    error instanceof openid.AuthorizationResponseError && ERROR_CODE.test(error.error)
      ? new AppError('forbidden', `${name} did not sign you in (${error.error}): begin anew, or sign in another way.`)
      : new AppError('invalid_request', `What came back from ${name} is no sign-in that was begun here: begin anew.`)

  /** Throws `unavailable` where the provider does not answer, else what `refusal` makes of it. The log says why. */
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
          // The answer comes from the provider itself; that the token does too, its signature says.
          openid.enableNonRepudiationChecks,
          ...(isInsecure ? [openid.allowInsecureRequests] : []),
        ],
        timeout: REQUEST_TIMEOUT_MS / 1_000,
        [openid.customFetch]: net.fetch,
      })
      assertComplete(config.serverMetadata(), isInsecure)
      known = { config, at: now() }
      return config
    })

  /** Asked for with the first sign-in and not before: a provider that is down keeps nothing else from working. */
  const discover = (): Promise<openid.Configuration> => {
    if (known !== undefined && now() - known.at < METADATA_FRESH_MS) return Promise.resolve(known.config)
    underWay ??= load().finally(() => {
      underWay = undefined
    })
    return underWay
  }

  const findVerifiedEmail = async (
    config: openid.Configuration,
    subject: string,
    claims: Readonly<Record<string, unknown>>,
    accessToken: string,
  ): Promise<string | undefined> => {
    if (claims.email !== undefined || config.serverMetadata().userinfo_endpoint === undefined) {
      return verifiedEmailOf(claims)
    }
    // Core §5.4: with a code, what `email` asks for is answered there.
    return verifiedEmailOf(await asking('userinfo', () => openid.fetchUserInfo(config, accessToken, subject)))
  }

  return {
    name,

    /** Where to send the browser, which comes back to `redirectUri`. */
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

    /** Who came back. `callbackUrl` is the redirect URI with the query that it was called with. */
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
            throw new Error('the ID token names nobody')
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
