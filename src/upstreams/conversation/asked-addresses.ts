import { randomUUID } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { ClientPeer } from '../connection/call-link.ts'
import { mcpClient } from '../connection/mcp-client.ts'
import { INPUT_REQUIRED } from './ask-with-link.ts'
import { toNewerRequest } from './asked-requests.ts'

/** By which an upstream of the older era says that the user is to open addresses first (client/elicitation). */
const ADDRESSES_REQUIRED = -32_042

/** Of one error; above it nobody opens them all. */
const MAX_ADDRESSES = 10

type Elicitation = { mode: 'url'; elicitationId: string; url: string; message: string }

const isWebAddress = (url: string): boolean => ['http:', 'https:'].includes(URL.parse(url)?.protocol ?? '')

const readElicitations = (data: unknown): Elicitation[] => {
  const given: unknown = isJsonObject(data) ? data.elicitations : undefined
  return (Array.isArray(given) ? given : []).slice(0, MAX_ADDRESSES).flatMap(each => {
    const { elicitationId, url, message } = isJsonObject(each) ? each : {}
    if (typeof url !== 'string' || !isWebAddress(url)) return []
    const id = typeof elicitationId === 'string' ? elicitationId : randomUUID()
    return { mode: 'url', elicitationId: id, url, message: typeof message === 'string' ? message : '' }
  })
}

/** The addresses that an error says are to be opened before the request is made again; none of any other error. */
export const findAskedAddresses = (error: unknown): Elicitation[] =>
  error instanceof mcpClient().ProtocolError && error.code === ADDRESSES_REQUIRED ? readElicitations(error.data) : []

/** An error as a JSON-RPC answer has it, or a result. */
type PassedOn = { refused: { code: number; data: JsonObject } } | { passed: JsonObject }

/**
 * How a client that can be asked to open addresses is told of those that an error names: by the same error, or where it
 * has no session, which knows no such error, in a result that asks it to come back. Undefined: it is told in words.
 */
export const passAddressesOn = (error: unknown, peer: ClientPeer | undefined): PassedOn | undefined => {
  const elicitations = findAskedAddresses(error)
  const offered = peer?.capabilities.elicitation
  if (peer === undefined || elicitations.length === 0 || !isJsonObject(offered) || offered.url === undefined) {
    return undefined
  }
  if (peer.kind === 'session') return { refused: { code: ADDRESSES_REQUIRED, data: { elicitations } } }
  const inputRequests = Object.fromEntries(
    elicitations.map(params => [
      `open-${params.elicitationId}`,
      toNewerRequest({ method: 'elicitation/create', params }),
    ]),
  )
  return { passed: { resultType: INPUT_REQUIRED, inputRequests, requestState: peer.seal({}) } }
}
