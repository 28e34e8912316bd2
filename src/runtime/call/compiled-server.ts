import type { JsonObject } from '../../lib/kernel/json.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import type { AccessPolicy } from '../../servers/access/access.ts'
import type { ShownAs } from '../../servers/settings/shown-as.ts'
import type { LogLevel, SessionPeer } from '../../upstreams/connection/call-link.ts'
import type { CompiledPassthrough } from './compiled-passthrough.ts'
import type { CallContext, CompiledTool, ToolOutcome } from './compiled-tool.ts'
import type { RefusedResult, UpstreamResult } from './tool-result.ts'

/**
 * A resource, template or prompt of an upstream as lists show it. `name` is what clients request it by, such as its
 * URI.
 */
export type OfferedItem = { name: string; json: JsonObject }

export type OfferLists = {
  resources: readonly OfferedItem[]
  resourceTemplates: readonly OfferedItem[]
  prompts: readonly OfferedItem[]
}

/** A request to an upstream. `group` is the upstream named in the request, if the server is grouped. */
type Ask<Arguments extends readonly unknown[]> = (
  ...asked: [...Arguments, context: CallContext, group?: string]
) => Promise<UpstreamResult> | undefined

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
  ) => Promise<{ stop: () => void } | RefusedResult> | undefined
  tellRootsChanged: (peer: SessionPeer) => void
  /** Closes the connections that belong to one client. */
  closeOwn: (peer: SessionPeer) => void
  /**
   * Subscribes to log messages from a level on, including those outside of calls. Returns a function that stops it.
   * `origin` identifies the listener, as in the links of its calls.
   */
  listenToLogs: (level: LogLevel, origin: object, listener: (params: JsonObject) => void) => () => void
}

/** An upstream whose catalogue is unknown. */
export type MissingUpstream = { upstream: string; why: string }

/** Items that clients request by name or URI. */
export type MissingKind = 'tools' | 'prompts' | 'resources'

/** Tools that exist only for clients that can be asked for input. */
export type UnlistedTools = {
  /** Returns a tool that an upstream may have under this name. Calling it shows whether it exists. */
  find: (name: string) => CompiledTool | undefined
  /** Returns the tools known from this client's own connections. */
  list: (peer: SessionPeer) => readonly CompiledTool[]
}

/** A server compiled from its rows: everything that calls need without reading the database. Never changes. */
export type CompiledServer = {
  id: string
  name: string
  description: string | undefined
  access: AccessPolicy
  /** Sorted by name. */
  tools: readonly CompiledTool[]
  /** Upstreams missing in the lists, with reasons. */
  missing?: readonly MissingUpstream[] | undefined
  /** Whether clients are told about failed upstreams, so that it must be rebuilt when that changes. */
  tellsOutages?: boolean | undefined
  /** The names of its groups, if it is grouped. */
  groups?: readonly string[] | undefined
  /** Returns the reason why a tool, prompt or resource is missing, if it is known. */
  explainMissing?: ((kind: MissingKind, name: string) => string | undefined) | undefined
  /** Only if the tools of upstreams are listed one by one and need no approval. */
  unlisted?: UnlistedTools | undefined
  /** Only if the presentation depends on the cost of its tools. */
  shownAs?: ShownAs | undefined
  /** Only if it has upstreams. */
  offers?: CompiledOffers | undefined
  /** Receives every outcome that is sent, with the signal of its call. */
  noteSent?: ((outcome: ToolOutcome, signal: StopSignal) => void) | undefined
  /** Only if it is a passthrough server. */
  passthrough?: CompiledPassthrough | undefined
}

/** A server compiled for each presentation. `shownAs` is the one that `auto` would choose. */
export type PresentedServers = Readonly<Record<'flat' | 'grouped' | 'search', CompiledServer>> &
  Pick<CompiledServer, 'shownAs'>
