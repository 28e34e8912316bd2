import { isJsonObject, type JsonObject, type JsonValue } from '../lib/kernel/json.ts'
import { failure, type Result, success } from '../lib/kernel/result.ts'
import { checkEnvelope } from './envelope.ts'
import { headerMismatch } from './headers.ts'
import {
  isRequestId,
  type Message,
  metaOf,
  type NotificationMessage,
  type RequestMessage,
  type ResponseMessage,
} from './message.ts'
import {
  ERROR,
  isStatelessVersion,
  MAX_BATCH_MESSAGES,
  META,
  STATELESS_VERSION,
  STATELESS_VERSIONS,
} from './protocol.ts'
import { type Refusal, refusal } from './rpc-response.ts'

/** Headers of a stateless request that repeat values from its body. */
export type EraHeaders = { version: string | undefined; method: string | undefined }

export type Classified =
  | { era: 'stateless'; message: RequestMessage | NotificationMessage }
  | { era: 'session'; message: Message }
  | { era: 'session-batch'; messages: readonly Message[] }

export const invalidRequest = (why: string): Refusal => refusal(400, ERROR.invalidRequest, `Invalid request: ${why}`)
export const NO_MESSAGE = invalidRequest('the body is not a JSON-RPC message')

/** Whether `params` and `_meta` are objects and the progress token, if any, is valid. */
const areParams = (params: JsonValue | undefined): params is JsonObject | undefined => {
  if (params === undefined) return true
  if (!isJsonObject(params)) return false
  const meta = params._meta
  if (meta === undefined) return true
  return isJsonObject(meta) && (meta.progressToken === undefined || isRequestId(meta.progressToken))
}

const hasOnly = (value: JsonObject, known: (key: string) => boolean): boolean => {
  for (const key in value) {
    if (!known(key)) return false
  }
  return true
}
const isCallKey = (key: string): boolean => key === 'jsonrpc' || key === 'id' || key === 'method' || key === 'params'
const isResultKey = (key: string): boolean => key === 'jsonrpc' || key === 'id' || key === 'result'
const isErrorKey = (key: string): boolean => key === 'jsonrpc' || key === 'id' || key === 'error'

const parseResponse = (value: JsonObject): ResponseMessage | undefined => {
  const { id, result, error } = value
  if (result !== undefined) {
    if (!isJsonObject(result) || !isRequestId(id) || !hasOnly(value, isResultKey)) return undefined
    return { kind: 'response', id, result, error: undefined }
  }
  if (!isJsonObject(error) || !hasOnly(value, isErrorKey)) return undefined
  const { code, message } = error
  if (typeof code !== 'number' || !Number.isInteger(code) || typeof message !== 'string') return undefined
  if (id !== undefined && !isRequestId(id)) return undefined
  return { kind: 'response', id, result: undefined, error: { code, message } }
}

/**
 * Parses one MCP message in JSON-RPC format. Returns undefined if the value is not a valid message.
 *
 * Stricter than JSON-RPC 2.0, as MCP requires: ids are strings or integers, params are objects, and the envelope has no
 * other members (basic, "Messages").
 */
export const parseMessage = (value: JsonValue): Message | undefined => {
  if (!isJsonObject(value) || value.jsonrpc !== '2.0') return undefined
  const { id, method, params } = value
  if (typeof method !== 'string') return parseResponse(value)
  if (!areParams(params) || !hasOnly(value, isCallKey)) return undefined
  if (id === undefined) return { kind: 'notification', method, params }
  return isRequestId(id) ? { kind: 'request', id, method, params } : undefined
}

const claims = (meta: JsonObject | undefined): meta is JsonObject =>
  meta !== undefined && Object.hasOwn(meta, META.protocolVersion)

const envelopeRefusal = (key: string, problem: string): Refusal =>
  refusal(400, ERROR.invalidParams, `Invalid params: _meta of revision ${STATELESS_VERSION}: ${key}: ${problem}`, {
    envelope: { key, problem },
  })

