import type { BoundedFetch } from '../../lib/outbound/bounded-fetch.ts'
import { mcpClient } from '../connection/mcp-client.ts'
import type { AccountContent } from './account.ts'

/** RFC 6749 §2.3.1: form-encoded before they are put together. */
const encode = (text: string): string => new URLSearchParams({ t: text }).toString().slice(2)

/** As the token endpoint has it (RFC 7009 §2.1). */
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
 * Tells an authorization server that tokens are not wanted any more (RFC 7009), where it takes that: the refresh token,
 * with which the others go, then the access token. Best effort, and never rejects: for Patchbay they are gone already.
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
