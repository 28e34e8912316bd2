import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { Caller } from '../../servers/access/access.ts'
import type { StatelessPeer } from '../../upstreams/connection/call-link.ts'
import { metaOf, type RequestMessage } from '../message.ts'
import { META } from '../protocol.ts'
import { invalidParams, type Refusal } from '../rpc-response.ts'
import { ASKABLES } from '../sessions/session-peer.ts'
import { hashRequest, type RequestStates } from './request-states.ts'

const NOTHING: JsonObject = {}

/** Returns the capabilities that allow requests to the client. */
export const askableOf = (params: JsonObject | undefined): JsonObject => {
  const declared = metaOf(params)?.[META.clientCapabilities]
  if (!isJsonObject(declared)) return NOTHING
  return Object.fromEntries(ASKABLES.flatMap(name => (declared[name] === undefined ? [] : [[name, declared[name]]])))
}

const unknownState = (): Refusal =>
  invalidParams(
    'Invalid params: requestState was not issued to this caller for this request, or has expired: repeat the request without it',
  )

/**
 * Returns the object through which upstreams send requests to a request's client, as part of the result. Returns
 * undefined if the client accepts no requests.
 */
export const findStatelessPeer = (
  { method, params }: RequestMessage,
  serverId: string,
  caller: Caller,
  states: RequestStates,
): StatelessPeer | Refusal | undefined => {
  const capabilities = askableOf(params)
  const signed = params?.requestState
  if (Object.keys(capabilities).length === 0 && signed === undefined) return undefined
  const { _meta, requestState: _state, inputResponses, ...rest } = params ?? {}
  const subject = caller?.userId
  const binding = hashRequest([serverId, subject, method, rest])
  const requestState = typeof signed === 'string' ? states.verify(binding, signed) : undefined
  if (signed !== undefined && requestState === undefined) return unknownState()
  return {
    kind: 'stateless',
    key: hashRequest([serverId, subject, capabilities]),
    capabilities,
    userId: subject,
    inputResponses: isJsonObject(inputResponses) ? inputResponses : undefined,
    requestState,
    issueState: state => states.issue(binding, state),
  }
}