/** Returns the refusal for a header that names a stateless version when the body lacks the envelope. */
const missingEnvelope = (version: string, meta: JsonObject | undefined): Refusal => {
  const required = [META.protocolVersion, META.clientCapabilities]
  const missing = meta === undefined ? ['_meta'] : required.filter(key => meta[key] === undefined)
  return refusal(
    400,
    ERROR.invalidParams,
    `Invalid params: the MCP-Protocol-Version header is ${version}, which requires ${missing.join(' and ')}`,
    { envelope: { missing } },
  )
}

const unsupportedVersion = (requested: string): Refusal =>
  refusal(400, ERROR.unsupportedVersion, `Unsupported protocol version: ${requested}`, {
    supported: [...STATELESS_VERSIONS],
    requested,
  })

/** Runs the final checks on a message whose `_meta` or header names a stateless version. */
const toStateless = (
  message: RequestMessage | NotificationMessage,
  version: string,
  { method }: EraHeaders,
): Result<Classified, Refusal> => {
  if (method !== undefined && method !== message.method) {
    return failure(headerMismatch('Mcp-Method', method, message.method))
  }
  return version === STATELESS_VERSION ? success({ era: 'stateless', message }) : failure(unsupportedVersion(version))
}

/** Checks a message whose `_meta` names a stateless version: first the envelope, then the headers. */
const classifyClaim = (
  message: RequestMessage | NotificationMessage,
  meta: JsonObject,
  headers: EraHeaders,
): Result<Classified, Refusal> => {
  const issue = checkEnvelope(meta)
  // In this version, notifications have no envelope, so only the version is checked.
  if (issue !== undefined && (message.kind === 'request' || issue.key === META.protocolVersion)) {
    return failure(envelopeRefusal(issue.key, issue.problem))
  }
  const claimed = String(meta[META.protocolVersion])
  if (headers.version !== undefined && headers.version !== claimed) {
    return failure(headerMismatch('MCP-Protocol-Version', headers.version, claimed))
  }
  return toStateless(message, claimed, headers)
}

const classifyUnclaimed = (
  message: RequestMessage | NotificationMessage,
  meta: JsonObject | undefined,
  headers: EraHeaders,
): Result<Classified, Refusal> => {
  const { version } = headers
  if (version === undefined || !isStatelessVersion(version)) return success({ era: 'session', message })
  if (message.kind === 'request') {
    if (message.method === 'initialize') return failure(headerMismatch('MCP-Protocol-Version', version, 'initialize'))
    return failure(missingEnvelope(version, meta))
  }
  // Notifications have no envelope, so the header alone decides their era.
  return toStateless(message, version, headers)
}

const classifyBatch = (values: readonly JsonValue[]): Result<Classified, Refusal> => {
  if (values.length === 0) return failure(invalidRequest('the batch is empty'))
  if (values.length > MAX_BATCH_MESSAGES) {
    return failure(invalidRequest(`a batch can contain at most ${MAX_BATCH_MESSAGES} messages`))
  }
  const messages: Message[] = []
  for (const value of values) {
    const message = parseMessage(value)
    if (message === undefined) return failure(invalidRequest('the batch contains an invalid message'))
    if (message.kind !== 'response' && claims(metaOf(message.params))) {
      return failure(invalidRequest(`revision ${STATELESS_VERSION} does not support batches`))
    }
    messages.push(message)
  }
  return success({ era: 'session-batch', messages })
}

/**
 * Parses the messages of a POST and determines their era. A request is stateless if its `_meta` names a stateless
 * version. Headers must match the body but never change a request's era. `initialize` belongs to the session era unless
 * it has a complete stateless envelope.
 */
export const classify = (body: JsonValue, headers: EraHeaders): Result<Classified, Refusal> => {
  if (Array.isArray(body)) return classifyBatch(body)
  const message = parseMessage(body)
  if (message === undefined) return failure(NO_MESSAGE)
  if (message.kind === 'response') return success({ era: 'session', message })
  const meta = metaOf(message.params)
  if (!claims(meta)) return classifyUnclaimed(message, meta, headers)
  if (message.kind === 'request' && message.method === 'initialize' && !claimsWhole(meta)) {
    return classifyUnclaimed(message, undefined, headers)
  }
  return classifyClaim(message, meta, headers)
}

const claimsWhole = (meta: JsonObject): boolean => {
  const version = meta[META.protocolVersion]
  return typeof version === 'string' && isStatelessVersion(version) && checkEnvelope(meta) === undefined
}
