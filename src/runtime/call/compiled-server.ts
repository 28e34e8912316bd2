import type { JsonObject, JsonValue, StopSignal } from '../kernel/index.ts'
import type { AccessPolicy, Caller, ShownAs } from '../servers/index.ts'
import type { ToolAnnotations } from '../toolkits/index.ts'
import type { CallLink, LogLevel, SessionPeer } from '../upstreams/index.ts'
import type { CallAccount } from './call-account.ts'
import type { CompiledPassthrough } from './compiled-passthrough.ts'

export type { AccessPolicy, Caller } from '../servers/index.ts'
export type { ToolAnnotations } from '../toolkits/index.ts'
export type { CallLink, LogLevel } from '../upstreams/index.ts'

/** Content blocks of a tool's answer (specification, server/tools#tool-result). */
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
 * One text block and no more, as the UTF-8 that it came as: decoding a long text only to encode it again is dear.
 * `structuredAs`: the text is JSON, and structured content besides, under this name.
 */
export type LongText = { utf8: Buffer; structuredAs?: string }

export type ToolResult = BlocksResult | LongText

/** The result of an upstream, as it answered: content of every kind, and whatever else is in it. */
export type PassedResult = {
  passed: JsonObject
  /** The same as JSON, where that was needed already: large results are not written twice. */
  json?: string
}

export const isLongText = (result: ToolResult | PassedResult): result is LongText => 'utf8' in result
export const isPassed = (result: ToolResult | PassedResult): result is PassedResult => 'passed' in result

export type CallContext = {
  caller: Caller
  /** As the client calls itself: `name/version`. */
  client: string | undefined
  /** Aborted when the caller is gone or has cancelled. */
  signal: StopSignal
  /** Where what is called may speak to its client: an upstream. */
  link?: CallLink | undefined
  /** What the ledger is told, once the call is recorded: for who answers it to fill in. */
  account?: CallAccount | undefined
  /** Content-Type of an API's answer that is given as it came: for who looks into it, and filled in as the account is. */
  answerType?: string | undefined
}

/** One tool of a mounted server; `call` runs the whole way (resolve, send, shape, record) and never throws. */
export type CompiledTool = {
  name: string
  title: string | undefined
  description: string | undefined
  inputSchema: JsonObject
  outputSchema: JsonObject | undefined
  /** Of an upstream's tool: as it declared them. */
  annotations: ToolAnnotations | JsonObject | undefined
  /** What else it declares, such as icons and `_meta`: shown behind the rest, as it is. */
  more?: JsonObject | undefined
  /**
   * Whether the builder has said that it changes nothing: then a token that may only read may call it. What the method
   * implies is no such word, nor what an upstream says of its tools; of one that calls another the inner one decides.
   */
  isReadOnly: boolean
  /** Of a tool that calls others: whether it calls one that is read-only, with these arguments. */
  isReadOnlyCall?: ((args: JsonValue | undefined) => boolean) | undefined
  /** Whether it may speak to its client while it runs, so that its context should have a link: an upstream's does. */
  isLinked?: boolean | undefined
  /** A refusal: of an upstream's tool, in the few cases where clients know what its code means. */
  call: (args: JsonValue | undefined, context: CallContext) => Promise<ToolResult | PassedAnswer>
  /** Where `call` cuts answers that are over a budget: the same, whole. */
  callWhole?: CompiledTool['call'] | undefined
}

/** Whether a call of a tool with these arguments only reads, by its builder's word or that of the tool it calls. */
export const onlyReads = (
  { isReadOnly, isReadOnlyCall }: Pick<CompiledTool, 'isReadOnly' | 'isReadOnlyCall'>,
  args: JsonValue | undefined,
): boolean => isReadOnlyCall?.(args) ?? isReadOnly

/** Something else that an upstream offers, as lists show it; `name`: what it is asked for by, such as its URI. */
export type OfferedItem = { name: string; json: JsonObject }

/** Why an upstream did not do something, as a JSON-RPC error. */
export type RefusedAnswer = { refused: { code: number; message: string; data?: JsonObject } }
/** What an upstream answered, or why not. */
export type PassedAnswer = PassedResult | RefusedAnswer

