import { formatBytes, formatDuration } from '../../lib/http/pages/format.ts'
import { isLongText } from '../../runtime/call/compiled-server.ts'
import type { ToolTest } from '../../runtime/try/tool-test.ts'
import { formatJson, type JsonSegment } from '../overview/format-json.ts'

/** Longest body that is shown, in characters: above it a page is no pleasure, and the whole can be had with cURL. */
const MAX_SHOWN_CHARACTERS = 100_000

/** What came of sending a tool, ready to be shown. */
export type AnswerView = {
  /** `200 OK`; undefined where no answer came. */
  status: string | undefined
  state: 'good' | 'failed'
  time: string | undefined
  size: string | undefined
  headers: readonly { name: string; value: string }[]
  /** Undefined where there is nothing to read. */
  body: readonly JsonSegment[] | undefined
  /** What stands in place of the body, or beside it. */
  remark: string | undefined
  /** Why no answer came, in the words that a model would read. */
  failure: string | undefined
}

const TEXT_TYPE = /^text\/|[/+](json|xml|yaml|javascript|ndjson|csv)\b|x-www-form-urlencoded/i

const listHeaders = (headers: Record<string, string | string[]>) =>
  Object.entries(headers).flatMap(([name, value]) => [value].flat().map(one => ({ name, value: one })))

const describeBody = (body: string, type: string, size: string): Pick<AnswerView, 'body' | 'remark'> => {
  if (body === '') return { body: undefined, remark: 'The answer has no body.' }
  const isText = type === '' ? !body.includes('\uFFFD') : TEXT_TYPE.test(type)
  if (!isText) {
    const [essence = ''] = type.split(';')
    const what = essence.startsWith('image/') ? `An image, ${essence}` : essence || 'Bytes of no known type'
    return { body: undefined, remark: `${what}, ${size}. The model gets it as it is.` }
  }
  const isCut = body.length > MAX_SHOWN_CHARACTERS
  if (isCut) {
    const shown = { text: body.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed(), isKey: false }
    return { body: [shown], remark: `The beginning of ${size}.` }
  }
  return { body: formatJson(body) ?? [{ text: body, isKey: false }], remark: undefined }
}

const textOfResult = ({ result }: ToolTest): string => {
  if (isLongText(result)) return result.utf8.toString()
  const [first] = result.content
  return first?.type === 'text' ? first.text : ''
}

export const toAnswerView = (test: ToolTest): AnswerView => {
  const { response } = test
  if (response === undefined) {
    const nothing = { status: undefined, time: undefined, size: undefined, headers: [], body: undefined }
    return { ...nothing, state: 'failed', remark: undefined, failure: textOfResult(test) }
  }
  const { status, statusText, headers, durationMs, bytes, body } = response
  const size = formatBytes(bytes)
  const type = [headers['content-type'] ?? ''].flat()[0] ?? ''
  const isGood = status >= 200 && status < 300
  const isRefused = isGood && !isLongText(test.result) && test.result.isError === true
  return {
    status: `${status} ${statusText}`.trim(),
    state: isGood && !isRefused ? 'good' : 'failed',
    time: formatDuration(durationMs),
    size,
    headers: listHeaders(headers),
    ...describeBody(body, type, size),
    failure: isRefused ? textOfResult(test) : undefined,
  }
}
