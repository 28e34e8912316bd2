import { z } from 'zod'
import { formatBytes, formatDuration, formatNumber } from '../../lib/http/pages/format.ts'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../lib/kernel/json.ts'
import { MAX_JSON_DEPTH } from '../../lib/kernel/limits.ts'
import type { ExchangedMessage, ListedTool, RpcError } from '../../mcp/in-process-client.ts'
import { type ArgumentField, choicesOf, hintOf } from './argument-form.ts'

/** Characters of one block or message that a page shows: more than that nobody reads in a browser. */
const MAX_SHOWN_CHARACTERS = 20_000
/** Messages shown of one exchange: a large server's list alone takes a dozen pages. */
const MAX_SHOWN_MESSAGES = 12
/** Base64 of a picture that is shown in its place. */
const MAX_PICTURE_CHARACTERS = 2_000_000
const PICTURES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'])

export type ShownText = { text: string; cut: string | undefined }

/** A text as a page shows it: long ones are cut, and it is said how much is missing. */
const cutText = (text: string): ShownText =>
  text.length <= MAX_SHOWN_CHARACTERS
    ? { text, cut: undefined }
    : {
        text: text.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed(),
        cut: `The first ${formatNumber(MAX_SHOWN_CHARACTERS)} of ${formatNumber(text.length)} characters are shown.`,
      }

const indent = (value: unknown): string => JSON.stringify(value, undefined, 2)

/** JSON with line breaks, where it is short and flat enough to be read: indenting grows with the square of the depth. */
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

/** What of a block stands on the page: a text, a picture, or words about bytes. */
type ShownBlock = { label: string; shown?: ShownText; picture?: string }

/** Bytes that so much Base64 stands for. */
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

/** What a call was answered with: blocks and structured content, or why there are none. */
export const toAnswerView = ({ result, error }: { result?: JsonObject | undefined; error?: RpcError | undefined }) => {
  if (error !== undefined) {
    return { problem: `The server refused the request: ${error.message} (${error.code}).`, isError: true, blocks: [] }
  }
  const { content, structuredContent, isError } = result ?? {}
  return {
    problem: undefined,
    isError: isError === true,
    blocks: (Array.isArray(content) ? content : []).map(toBlock),
    structured: structuredContent === undefined ? undefined : cutText(indent(structuredContent)),
  }
}

/** The time of day to the millisecond, in UTC. */
const clockText = (time: Date): string => time.toISOString().slice(11, 23)

const methodOf = (text: string): string => {
  // A request of ours: small, and its method comes first.
  const found = /"method":"([^"]*)"/.exec(text.slice(0, 200))
  return found?.[1] ?? 'request'
}

/** The messages in their order, the newest of them where there are many. */
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
    leftOut: left > 0 ? `${formatNumber(left)} before these` : undefined,
  }
}

/** A field of the form, with what was typed and what is wrong with it. */
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
      options: isChoice ? [{ value: '', text: isRequired ? 'choose' : 'left out' }, ...choicesOf(field)] : undefined,
      inputmode: kind === 'integer' ? 'numeric' : kind === 'number' ? 'decimal' : undefined,
      type: typeof schema.type === 'string' ? schema.type : kind,
    }
  }

const HINTS = [
  ['readOnlyHint', 'only reads'],
  ['destructiveHint', 'may destroy'],
  ['idempotentHint', 'idempotent'],
] as const

/** What stands above a tool's form. */
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

/** The row of a tool in a list: its first line says enough. */
export const toRowView = ({ name, description = '' }: ListedTool) => ({
  name,
  about: (description.split('\n', 1)[0] ?? '').slice(0, 200).toWellFormed(),
})
