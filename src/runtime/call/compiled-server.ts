import type { JsonObject } from '../../lib/kernel/json.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import type { AccessPolicy } from '../../servers/access/access.ts'
import type { CutResultListing } from '../../servers/settings/cut-result-listing.ts'
import type { ShownAs } from '../../servers/settings/shown-as.ts'
import type { LogLevel, SessionPeer } from '../../upstreams/connection/call-link.ts'
import type { CompiledPassthrough } from './compiled-passthrough.ts'
import type { CallContext, CompiledTool, ToolOutcome } from './compiled-tool.ts'
import type { RefusedResult, UpstreamResult } from './tool-result.ts'

/**
 * A resource, template or prompt of an upstream, as in lists. `name` is the name or URI by which clients request it.
 */
export type OfferedItem = { name: string; json: JsonObject }

export type OfferLists = {
  resources: readonly OfferedItem[]
  resourceTemplates: readonly OfferedItem[]
  prompts: readonly OfferedItem[]
}

/** Sends a request to an upstream. On a grouped server, `group` is the upstream that the client named. */
type Ask<Arguments extends readonly unknown[]> = (
  ...asked: [...Arguments, context: CallContext, group?: string]
) => Promise<UpstreamResult> | undefined

/** Optional capabilities of a server. Each is available if at least one upstream supports it. */
export type OfferedCapabilities = { completions: boolean; logging: boolean; subscribe: boolean }

/**
 * Resources and prompts of a server's upstreams. Requests never reject, and return undefined if no upstream has the
 * named item.
 */
export type CompiledOffers = OfferLists & {
  /** The lists of each upstream. Defined only if the server is grouped. */
  groups?: ReadonlyMap<string, OfferLists> | undefined
  readResource: Ask<[uri: string]>
  getPrompt: Ask<[name: string, args: JsonObject | undefined]>
  /** Takes the params of `completion/complete`. Returns undefined if they do not name an existing item. */
  complete: Ask<[params: JsonObject]>
  capabilities: OfferedCapabilities
  /**
   * Subscribes to a resource. `onUpdated` receives the updated URI, which may identify a part of the resource. Returns
   * undefined if no upstream has the resource.
   */
  subscribe: (
    uri: string,
    onUpdated: (uri: string) => void,
    group?: string,
  ) => Promise<{ stop: () => void } | RefusedResult> | undefined
  tellRootsChanged: (peer: SessionPeer) => void
  /** Closes the connections opened for a single client. */
  closeOwn: (peer: SessionPeer) => void
  /**
   * Subscribes to log messages at or above this level, including those sent outside calls. Returns a function that
   * unsubscribes. `origin` identifies the listener; pass the same object as in the `CallLink` of its calls.
   */
  listenToLogs: (level: LogLevel, origin: object, listener: (params: JsonObject) => void) => () => void
}

/** An upstream whose catalogue is unknown. */
export type MissingUpstream = { upstream: string; why: string }

/** Kinds of items that clients request by name or URI. */
export type MissingKind = 'tools' | 'prompts' | 'resources'

/** Tools that upstreams offer only to clients that can be asked for input. */
export type UnlistedTools = {
  /** Returns a tool that an upstream may have under this name. Only calling it shows whether it exists. */
  find: (name: string) => CompiledTool | undefined
  /** Returns the tools that are known from this client's own connections. */
  list: (peer: SessionPeer) => readonly CompiledTool[]
}

/** What the lists of a server depend on, besides its definition. The server is rebuilt when it has changed. */
export type ListBasis = {
  cutResultTools: CutResultListing
  /** Names of tools, most used first. Empty unless tools may be found by search. */
  mostUsed: readonly string[]
  /** Returns the most used tools that the list names. Undefined unless tools are found by search. */
  nameMostUsed?: ((mostUsed: readonly string[]) => string[]) | undefined
}

/** How clients call a tool that is not listed: with the tool `through`, whose argument `inner` has the arguments. */
export type OuterCall = { through: string; where: JsonObject; inner: string }

/** A server compiled from its database rows, so that calls need not read the database. Immutable. */
export type CompiledServer = {
  id: string
  name: string
  /** The instructions that clients receive: the server's description and its upstreams' instructions. */
  instructions: string | undefined
  access: AccessPolicy
  /** Whether pages of any origin may call the server while it is public. */
  allowAnyOrigin?: boolean | undefined
  /** Sorted by name. */
  tools: readonly CompiledTool[]
  /** Upstreams whose items are missing from the lists, with the reasons. */
  missing?: readonly MissingUpstream[] | undefined
  /** Whether clients are told about failed upstreams. The server is then rebuilt when an upstream fails or recovers. */
  tellsOutages?: boolean | undefined
  /** The names of the groups. Defined only if the server is grouped. */
  groups?: readonly string[] | undefined
  /** Returns why a tool, prompt or resource is missing, or undefined if the reason is unknown. */
  explainMissing?: ((kind: MissingKind, name: string) => string | undefined) | undefined
  /**
   * Returns how clients call the tool with this name in the history, or undefined if there is none. Defined if tools are
   * in groups or found by search.
   */
  findOuterCall?: ((name: string) => OuterCall | undefined) | undefined
  /** Defined if upstream tools are listed one by one and do not need approval. */
  unlisted?: UnlistedTools | undefined
  basis?: ListBasis | undefined
  /** Defined if the presentation depends on the token cost of the tools. */
  shownAs?: ShownAs | undefined
  /** Defined if the server has upstreams with known catalogues. */
  offers?: CompiledOffers | undefined
  /** Receives the outcome of each call whose result is sent to the client, with the call's signal. */
  noteSent?: ((outcome: ToolOutcome, signal: StopSignal) => void) | undefined
  /** Defined if this is a passthrough server. */
  passthrough?: CompiledPassthrough | undefined
}

/** A server compiled for each presentation. `shownAs` is the presentation that `auto` would select. */
export type PresentedServers = Readonly<Record<'flat' | 'grouped' | 'search', CompiledServer>> &
  Pick<CompiledServer, 'shownAs'>
