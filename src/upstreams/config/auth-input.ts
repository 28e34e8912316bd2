import type { z } from 'zod'
import type { FieldError } from '../../lib/kernel/errors.ts'
import type { authInput } from '../auth.schema.ts'
import type { UpstreamAuth, UpstreamTransport } from '../upstream.ts'

/** A missing secret is left unchanged, and `null` removes it. */
export type AuthInput = z.infer<typeof authInput>

/** Omits the secret, which is stored separately. */
export const toAuth = (input: AuthInput = { type: 'none' }): UpstreamAuth => {
  if (input.type === 'none') return { type: 'none' }
  const { per, clientId, scopes } = input
  return {
    type: 'oauth',
    per: per ?? 'server',
    clientId: clientId ?? undefined,
    scopes: scopes === undefined || scopes === null || scopes.length === 0 ? undefined : scopes,
  }
}

type Input = {
  transport: UpstreamTransport
  headers?: Readonly<Record<string, string>> | undefined
  auth?: AuthInput | undefined
}

export const checkAuth = ({ transport, headers = {}, auth }: Input): FieldError[] => {
  if (auth === undefined || auth.type === 'none') return []
  if (transport === 'stdio') return [{ path: 'auth', message: 'is only for the transports http and sse' }]
  const errors = Object.keys(headers)
    .filter(name => name.toLowerCase() === 'authorization')
    .map(name => ({ path: `headers.${name}`, message: "cannot be set because the account's token is sent there" }))
  if (typeof auth.clientSecret === 'string' && typeof auth.clientId !== 'string') {
    errors.push({ path: 'auth.clientId', message: 'is required if a client secret is set' })
  }
  return errors
}

/** Returns what happens to the builder's client secret: it is set to a new value, removed, or left unchanged. */
export const toSecretChange = (
  before: UpstreamAuth | undefined,
  input: AuthInput | undefined,
  after: UpstreamAuth,
): { clientId: string; clientSecret: string } | 'none' | 'kept' => {
  if (after.type === 'none' || after.clientId === undefined) return 'none'
  const secret = input?.type === 'oauth' ? input.clientSecret : undefined
  if (typeof secret === 'string') return { clientId: after.clientId, clientSecret: secret }
  const isSameClient = before?.type === 'oauth' && before.clientId === after.clientId
  return secret === undefined && isSameClient ? 'kept' : 'none'
}
