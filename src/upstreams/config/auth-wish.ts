import type { FieldError } from '../../lib/kernel/errors.ts'
import type { UpstreamAuth, UpstreamTransport } from '../upstream.ts'

/** How an upstream is to be authorized at, as it is asked for. Of the secret: left out it stays, `null` takes it away. */
export type AuthWish =
  | { type: 'none' }
  | {
      type: 'oauth'
      per?: 'server' | 'caller' | null | undefined
      clientId?: string | null | undefined
      clientSecret?: string | null | undefined
      scopes?: readonly string[] | null | undefined
    }

/** Without the secret, which is no part of a configuration. */
export const toAuth = (wish: AuthWish = { type: 'none' }): UpstreamAuth => {
  if (wish.type === 'none') return { type: 'none' }
  const { per, clientId, scopes } = wish
  return {
    type: 'oauth',
    per: per ?? 'server',
    clientId: clientId ?? undefined,
    scopes: scopes === undefined || scopes === null || scopes.length === 0 ? undefined : scopes,
  }
}

type Wish = {
  transport: UpstreamTransport
  headers?: Readonly<Record<string, string>> | undefined
  auth?: AuthWish | undefined
}

export const checkAuth = ({ transport, headers = {}, auth }: Wish): FieldError[] => {
  if (auth === undefined || auth.type === 'none') return []
  if (transport === 'stdio') return [{ path: 'auth', message: 'is for an upstream of transport http or sse' }]
  const errors = Object.keys(headers)
    .filter(name => name.toLowerCase() === 'authorization')
    .map(name => ({ path: `headers.${name}`, message: 'cannot be set: the token of the account goes there' }))
  if (typeof auth.clientSecret === 'string' && typeof auth.clientId !== 'string') {
    errors.push({ path: 'auth.clientId', message: 'is missing: the secret belongs to one' })
  }
  return errors
}

/** What becomes of the secret that the builder brings: a new one, none any more, or as it is. */
export const toSecretChange = (
  before: UpstreamAuth | undefined,
  wish: AuthWish | undefined,
  after: UpstreamAuth,
): { clientId: string; clientSecret: string } | 'none' | 'kept' => {
  if (after.type === 'none' || after.clientId === undefined) return 'none'
  const secret = wish?.type === 'oauth' ? wish.clientSecret : undefined
  if (typeof secret === 'string') return { clientId: after.clientId, clientSecret: secret }
  const isSameClient = before?.type === 'oauth' && before.clientId === after.clientId
  return secret === undefined && isSameClient ? 'kept' : 'none'
}
