import type { StreamingFetch } from '../../lib/outbound/streaming-fetch.ts'
import { mcpClient } from '../connection/mcp-client.ts'
import { UpstreamError } from '../connection/upstream-error.ts'
import type { Authorizer } from './authorizer.ts'

export type AuthorizedFetchOptions = {
  fetch: StreamingFetch['fetch']
  authorizer: Authorizer
  /** The upstream's address: the token is for it and goes nowhere else. */
  url: string
}

/** RFC 6749 §3.3, and no longer than a person reads. */
const SCOPES = /^[\x21\x23-\x5b\x5d-\x7e ]{1,200}$/

/** The account is good, and may not do this (RFC 6750 §3.1). */
const findLackOfScope = async (answer: Response): Promise<UpstreamError | undefined> => {
  if (answer.status !== 403) return undefined
  const { error, scope = '' } = mcpClient().extractWWWAuthenticateParams(answer)
  if (error !== 'insufficient_scope') return undefined
  await answer.body?.cancel()
  const what = SCOPES.test(scope) ? ` "${scope}"` : ''
  const message = `The account that it is connected with may not do this: the upstream asks for the scope${what}. Connect it anew with that scope.`
  return new UpstreamError('unauthorized', message)
}

/** A `fetch` that shows an account's token, and shows another one where the first is refused. */
export const createAuthorizedFetch = ({ fetch, authorizer, url }: AuthorizedFetchOptions): StreamingFetch['fetch'] => {
  const { origin } = new URL(url)
  return async (target, init = {}) => {
    if (new URL(target).origin !== origin) return fetch(target, init)
    const send = async (token: string): Promise<Response> => {
      const headers = new Headers(init.headers)
      headers.set('authorization', `Bearer ${token}`)
      const answer = await fetch(target, { ...init, headers })
      const lack = await findLackOfScope(answer)
      if (lack !== undefined) throw lack
      return answer
    }
    const token = await authorizer.getToken(url)
    const answer = await send(token)
    if (answer.status !== 401) return answer
    await answer.body?.cancel()
    const again = await send(await authorizer.renewToken(url, token))
    if (again.status !== 401) return again
    await again.body?.cancel()
    throw authorizer.refused()
  }
}
