import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { Caller } from '../../servers/access/access.ts'
import type { StatelessPeer } from '../../upstreams/connection/call-link.ts'
import { metaOf, type RequestMessage } from '../message.ts'
import { META } from '../protocol.ts'
import { invalidParams, type Refusal } from '../rpc-response.ts'
import { bindingOf, type RequestStates } from './request-states.ts'

const ASKABLE = ['elicitation', 'roots', 'sampling'] as const
const NOTHING: JsonObject = {}

/** Returns the capabilities by which the client can be asked something. */
export const askableOf = (params: JsonObject | undefined): JsonObject => {
  const declared = metaOf(params)?.[META.clientCapabilities]
  if (!isJsonObject(declared)) return NOTHING
  return Object.fromEntries(ASKABLE.flatMap(name => (declared[name] === undefined ? [] : [[name, declared[name]]])))
}

const unknownState = (): Refusal =>
  invalidParams(
    'Invalid params: requestState was not issued to this caller for this request, or has expired: repeat the request without it',
  )

/**
 * Returns the view that upstreams have of the client of a request, which is asked in the result. Undefined if it cannot
 * be asked anything.
 */
export const findStatelessPeer = (
  { method, params }: RequestMessage,
  serverId: string,
  caller: Caller,
  states: RequestStates,
): StatelessPeer | Refusal | undefined => {
  const capabilities = askableOf(params)
  const sealed = params?.requestState
  if (Object.keys(capabilities).length === 0 && sealed === undefined) return undefined
  const { _meta, requestState: _state, inputResponses, ...rest } = params ?? {}
  const subject = caller?.userId
  const binding = bindingOf([serverId, subject, method, rest])
  const opened = typeof sealed === 'string' ? states.open(binding, sealed) : undefined
  if (sealed !== undefined && opened === undefined) return unknownState()
  return {
    kind: 'stateless',
    key: bindingOf([serverId, subject, capabilities]),
    capabilities,
    userId: subject,
    inputResponses: isJsonObject(inputResponses) ? inputResponses : undefined,
    requestState: opened,
    seal: state => states.seal(binding, state),
  }
}
