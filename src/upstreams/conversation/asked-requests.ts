import { randomUUID } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import { UpstreamError } from '../connection/upstream-error.ts'

/** What a client may be asked, and the capability that it says so by. */
const CAPABILITY_OF: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
}

export type AskedRequest = { method: string; params: JsonObject }

/** Throws UpstreamError where the client does not offer what it would be asked. */
export const assertOffered = ({ method, params }: AskedRequest, capabilities: JsonObject): void => {
  const name = CAPABILITY_OF[method]
  if (name === undefined) throw new UpstreamError('protocol', `The upstream sent a request that no client answers.`)
  const offered = capabilities[name]
  if (!isJsonObject(offered)) throw new UpstreamError('protocol', `This client does not offer ${name}.`)
  // An empty object means forms (client/elicitation).
  const isByUrl = method === 'elicitation/create' && params.mode === 'url'
  if (isByUrl && offered.url === undefined) {
    throw new UpstreamError('protocol', 'This client does not offer elicitation by URL.')
  }
  if (method === 'sampling/createMessage' && params.tools !== undefined && offered.tools === undefined) {
    throw new UpstreamError('protocol', 'This client does not offer sampling with tools.')
  }
}

/** A request as results of the newer era hold them, for a client of the older. */
export const toOlderRequest = (request: unknown): AskedRequest => {
  if (!isJsonObject(request) || typeof request.method !== 'string') {
    throw new UpstreamError('protocol', 'The upstream asks for something that is no request.')
  }
  const params = isJsonObject(request.params) ? request.params : {}
  // The older era tells elicitations by URL apart by an id of their own.
  const isByUrl = request.method === 'elicitation/create' && params.mode === 'url' && params.elicitationId === undefined
  return { method: request.method, params: isByUrl ? { ...params, elicitationId: randomUUID() } : params }
}

/** A request of the older era as results of the newer one hold them. */
export const toNewerRequest = ({ method, params }: AskedRequest): JsonObject => {
  const { elicitationId: _id, task: _task, _meta, ...rest } = params
  return Object.keys(rest).length === 0 ? { method } : { method, params: rest }
}
