import type { StreamingFetch } from '../../lib/outbound/streaming-fetch.ts'
import { findTrace } from '../connection/call-trace.ts'
import { mcpClient } from '../connection/mcp-client.ts'
import { UpstreamError } from '../connection/upstream-error.ts'
import type { Authorizer } from './authorizer.ts'

export type AuthorizedFetchOptions = {
  fetch: StreamingFetch['fetch']
  authorizer: Authorizer
  /** The upstream's address; the token is sent nowhere else. */
  url: string
}

/** Matches scopes (RFC 6749 §3.3) of a readable length. */
const SCOPES = /^[\x21\x23-\x5b\x5d-\x7e ]{1,200}$/

/** Returns an error if the account is valid but lacks a scope (RFC 6750 §3.1). */
const findMissingScope = async (response: Response): Promise<UpstreamError | undefined> => {
  if (response.status !== 403) return undefined
  const { error, scope = '' } = mcpClient().extractWWWAuthenticateParams(response)
  if (error !== 'insufficient_scope') return undefined
  await response.body?.cancel()
  const what = SCOPES.test(scope) ? ` "${scope}"` : ''
  const message = `The connected account is not allowed to do this: the MCP server requires the scope${what}. Reconnect it with that scope.`
  return new UpstreamError('unauthorized', message)
}

/** Creates a `fetch` that sends an account's token. If the upstream rejects the token, it is renewed once. */
export const createAuthorizedFetch = ({ fetch, authorizer, url }: AuthorizedFetchOptions): StreamingFetch['fetch'] => {
  const { origin } = new URL(url)
  return async (target, init = {}) => {
    if (new URL(target).origin !== origin) return fetch(target, init)
    const send = async (token: string): Promise<Response> => {
      const headers = new Headers(init.headers)
      headers.set('authorization', `Bearer ${token}`)
      const response = await fetch(target, { ...init, headers })
      const missingScope = await findMissingScope(response)
      if (missingScope !== undefined) throw missingScope
      return response
    }
    const token = await authorizer.getToken(url)
    const response = await send(token)
    if (response.status !== 401) return response
    await response.body?.cancel()
    findTrace()?.repeat({ status: response.status })
    const retried = await send(await authorizer.renewToken(url, token))
    if (retried.status !== 401) return retried
    await retried.body?.cancel()
    throw authorizer.refused()
  }
}
