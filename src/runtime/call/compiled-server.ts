import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import type { AccessPolicy, Caller } from '../../servers/access/access.ts'
import type { ShownAs } from '../../servers/settings/shown-as.ts'
import type { ToolAnnotations } from '../../tools/tool.ts'
import type { CallLink, LogLevel, SessionPeer } from '../../upstreams/connection/call-link.ts'
import type { CallAccount } from './call-account.ts'
import type { CompiledPassthrough } from './compiled-passthrough.ts'

export type { AccessPolicy, Caller } from '../../servers/access/access.ts'
export type { ToolAnnotations } from '../../tools/tool.ts'
export type { CallLink, LogLevel } from '../../upstreams/connection/call-link.ts'

/** Content blocks of a tool result (specification, server/tools#tool-result). */
export type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'image'; data: string; mimeType: string }
  | { type: 'audio'; data: string; mimeType: string }
  | { type: 'resource'; resource: { uri: string; mimeType: string; blob: string } }

export type BlocksResult = {
  content: ContentBlock[]
  structuredContent?: JsonValue
  isError?: boolean
}

/**
 * A result of one text block, as the original UTF-8: decoding and encoding a long text again would be expensive. With
 * `structuredAs`, the text is JSON and also the structured content under that name.
 */
export type LongText = { utf8: Buffer; structuredAs?: string }

export type ToolResult = BlocksResult | LongText

/** The result of an upstream, unchanged. */
export type PassedResult = {
  passed: JsonObject
  /** The same as JSON, if it has been serialized already. */
  json?: string
}

export const isLongText = (result: ToolResult | PassedResult): result is LongText => 'utf8' in result
export const isPassed = (result: ToolResult | PassedResult): result is PassedResult => 'passed' in result

export type CallContext = {
  readonly caller: Caller
  /** The client's `name/version`, as it reports it. */
  readonly client: string | undefined
  /** Aborted when the caller disconnects or cancels. */
  readonly signal: StopSignal
  /** For tools that may send their client messages: those of upstreams. */
  readonly link?: CallLink | undefined
}

/** The result of a tool call, and what others need to know about it. */
export type ToolOutcome<Result = ToolResult | PassedAnswer> = {
  result: Result
  /** For the ledger. Undefined if the call was not recorded. */
  account?: CallAccount | undefined
  /** Content-Type of an API response whose body is the result, unchanged. */
  contentType?: string | undefined
}

export type SentCall = { account: CallAccount | undefined; signal: StopSignal }

/** A tool of a mounted server. `call` resolves, sends, shapes and records, and never throws. */
export type CompiledTool = {
  name: string
  title: string | undefined
  description: string | undefined
  inputSchema: JsonObject
  outputSchema: JsonObject | undefined
  /** An upstream's own annotations for its tools. */
  annotations: ToolAnnotations | JsonObject | undefined
  /** Other declared members, such as icons and `_meta`, which are listed unchanged. */
  more?: JsonObject | undefined
  /**
   * Whether the builder marked it as read-only, so that tokens with read scope may call it. The HTTP method and the
   * upstream's annotations do not count. For a tool that calls others, the inner tool decides.
   */
  isReadOnly: boolean
  /** For a tool that calls others: whether it calls a read-only one with these arguments. */
  isReadOnlyCall?: ((args: JsonValue | undefined) => boolean) | undefined
  /** Whether it may send messages to its client while it runs, as upstream tools do. Its context then needs a link. */
  isLinked?: boolean | undefined
  /** Returns a refusal only for those errors of upstreams whose codes clients understand. */
  call: (args: JsonValue | undefined, context: CallContext) => Promise<ToolOutcome>
  /** If `call` cuts results to a budget: the same without cutting. */
  callWhole?: CompiledTool['call'] | undefined
}

/** Whether a call with these arguments only reads, according to the builder. */
export const onlyReads = (
  { isReadOnly, isReadOnlyCall }: Pick<CompiledTool, 'isReadOnly' | 'isReadOnlyCall'>,
  args: JsonValue | undefined,
): boolean => isReadOnlyCall?.(args) ?? isReadOnly

/**
 * A resource, template or prompt of an upstream as lists show it. `name` is what clients request it by, such as its
 * URI.
 */
