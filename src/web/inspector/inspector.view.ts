import { z } from 'zod'
import type { CallResult } from '../../history/call-result.ts'
import type { StoredExecution } from '../../history/executions.store.ts'
import { formatBytes, formatCount, formatDuration, formatNumber } from '../../lib/kernel/format.ts'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../lib/kernel/json.ts'
import { MAX_JSON_DEPTH } from '../../lib/kernel/limits.ts'
import type { ExchangedMessage, ListedTool, RpcError } from '../../mcp/in-process-client.ts'
import { ERROR } from '../../mcp/protocol.ts'
import { showOutcome } from '../history/call-outcome.view.ts'
import { type ArgumentField, choicesOf, hintOf } from './argument-form.ts'

/** Maximum characters shown per block or message. Nobody reads more than that in a browser. */
const MAX_SHOWN_CHARACTERS = 20_000
/** Maximum messages shown per call. Listing the tools of a large server alone takes a dozen messages. */
const MAX_SHOWN_MESSAGES = 12
/** Maximum Base64 length of a picture shown on the page. */
const MAX_PICTURE_CHARACTERS = 2_000_000
const PICTURES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'])

export type ShownText = { text: string; cut: string | undefined }

/** Cuts long text and states how much of it is shown. */
const cutText = (text: string): ShownText =>
  text.length <= MAX_SHOWN_CHARACTERS
    ? { text, cut: undefined }
    : {
        text: text.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed(),
        cut: `The first ${formatNumber(MAX_SHOWN_CHARACTERS)} of ${formatNumber(text.length)} characters are shown.`,
      }

const indent = (value: unknown): string => JSON.stringify(value, undefined, 2)

/** Indents JSON that is short and not deeply nested, because the indentation grows with the square of the depth. */
const showJsonText = (text: string): ShownText => {
  if (text.length > MAX_SHOWN_CHARACTERS || !/^\s*[{[]/.test(text)) return cutText(text)
  const parsed = parseJson(text, MAX_JSON_DEPTH)
  return cutText(parsed.ok ? indent(parsed.value) : text)
}

const Block = z.looseObject({ type: z.string() })
const TextBlock = z.object({ type: z.literal('text'), text: z.string() })
const MediaBlock = z.object({ type: z.enum(['image', 'audio']), data: z.string(), mimeType: z.string() })
const ResourceBlock = z.object({
  type: z.literal('resource'),
  resource: z.object({
    uri: z.string(),
    mimeType: z.string().optional(),
    text: z.string().optional(),
    blob: z.string().optional(),
  }),
})

/** A content block on the page: text, a picture, or a description of binary content. */
type ShownBlock = { label: string; shown?: ShownText; picture?: string }

/** Returns the size of the decoded Base64 data as text. */
const bytesOf = (base64: string): string => formatBytes(Math.floor((base64.length * 3) / 4))

const toBlock = (value: JsonValue): ShownBlock => {
  const text = TextBlock.safeParse(value).data
  if (text !== undefined) return { label: 'text', shown: showJsonText(text.text) }
  const media = MediaBlock.safeParse(value).data
  if (media !== undefined) {
    const { type, mimeType, data } = media
    const label = `${type}, ${mimeType}, ${bytesOf(data)}`
    const isShown = PICTURES.has(mimeType) && data.length <= MAX_PICTURE_CHARACTERS
    return isShown ? { label, picture: `data:${mimeType};base64,${data}` } : { label }
  }
  const resource = ResourceBlock.safeParse(value).data?.resource
  if (resource !== undefined) {
    const { uri, mimeType = 'unknown type', text: content, blob } = resource
    const label = `resource ${uri}, ${mimeType}${blob === undefined ? '' : `, ${bytesOf(blob)}`}`
    return content === undefined ? { label } : { label, shown: cutText(content) }
  }
  return { label: Block.safeParse(value).data?.type ?? 'unknown', shown: cutText(indent(value)) }
}

type Reply = { result?: JsonObject | undefined; error?: RpcError | undefined }

/** Returns how a call ended that is not in the history. */
const resultOf = ({ result, error }: Reply): CallResult => {
  if (error !== undefined) return error.code === ERROR.invalidParams ? 'invalid_arguments' : 'failed'
  return result?.isError === true ? 'rejected' : 'success'
}

/** Returns the result of a call: either blocks and structured content, or an error. `recorded` is its history record. */
export const toResultView = (reply: Reply, recorded: StoredExecution | undefined) => {
  const { result, error } = reply
  const request = { method: 'tools/call' }
  const outcome = showOutcome(recorded ?? { result: resultOf(reply), status: undefined, request })
  if (error !== undefined) {
    return { problem: `The server rejected the request: ${error.message} (${error.code}).`, outcome, blocks: [] }
  }
  const { content, structuredContent } = result ?? {}
  return {
    problem: undefined,
    outcome,
    blocks: (Array.isArray(content) ? content : []).map(toBlock),
    structured: structuredContent === undefined ? undefined : cutText(indent(structuredContent)),
  }
}

/** Returns the time of day in UTC, with milliseconds. */
const clockText = (time: Date): string => time.toISOString().slice(11, 23)

const methodOf = (text: string): string => {
  // The inspector's client writes the method near the beginning of a request.
  const found = /"method":"([^"]*)"/.exec(text.slice(0, 200))
  return found?.[1] ?? 'request'
}

