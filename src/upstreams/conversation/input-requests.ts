import { randomUUID } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import { UpstreamError } from '../connection/upstream-error.ts'

/** The capability required for each request to a client. */
const REQUIRED_CAPABILITY: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
}

export type InputRequest = { method: string; params: JsonObject }

/** Throws UpstreamError if the client does not support the request. */
export const assertSupported = ({ method, params }: InputRequest, capabilities: JsonObject): void => {
  const name = REQUIRED_CAPABILITY[method]
  if (name === undefined) throw new UpstreamError('protocol', 'The MCP server sent a request that no client supports.')
  const supported = capabilities[name]
  if (!isJsonObject(supported)) throw new UpstreamError('protocol', `This client does not support ${name}.`)
  // An empty capability means form mode (client/elicitation).
  const isByUrl = method === 'elicitation/create' && params.mode === 'url'
  if (isByUrl && supported.url === undefined) {
    throw new UpstreamError('protocol', 'This client does not support elicitation by URL.')
  }
  if (method === 'sampling/createMessage' && params.tools !== undefined && supported.tools === undefined) {
    throw new UpstreamError('protocol', 'This client does not support sampling with tools.')
  }
}

/** Converts a request from a stateless upstream's result for a client with a session. */
export const toSessionRequest = (request: unknown): InputRequest => {
  if (!isJsonObject(request) || typeof request.method !== 'string') {
    throw new UpstreamError('protocol', 'The MCP server sent an invalid input request.')
  }
  const params = isJsonObject(request.params) ? request.params : {}
  // The session era identifies URL elicitations by id.
  const isByUrl = request.method === 'elicitation/create' && params.mode === 'url' && params.elicitationId === undefined
  return { method: request.method, params: isByUrl ? { ...params, elicitationId: randomUUID() } : params }
}

/** Converts a session-era upstream's request so that a stateless client can receive it in a result. */
export const toStatelessRequest = ({ method, params }: InputRequest): JsonObject => {
  const { elicitationId: _id, task: _task, _meta, ...rest } = params
  return Object.keys(rest).length === 0 ? { method } : { method, params: rest }
}
