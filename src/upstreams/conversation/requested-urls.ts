import { randomUUID } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { ClientPeer } from '../connection/call-link.ts'
import { mcpClient } from '../connection/mcp-client.ts'
import { toStatelessRequest } from './input-requests.ts'
import { INPUT_REQUIRED } from './send-with-link.ts'

/** The session-era error code for URLs that the user must open first (client/elicitation). */
const URL_ELICITATION_REQUIRED = -32_042

/** Maximum number of URLs per error. No user would open more. */
const MAX_URLS = 10

type Elicitation = { mode: 'url'; elicitationId: string; url: string; message: string }

const isHttpUrl = (url: string): boolean => ['http:', 'https:'].includes(URL.parse(url)?.protocol ?? '')

const parseElicitations = (data: unknown): Elicitation[] => {
  const elicitations: unknown = isJsonObject(data) ? data.elicitations : undefined
  return (Array.isArray(elicitations) ? elicitations : []).slice(0, MAX_URLS).flatMap(each => {
    const { elicitationId, url, message } = isJsonObject(each) ? each : {}
    if (typeof url !== 'string' || !isHttpUrl(url)) return []
    const id = typeof elicitationId === 'string' ? elicitationId : randomUUID()
    return { mode: 'url', elicitationId: id, url, message: typeof message === 'string' ? message : '' }
  })
}

/** Returns the URLs that the user must open before the request is repeated, or an empty list for other errors. */
export const findRequestedUrls = (error: unknown): Elicitation[] =>
  error instanceof mcpClient().ProtocolError && error.code === URL_ELICITATION_REQUIRED
    ? parseElicitations(error.data)
    : []

/** Either an error for a JSON-RPC response, or a result. */
type PassedOn = { refused: { code: number; data: JsonObject } } | { passed: JsonObject }

/**
 * Passes the URLs in an error on to a client that supports them. A client with a session gets the same error. A
 * stateless client gets a result that asks it to repeat its request. Returns undefined if the URLs must be in the
 * error's text instead.
 */
export const passOnUrls = (error: unknown, peer: ClientPeer | undefined): PassedOn | undefined => {
  const elicitations = findRequestedUrls(error)
  const offered = peer?.capabilities.elicitation
  if (peer === undefined || elicitations.length === 0 || !isJsonObject(offered) || offered.url === undefined) {
    return undefined
  }
  if (peer.kind === 'session') return { refused: { code: URL_ELICITATION_REQUIRED, data: { elicitations } } }
  const inputRequests = Object.fromEntries(
    elicitations.map(params => [
      `open-${params.elicitationId}`,
      toStatelessRequest({ method: 'elicitation/create', params }),
    ]),
  )
  return { passed: { resultType: INPUT_REQUIRED, inputRequests, requestState: peer.issueState({}) } }
}
