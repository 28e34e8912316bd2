import { formatBytes, formatCount, formatDuration, formatNumber } from '../../lib/kernel/format.ts'
import { parseIfJson } from '../../lib/kernel/json.ts'
import { describeJsonFault, findJsonFault } from '../../lib/kernel/json-fault.ts'
import { isErrorResult, isLongText } from '../../runtime/call/tool-result.ts'
import type { ResponseMedia } from '../../runtime/try/response-media.ts'
import type { DraftTest } from '../../runtime/try/tool-draft.ts'
import { describeSchemaMismatch, showOutcome } from '../history/call-outcome.view.ts'
import { formatJson, type JsonSegment } from '../overview/format-json.ts'
import { type JsonNode, type JsonTree, toJsonTree } from './json-tree.ts'

/**
 * Maximum characters of the body shown as text, because a longer one would make the page slow. The cURL command returns
 * the whole body.
 */
const MAX_SHOWN_CHARACTERS = 100_000
/** Maximum characters of a body that is read as JSON, which happens on the main thread. */
const MAX_JSON_CHARACTERS = 2_500_000

/** Matches the types of a single JSON value (RFC 8259, RFC 6839 §3.1), and not those of several, such as JSON Lines. */
const JSON_TYPE = /[/+](?:x-)?json\s*(?:;|$)/i

const listHeaders = (headers: Record<string, string | string[]>) =>
  Object.entries(headers).flatMap(([name, value]) => [value].flat().map(one => ({ name, value: one })))

type Body = {
  /** The root of the tree. Undefined if the body is not a JSON object or array. */
  tree: JsonNode | undefined
  text: readonly JsonSegment[] | undefined
  /** What is left out, or what the body is. */
  remark: string | undefined
  /** Why the body is not what the API says it is. */
  problem: string | undefined
  picture: string | undefined
  download: { href: string; name: string } | undefined
}

const NO_BODY: Body = {
  tree: undefined,
  text: undefined,
  remark: undefined,
  problem: undefined,
  picture: undefined,
  download: undefined,
}

const remarkOf = ({ shown, total }: JsonTree): string | undefined =>
  shown === total ? undefined : `Showing ${formatNumber(shown)} of ${formatCount(total, 'value')}.`

const describeText = (body: string, type: string, size: string): Body => {
  const isCut = body.length > MAX_SHOWN_CHARACTERS
  const plain = [{ text: isCut ? body.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed() : body, isKey: false }]
  const asText = { ...NO_BODY, text: plain, remark: isCut ? `Showing only the beginning of ${size}.` : undefined }
  if (body.length > MAX_JSON_CHARACTERS) return asText
  const fault = JSON_TYPE.test(type) ? findJsonFault(body) : undefined
  if (fault !== undefined) {
    return { ...asText, problem: `This response should be JSON, but is not valid: ${describeJsonFault(fault)}.` }
  }
  const isJson = /^\s*[[{]/.test(body) && (JSON_TYPE.test(type) || parseIfJson(body) !== undefined)
  if (!isJson) return asText
  const tree = toJsonTree(body)
  const text = isCut ? plain : formatJson(body)
  return { ...asText, tree: tree.root, text, remark: remarkOf(tree) }
}

const PDF = 'application/pdf'

const describeMedia = ({ type, base64 }: ResponseMedia, declared: string, size: string): Body => {
  const [essence = ''] = declared.split(';')
  const isPicture = type !== undefined && type !== PDF
  const kind = type ?? (essence === '' ? 'Binary data of unknown type' : essence)
  const remark = `${isPicture ? `Image (${type})` : kind}, ${size}. The model gets it unchanged.`
  const problem =
    type === undefined && essence.startsWith('image/')
      ? `This response should be an image (${essence}), but is not a PNG, JPEG, GIF or WebP file, so it is not shown.`
      : undefined
  if (base64 === undefined) return { ...NO_BODY, remark: `${remark} It is too large to show here.`, problem }
  if (isPicture) return { ...NO_BODY, remark, picture: `data:${type};base64,${base64}` }
  const href = `data:${type ?? 'application/octet-stream'};base64,${base64}`
  return { ...NO_BODY, remark, problem, download: { href, name: type === PDF ? 'response.pdf' : 'response.bin' } }
}

const describeBody = (test: DraftTest, body: string, type: string, size: string): Body => {
  if (body === '') return { ...NO_BODY, remark: 'The response has no body.' }
  return test.media === undefined ? describeText(body, type, size) : describeMedia(test.media, type, size)
}

const textOfResult = ({ result }: DraftTest): string => {
  if (isLongText(result)) return result.utf8.toString()
  const [first] = result.content
  return first?.type === 'text' ? first.text : ''
}

/** Returns the outcome of sending a tool's request. `failure` is the error as shown to the model. */
export const toResponseView = (test: DraftTest) => {
  const { response, request, callResult, schemaMismatch, nextPage, proposedSchema } = test
  const ended = request && { ...request, schemaMismatch }
  const outcome = showOutcome({ result: callResult, status: response?.status, request: ended })
  const mismatch = schemaMismatch && describeSchemaMismatch(schemaMismatch)
  if (response === undefined) {
    return {
      ...NO_BODY,
      time: undefined,
      size: undefined,
      headers: [],
      outcome,
      mismatch,
      nextPage,
      failure: textOfResult(test),
    }
  }
  const { status, headers, durationMs, bytes, body } = response
  const size = formatBytes(bytes)
  const type = [headers['content-type'] ?? ''].flat()[0] ?? ''
  const isGood = status >= 200 && status < 300
  const isError = isGood && isErrorResult(test.result)
  return {
    outcome,
    time: formatDuration(durationMs),
    size,
    headers: listHeaders(headers),
    ...describeBody(test, body, type, size),
    mismatch,
    nextPage,
    proposedSchema: proposedSchema && JSON.stringify(proposedSchema, null, 2),
    failure: isError ? textOfResult(test) : undefined,
  }
}
