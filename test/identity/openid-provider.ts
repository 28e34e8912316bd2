import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import { type Adapter, type AdapterPayload, Provider } from 'oidc-provider'
import { onTestFinished } from 'vitest'
import type { DatabaseKindForTests } from '../support/databases.ts'
import { freePort } from '../support/free-port.ts'
import { type AccountsApp, startApp, startOwnApp } from './app.ts'

const CLIENT_ID = 'patchbay'
export const CLIENT_SECRET = 'a secret that only the two know'

/** A user at the provider, with the claims about them. */
export type ProviderPerson = { sub: string; email?: unknown; email_verified?: unknown }

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Creates in-memory storage for the duration of a test. The library's own in-memory storage logs a warning. */
const createAdapters = () => {
  const kept = new Map<string, AdapterPayload>()
  return (kind: string): Adapter => {
    const keyOf = (id: string): string => `${kind}:${id}`
    return {
      upsert: async (id, payload) => void kept.set(keyOf(id), payload),
      find: async id => kept.get(keyOf(id)),
      findByUid: async uid => [...kept.values()].find(payload => payload.uid === uid),
      findByUserCode: async () => undefined,
      consume: async id =>
        void kept.set(keyOf(id), { ...kept.get(keyOf(id)), consumed: Math.floor(Date.now() / 1_000) }),
      destroy: async id => void kept.delete(keyOf(id)),
      revokeByGrantId: async grantId => {
        for (const [key, payload] of kept) if (payload.grantId === grantId) kept.delete(key)
      },
    }
  }
}

const buildProvider = async (
  issuer: string,
  people: ReadonlyMap<string, ProviderPerson>,
  { redirectUri, hasClaimsInToken }: { redirectUri: string; hasClaimsInToken: boolean },
) => {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: 'test', alg: 'RS256', use: 'sig' }
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [redirectUri] }],
    adapter: createAdapters(),
    jwks: { keys: [key] },
    cookies: { keys: ['of the test'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: !hasClaimsInToken,
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ ...people.get(sub), sub }) }),
    // Skips the consent page.
    loadExistingGrant: async ctx => {
      const { client, session } = ctx.oidc
      if (client === undefined || session?.accountId === undefined) return undefined
      const grant = new ctx.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId })
      grant.addOIDCScope('openid email')
      await grant.save()
      return grant
    },
  })
  return provider
}

/** Signs visitors in as the user named in their `person` cookie. */
const handlerOf = (provider: Provider): Handler => {
  const callback = provider.callback()
  const signIn = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const person = /person=([^;]*)/.exec(request.headers.cookie ?? '')?.[1] ?? ''
    const result =
      person === ''
        ? { error: 'access_denied', error_description: '<b>changed my mind</b>' }
        : { login: { accountId: decodeURIComponent(person) } }
    await provider.interactionFinished(request, response, result)
  }
  return (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void callback(request, response)
    signIn(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
  }
}

/** Prepares a real OpenID Connect provider on loopback, and the settings with which Patchbay uses it. */
export const prepareOpenIdProvider = async ({ hasClaimsInToken = false } = {}) => {
  const port = await freePort()
  const issuer = `http://localhost:${port}`
  const people = new Map<string, ProviderPerson>()
  /** Handlers that replace the provider at a path, such as a handler that never responds. */
  const faults = new Map<string, Handler>()
  const asked: string[] = []

  return {
    issuer,
    people,
    faults,
    /** Paths requested by Patchbay and by browsers. */
    asked,
    settings: {
      PATCHBAY_OIDC_ISSUER: issuer,
      PATCHBAY_OIDC_CLIENT_ID: CLIENT_ID,
      PATCHBAY_OIDC_CLIENT_SECRET: CLIENT_SECRET,
      PATCHBAY_OIDC_NAME: 'Example Login',
    },
    /** Registers Patchbay at this origin and starts listening. Returns a function that stops the provider. */
    listen: async (patchbayOrigin: string): Promise<() => Promise<void>> => {
      const redirectUri = `${patchbayOrigin}/sign-in/external/callback`
      const handle = handlerOf(await buildProvider(issuer, people, { redirectUri, hasClaimsInToken }))
      const server = createServer((request, response) => {
        const path = request.url?.split('?')[0] ?? ''
        asked.push(path)
        const fault = faults.get(path) ?? handle
        fault(request, response)
      })
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      return async () => {
        server.closeAllConnections()
        server.close()
        await once(server, 'close')
      }
    },
  }
}
export type OpenIdProvider = Awaited<ReturnType<typeof prepareOpenIdProvider>>

/**
 * Acts as a new browser at the provider: follows redirects, signed in as `sub`, until it is sent back to Patchbay. If
 * `sub` is undefined, it refuses to sign in. Returns the path and query of the final URL.
 */
export const visitProvider = async (issuer: string, url: string, sub: string | undefined): Promise<string> => {
  const cookies = new Map<string, string>([['person', encodeURIComponent(sub ?? '')]])
  let next = new URL(url)
  for (let count = 0; count < 10; count++) {
    if (next.origin !== issuer) return `${next.pathname}${next.search}`
    const cookie = [...cookies].map(pair => pair.join('=')).join('; ')
    const response = await fetch(next, { redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/s)
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null) throw new Error(`${next.href}: ${response.status} ${await response.text()}`)
    next = new URL(location, next)
  }
  throw new Error('the provider goes round in circles')
}

/** Providers that are shared by the tests that share an application. */
const providers = new Map<string, OpenIdProvider>()

/** Starts the application with a provider. Tests share both, as with `startApp`. */
export const startAppWithProvider = async (
  kind: DatabaseKindForTests,
  env: Record<string, string> = {},
  options: { hasClaimsInToken?: boolean } = {},
): Promise<AccountsApp & { provider: OpenIdProvider }> => {
  const key = JSON.stringify([kind.kind, env, options])
  const shared = providers.get(key)
  const provider = shared ?? (await prepareOpenIdProvider(options))
  const app = await startApp(kind, { ...provider.settings, ...env })
  if (shared === undefined) {
    await provider.listen(app.origin)
    providers.set(key, provider)
  }
  provider.people.clear()
  provider.faults.clear()
  provider.asked.length = 0
  return { ...app, provider }
}

/** Starts both for this test alone, for example because Patchbay caches what it has read of a provider. */
export const startOwnAppWithProvider = async (
  kind: DatabaseKindForTests,
): Promise<AccountsApp & { provider: OpenIdProvider }> => {
  const provider = await prepareOpenIdProvider()
  const app = await startOwnApp(kind, provider.settings)
  onTestFinished(await provider.listen(app.origin))
  return { ...app, provider }
}
