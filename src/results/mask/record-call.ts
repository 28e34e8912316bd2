import { newExecutionId } from '../../history/execution-id.ts'
import {
  BODY_CHARACTERS,
  ERROR_CHARACTERS,
  type ExecutionRecord,
  MASKED,
  type MaskedRequest,
  type Recorder,
  roundToMicroseconds,
} from '../../history/execution-record.ts'
import { MAX_SECRET_BYTES } from '../../lib/kernel/limits.ts'
import { MASK } from '../../lib/kernel/mask.ts'
import { type Caller, tokenIdOf } from '../../servers/access/access.ts'
import type { RenderedRequest } from '../../templates/template.ts'
import type { Masker } from './masking.ts'
import { type ArgumentsToRecord, listSecretTexts, toRecordedArguments } from './recorded-arguments.ts'

const URL_CHARACTERS = 4 * 1_024
const HEADER_CHARACTERS = 1_024
/** Maximum characters of all headers, including names. The rest is replaced by a single entry, `…`. */
const ALL_HEADERS_CHARACTERS = 16 * 1_024

const maskWith = (
  { method, url, headers, body }: RenderedRequest,
  masker: Masker,
  maskBody: (body: string) => string,
): MaskedRequest => ({
  [MASKED]: true,
  method,
  url: masker.text(url),
  headers: masker.isEmpty ? headers : headers.map(([name, value]) => [name, masker.text(value)] as const),
  body: body === undefined ? undefined : maskBody(body),
})

/** Returns the full request with secrets masked, for a user who is testing a tool. */
export const maskRequest = (request: RenderedRequest, masker: Masker): MaskedRequest =>
  maskWith(request, masker, masker.text)

/** Copies the beginning, because a slice would keep the whole string in memory. */
const shorten = (text: string, max: number): string =>
  text.length <= max ? text : `${Buffer.from(text.slice(0, max), 'utf16le').toString('utf16le')}…`

const shortenHeaders = (headers: MaskedRequest['headers']): MaskedRequest['headers'] => {
  const kept: (readonly [name: string, value: string])[] = []
  let length = 0
  for (const [name, value] of headers) {
    const header = [shorten(name, HEADER_CHARACTERS), shorten(value, HEADER_CHARACTERS)] as const
    length += header[0].length + header[1].length
    if (length > ALL_HEADERS_CHARACTERS) return [...kept, ['…', '']]
    kept.push(header)
  }
  return kept
}

/** Returns a request as the history stores it. Parts that are cut end in `…`. */
const toStoredRequest = (
  request: RenderedRequest,
  masker: Masker,
  { cached, schemaMismatch }: Pick<CallToRecord, 'cached' | 'schemaMismatch'>,
): MaskedRequest => {
  const { method, url, headers, body } = maskWith(request, masker, masker.beginning)
  return {
    [MASKED]: true,
    method,
    url: shorten(url, URL_CHARACTERS),
    headers: shortenHeaders(headers),
    body: body === undefined ? undefined : shorten(body, BODY_CHARACTERS),
    ...(cached !== undefined && { answerAgeMs: Math.round(cached.ageMs) }),
    ...(schemaMismatch !== undefined && { schemaMismatch: masker.text(schemaMismatch) }),
  }
}

/** Limits for secrets among the arguments, because a search is prepared for them on the main thread. */
const MAX_GIVEN = 50
const MAX_GIVEN_CHARACTERS = MAX_SECRET_BYTES

/**
 * Returns a masker that also hides the secrets that the caller gave as arguments, or undefined if they are too long or
 * too many, or among too many arguments.
 */
const withGiven = (masker: Masker, args: ArgumentsToRecord | undefined): Masker | undefined => {
  const found = args === undefined ? new Set<string>() : listSecretTexts(args)
  if (found === undefined) return undefined
  if (found.size === 0) return masker
  const given = [...found]
  const characters = given.reduce((sum, { length }) => sum + length, 0)
  return given.length <= MAX_GIVEN && characters <= MAX_GIVEN_CHARACTERS ? masker.also(() => given) : undefined
}

/** A request of which only the method is recorded. */
const hideRequest = ({ method }: RenderedRequest): MaskedRequest => ({
  [MASKED]: true,
  method,
  url: MASK,
  headers: [],
  body: undefined,
})

/** Hides what the caller gave in an error, which may quote the request. */
const maskError = (error: string | undefined, own: Masker | undefined): string | undefined =>
  error === undefined || own === undefined ? error && MASK : own.beginning(error).slice(0, ERROR_CHARACTERS)

/** A call to record. Its error must already be masked, because the caller has received it. */
export type CallToRecord = Omit<
  ExecutionRecord,
  'id' | 'instanceId' | 'userId' | 'tokenId' | 'request' | 'outcome' | 'arguments'
> & {
  instanceId?: string
  caller: Caller
  /** Undefined if the call failed before its request was rendered. */
  request: RenderedRequest | undefined
  /** Set if the result came from the cache and nothing was sent. */
  cached?: { ageMs: number } | undefined
  /** How the response differs from the tool's output schema, if it does. */
  schemaMismatch?: string | undefined
  /** Undefined if they are not recorded, as for requests to passthrough servers. */
  arguments?: ArgumentsToRecord | undefined
}

/** Records a call in the history, with the secrets of its request masked. Returns the id of the execution. */
export const recordCall = (recorder: Pick<Recorder, 'record'>, masker: Masker, call: CallToRecord): string => {
  const { caller, error, request } = call
  const id = newExecutionId()
  const own = withGiven(masker, call.arguments)
  // Each property is named, because copying objects with spreads takes a noticeable part of a call's time.
  recorder.record({
    id,
    serverId: call.serverId,
    instanceId: call.instanceId,
    tool: call.tool,
    userId: caller?.userId,
    client: call.client,
    tokenId: tokenIdOf(caller),
    requestId: call.requestId,
    startedAt: call.startedAt,
    durationMs: roundToMicroseconds(call.durationMs),
    outcome: call.result === 'success' ? 'ok' : 'error',
    result: call.result,
    status: call.status,
    requestBytes: call.requestBytes,
    responseBytes: call.responseBytes,
    error: own === masker ? error?.slice(0, ERROR_CHARACTERS) : maskError(error, own),
    request: request && (own === undefined ? hideRequest(request) : toStoredRequest(request, own, call)),
    arguments: call.arguments && toRecordedArguments(call.arguments, own ?? masker),
    timing: call.timing,
    attempts: call.attempts,
  })
  return id
}