/** Returns the newest messages in chronological order. */
export const toMessageViews = (messages: readonly ExchangedMessage[]) => {
  const views = messages.map(({ direction, at, text }, index) => {
    const before = messages[index - 1]
    const isSent = direction === 'sent'
    return {
      isSent,
      title: isSent ? methodOf(text) : `response to ${methodOf(before?.text ?? '')}`,
      at: at.toISOString(),
      clock: clockText(at),
      size: formatBytes(Buffer.byteLength(text)),
      took: isSent || before === undefined ? undefined : formatDuration(at.getTime() - before.at.getTime()),
      shown: showJsonText(text),
    }
  })
  const left = views.length - MAX_SHOWN_MESSAGES
  return {
    items: views.slice(-MAX_SHOWN_MESSAGES),
    leftOut: left > 0 ? `${formatCount(left, 'earlier message')} not shown` : undefined,
  }
}

/** Returns a form field with its typed value and error. */
export const toFieldView =
  (typed: (name: string) => string, errors: ReadonlyMap<string, string>) => (field: ArgumentField, index: number) => {
    const { name, kind, isRequired, schema } = field
    const isChoice = kind === 'choice' || kind === 'boolean'
    const error = errors.get(name)
    return {
      id: `argument-${index}`,
      name: `argument:${name}`,
      label: isRequired ? name : `${name}, optional`,
      kind,
      value: typed(name),
      hint: hintOf(field),
      error: error === undefined ? undefined : `${name} ${error}.`,
      options: isChoice ? [{ value: '', text: isRequired ? 'choose' : 'not set' }, ...choicesOf(field)] : undefined,
      inputmode: kind === 'integer' ? 'numeric' : kind === 'number' ? 'decimal' : undefined,
      type: typeof schema.type === 'string' ? schema.type : kind,
    }
  }

const HINTS = [
  ['readOnlyHint', 'read-only'],
  ['destructiveHint', 'destructive'],
  ['idempotentHint', 'idempotent'],
] as const

/** Returns the data shown above a tool's form. */
export const toToolView = (tool: ListedTool) => {
  const annotations = isJsonObject(tool.annotations) ? tool.annotations : {}
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description ?? '',
    hints: HINTS.flatMap(([key, words]) => (annotations[key] === true ? [words] : [])),
    definition: cutText(indent(tool)),
  }
}

/** Returns the row for a tool in the list, with the first line of its description. */
export const toRowView = ({ name, description = '' }: ListedTool) => ({
  name,
  about: (description.split('\n', 1)[0] ?? '').slice(0, 200).toWellFormed(),
})
