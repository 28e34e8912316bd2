import type { Caller } from '../execution/index.ts'
import { isJsonObject, type JsonObject } from '../kernel/index.ts'
import type { StatelessPeer } from '../upstreams/index.ts'
import { invalidParams, type Refusal } from './answer.ts'
import { metaOf, type RequestMessage } from './message.ts'
import { META } from './protocol.ts'
import { bindingOf, type RequestStates } from './request-states.ts'

const ASKABLE = ['elicitation', 'roots', 'sampling'] as const
const NOTHING: JsonObject = {}

/** What it declares that it can be asked. */
export const askableOf = (params: JsonObject | undefined): JsonObject => {
  const declared = metaOf(params)?.[META.clientCapabilities]
  if (!isJsonObject(declared)) return NOTHING
  return Object.fromEntries(ASKABLE.flatMap(name => (declared[name] === undefined ? [] : [[name, declared[name]]])))
}

const unknownState = (): Refusal =>
  invalidParams(
    'Invalid params: requestState is not what this caller was given for this request, or it has expired: make the request again without it',
  )

/** The client of a request, as upstreams see it: asked in an answer. Undefined where it can be asked nothing. */
export const findStatelessPeer = (
  { method, params }: RequestMessage,
  serverId: string,
  caller: Caller,
  states: RequestStates,
): StatelessPeer | Refusal | undefined => {
  const capabilities = askableOf(params)
  const sealed = params?.requestState
  if (Object.keys(capabilities).length === 0 && sealed === undefined) return undefined
  const { _meta, requestState: _state, inputResponses, ...asked } = params ?? {}
  const subject = caller?.userId
  const binding = bindingOf([serverId, subject, method, asked])
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