export type OfferedItem = { name: string; json: JsonObject }

export type RefusedAnswer = { refused: { code: number; message: string; data?: JsonObject } }
export type PassedAnswer = PassedResult | RefusedAnswer

export const isRefused = (answer: object): answer is RefusedAnswer => 'refused' in answer

export type OfferLists = {
  resources: readonly OfferedItem[]
  resourceTemplates: readonly OfferedItem[]
  prompts: readonly OfferedItem[]
}

/** A request to an upstream. `group` is the upstream named in the request, if the server is grouped. */
type Ask<Arguments extends readonly unknown[]> = (
  ...asked: [...Arguments, context: CallContext, group?: string]
) => Promise<PassedAnswer> | undefined

/** Optional capabilities of a server's upstreams, which determine those of the server. */
export type OfferedCapabilities = { completions: boolean; logging: boolean; subscribe: boolean }

/**
 * Resources and prompts of a server's upstreams. Requests return undefined if no upstream has what is named, and never
 * reject.
 */
export type CompiledOffers = OfferLists & {
  /** The lists of each upstream, if the server is grouped. */
  groups?: ReadonlyMap<string, OfferLists> | undefined
  readResource: Ask<[uri: string]>
  getPrompt: Ask<[name: string, args: JsonObject | undefined]>
  /** Takes the params of `completion/complete`. Also returns undefined if they name nothing. */
  complete: Ask<[params: JsonObject]>
  capabilities: OfferedCapabilities
  /**
   * `onUpdated` receives the URI that was updated, which may be a part of the resource. Returns undefined if no
   * upstream has it.
   */
  subscribe: (
    uri: string,
    onUpdated: (uri: string) => void,
    group?: string,
  ) => Promise<{ stop: () => void } | RefusedAnswer> | undefined
  tellRootsChanged: (peer: SessionPeer) => void
  /** Closes the connections that belong to one client. */
  closeOwn: (peer: SessionPeer) => void
  /**
   * Subscribes to log messages from a level on, including those outside of calls. Returns a function that stops it.
   * `origin` identifies the listener, as in the links of its calls.
   */
  listenToLogs: (level: LogLevel, origin: object, listener: (params: JsonObject) => void) => () => void
}

/** An upstream whose offers are not known. */
export type MissingUpstream = { upstream: string; why: string }

/** What clients request by name or URI. */
export type MissingKind = 'tools' | 'prompts' | 'resources'

/** Tools only for clients that upstreams can ask something. */
export type UnlistedTools = {
  /** Returns a tool that an upstream may have under this name. A call finds out. */
  find: (name: string) => CompiledTool | undefined
  /** Returns the tools known from this client's own connections. */
  list: (peer: SessionPeer) => readonly CompiledTool[]
}

/** A server as one immutable value: everything that calls need without reading the database. */
export type CompiledServer = {
  id: string
  name: string
  description: string | undefined
  access: AccessPolicy
  /** Sorted by name. */
  tools: readonly CompiledTool[]
  /** Upstreams missing in the lists, and why. */
  missing?: readonly MissingUpstream[] | undefined
  /** Whether clients are told about failed upstreams, so that it must be rebuilt when that changes. */
  tellsOutages?: boolean | undefined
  /** The names of its groups, if it is grouped. */
  groups?: readonly string[] | undefined
  /** Returns why there is no such tool, prompt or resource, if more is known than that. */
  explainMissing?: ((kind: MissingKind, name: string) => string | undefined) | undefined
  /** Only if the tools of upstreams are listed one by one and need no approval. */
  unlisted?: UnlistedTools | undefined
  /** Only if the presentation depends on the cost of its tools. */
  shownAs?: ShownAs | undefined
  /** Only if it has upstreams. */
  offers?: CompiledOffers | undefined
  noteSent?: ((call: SentCall, sent: ToolResult | PassedAnswer) => void) | undefined
  /** Only if it passes all requests on. */
  passthrough?: CompiledPassthrough | undefined
}

/** A server compiled for each presentation. `shownAs` is the one that `auto` would choose. */
export type PresentedServers = Readonly<Record<'flat' | 'grouped' | 'search', CompiledServer>> &
  Pick<CompiledServer, 'shownAs'>
