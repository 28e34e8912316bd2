import { randomUUID } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import { UpstreamError } from '../connection/upstream-error.ts'

/** What a client can be asked, and the capability it needs. */
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

/** Converts a request in a result of the newer era for a client of the older era. */
export const toSessionRequest = (request: unknown): InputRequest => {
  if (!isJsonObject(request) || typeof request.method !== 'string') {
    throw new UpstreamError('protocol', 'The MCP server sent an invalid input request.')
  }
  const params = isJsonObject(request.params) ? request.params : {}
  // The older era identifies URL elicitations by an id.
  const isByUrl = request.method === 'elicitation/create' && params.mode === 'url' && params.elicitationId === undefined
  return { method: request.method, params: isByUrl ? { ...params, elicitationId: randomUUID() } : params }
}

/** Converts a request of the older era for a result of the newer era. */
export const toStatelessRequest = ({ method, params }: InputRequest): JsonObject => {
  const { elicitationId: _id, task: _task, _meta, ...rest } = params
  return Object.keys(rest).length === 0 ? { method } : { method, params: rest }
}