export const isRefused = (answer: object): answer is RefusedAnswer => 'refused' in answer

export type OfferLists = {
  resources: readonly OfferedItem[]
  resourceTemplates: readonly OfferedItem[]
  prompts: readonly OfferedItem[]
}

/** What asks an upstream. `group`: whose it is, where the request says so; heard by a server that groups. */
type Ask<Arguments extends readonly unknown[]> = (
  ...asked: [...Arguments, context: CallContext, group?: string]
) => Promise<PassedAnswer> | undefined

/** What the upstreams of a server can do besides, by which it says what it can do itself. */
export type OfferedCapabilities = { completions: boolean; logging: boolean; subscribe: boolean }

/** Resources and prompts of a server's upstreams. What is asked for answers undefined where none has it; never rejects. */
export type CompiledOffers = OfferLists & {
  /** Of each upstream by itself, where the server groups. */
  groups?: ReadonlyMap<string, OfferLists> | undefined
  readResource: Ask<[uri: string]>
  getPrompt: Ask<[name: string, args: JsonObject | undefined]>
  /** `params` are those of `completion/complete`; undefined as well where they name nothing. */
  complete: Ask<[params: JsonObject]>
  capabilities: OfferedCapabilities
  /** `onUpdated` gets the URI of what is updated, which may be a part of the resource. Undefined: nobody has it. */
  subscribe: (
    uri: string,
    onUpdated: (uri: string) => void,
    group?: string,
  ) => Promise<{ stop: () => void } | RefusedAnswer> | undefined
  tellRootsChanged: (peer: SessionPeer) => void
  /** Ends the connections that a client has of its own. */
  closeOwn: (peer: SessionPeer) => void
  /**
   * Asks for log messages from a level on, and tells those that come while nobody calls; answers how to stop. `origin`:
   * who listens, as in the links of its calls.
   */
  listenToLogs: (level: LogLevel, origin: object, listener: (params: JsonObject) => void) => () => void
}

/** An upstream of which nothing is known that it offers. */
export type MissingUpstream = { upstream: string; why: string }

/** What may be asked for by a name, or a URI. */
export type MissingKind = 'tools' | 'prompts' | 'resources'

/** Tools that are for some clients only: those that upstreams may ask something. */
export type UnlistedTools = {
  /** One that an upstream may have under this name; a call finds out. */
  find: (name: string) => CompiledTool | undefined
  /** Those that are known of a client, by connections of its own. */
  list: (peer: SessionPeer) => readonly CompiledTool[]
}

/** A server as one immutable value: what a call needs, and nothing that reads a database. */
export type CompiledServer = {
  id: string
  name: string
  description: string | undefined
  access: AccessPolicy
  /** In a fixed order: by name. */
  tools: readonly CompiledTool[]
  /** Upstreams that the lists lack, and why they do. */
  missing?: readonly MissingUpstream[] | undefined
  /** Whether it says of upstreams that they have failed, so that it is made anew when that changes. */
  tellsOutages?: boolean | undefined
  /** Names of the groups of a server that groups. */
  groups?: readonly string[] | undefined
  /** Why there is no tool or prompt of that name, or resource of that URI, where more is known than that. */
  explainMissing?: ((kind: MissingKind, name: string) => string | undefined) | undefined
  /** Where each tool of its upstreams stands by itself, and needs no approval. */
  unlisted?: UnlistedTools | undefined
  /** Where its tools are listed or searched for by what they cost. */
  shownAs?: ShownAs | undefined
  /** Where it has upstreams. */
  offers?: CompiledOffers | undefined
  /** Is told what was sent in answer to a call, whatever it was. */
  noteSent?: ((call: CallContext, sent: ToolResult | PassedAnswer) => void) | undefined
  /** Where it answers nothing itself, and passes all requests on. */
  passthrough?: CompiledPassthrough | undefined
}

/** A server as it would be compiled under each presentation; `shownAs`: which of them `auto` would come to. */
export type PresentedServers = Readonly<Record<'flat' | 'grouped' | 'search', CompiledServer>> &
  Pick<CompiledServer, 'shownAs'>
