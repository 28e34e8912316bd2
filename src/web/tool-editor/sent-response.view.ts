import { formatBytes, formatDuration } from '../../lib/kernel/format.ts'
import { isErrorResult, isLongText } from '../../runtime/call/tool-result.ts'
import type { ToolTest } from '../../runtime/try/tool-test.ts'
import { showOutcome } from '../history/call-outcome.view.ts'
import { formatJson, type JsonSegment } from '../overview/format-json.ts'

/**
 * Maximum characters of the body shown, because a longer one would make the page slow. The cURL command returns the
 * whole body.
 */
const MAX_SHOWN_CHARACTERS = 100_000

const TEXT_TYPE = /^text\/|[/+](json|xml|yaml|javascript|ndjson|csv)\b|x-www-form-urlencoded/i

const listHeaders = (headers: Record<string, string | string[]>) =>
  Object.entries(headers).flatMap(([name, value]) => [value].flat().map(one => ({ name, value: one })))

const describeBody = (
  body: string,
  type: string,
  size: string,
): { body: readonly JsonSegment[] | undefined; remark: string | undefined } => {
  if (body === '') return { body: undefined, remark: 'The response has no body.' }
  const isText = type === '' ? !body.includes('\uFFFD') : TEXT_TYPE.test(type)
  if (!isText) {
    const [essence = ''] = type.split(';')
    const kind = essence.startsWith('image/') ? `Image (${essence})` : essence || 'Binary data of unknown type'
    return { body: undefined, remark: `${kind}, ${size}. The model gets it unchanged.` }
  }
  const isCut = body.length > MAX_SHOWN_CHARACTERS
  if (isCut) {
    const shown = { text: body.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed(), isKey: false }
    return { body: [shown], remark: `Showing only the beginning of ${size}.` }
  }
  return { body: formatJson(body) ?? [{ text: body, isKey: false }], remark: undefined }
}

const textOfResult = ({ result }: ToolTest): string => {
  if (isLongText(result)) return result.utf8.toString()
  const [first] = result.content
  return first?.type === 'text' ? first.text : ''
}

/** Returns the outcome of sending a tool's request. `failure` is the error as shown to the model. */
export const toResponseView = (test: ToolTest) => {
  const { response, request, callResult } = test
  const outcome = showOutcome({ result: callResult, status: response?.status, request })
  if (response === undefined) {
    const nothing = { time: undefined, size: undefined, headers: [], body: undefined }
    return { ...nothing, outcome, remark: undefined, failure: textOfResult(test) }
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
    ...describeBody(body, type, size),
    failure: isError ? textOfResult(test) : undefined,
  }
}
