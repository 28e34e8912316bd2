import type { BoundedFetch } from '../../lib/outbound/bounded-fetch.ts'
import { mcpClient } from '../connection/mcp-client.ts'
import type { AccountContent } from './account.ts'

/** Form-encodes the client ID or secret before the two are joined (RFC 6749 §2.3.1). */
const encode = (text: string): string => new URLSearchParams({ t: text }).toString().slice(2)

/** Authenticates the client as at the token endpoint (RFC 7009 §2.1). */
const authenticate = ({ client, server }: AccountContent, headers: Headers, form: URLSearchParams): void => {
  const { client_id: id, client_secret: secret } = client
  const method = mcpClient().selectClientAuthMethod(client, server.token_endpoint_auth_methods_supported ?? [])
  if (method === 'client_secret_basic' && secret !== undefined) {
    headers.set('authorization', `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`)
    return
  }
  form.set('client_id', id)
  if (method === 'client_secret_post' && secret !== undefined) form.set('client_secret', secret)
}

/**
 * Revokes tokens (RFC 7009) if the authorization server supports it. The refresh token comes first, because revoking it
 * usually revokes the others. Never rejects.
 */
export const revokeTokens = async (account: AccountContent, fetch: BoundedFetch): Promise<void> => {
  const { server, tokens } = account
  const endpoint = server.revocation_endpoint
  if (endpoint === undefined) return
  const wanted = [
    ['refresh_token', tokens.refreshToken],
    ['access_token', tokens.accessToken],
  ] as const
  for (const [hint, token] of wanted) {
    if (token === undefined) continue
    const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' })
    const form = new URLSearchParams({ token, token_type_hint: hint })
    authenticate(account, headers, form)
    try {
      await fetch(endpoint, { method: 'POST', headers, body: form })
    } catch {
      return
    }
  }
}
