import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import type { Releases } from '../../lib/kernel/releases.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import type { Caller } from '../../servers/access/access.ts'
import type { Finding } from '../../tools/lint/finding.ts'
import type { ToolAnnotations } from '../../tools/tool.ts'
import type { CallLink } from '../../upstreams/connection/call-link.ts'
import type { CallCost } from './call-cost.ts'
import { endWith, type ToolResult, type UpstreamResult } from './tool-result.ts'

export type CallContext = {
  readonly caller: Caller
  /** The client's `name/version`, as reported by the client. */
  readonly client: string | undefined
  /** The id of the HTTP request. Undefined for a call that did not arrive over HTTP, as from a page. */
  readonly requestId?: string | undefined
  /** Aborted when the caller disconnects or cancels the call. */
  readonly signal: StopSignal
  /** Releases the memory of the result once the result has been sent. */
  readonly releases?: Pick<Releases, 'add'> | undefined
  /** The link for upstream tools, which may send messages to the client. */
  readonly link?: CallLink | undefined
}

/** The result of a tool call, with additional data about the call. */
export type ToolOutcome<Result = ToolResult | UpstreamResult> = {
  result: Result
  /** The cost of the call, for the ledger. Undefined if the call was not recorded. */
  cost?: CallCost | undefined
  /** Content-Type of the API response. Undefined if the result was shaped, because the type may no longer apply. */
  contentType?: string | undefined
  /** A line that tells the model how to get the next page of results. Not part of the result yet (`withNextPage`). */
  nextPage?: string | undefined
}

/** Ends the result with the line about the next page. Done last, because a cut result must have it too. */
export const withNextPage = (outcome: ToolOutcome): ToolOutcome =>
  outcome.nextPage === undefined ? outcome : { ...outcome, result: endWith(outcome.result, outcome.nextPage) }

/**
 * A tool of a mounted server. `call` resolves arguments, sends the request, shapes and records the result, and never
 * throws. `compile-tool.ts` creates HTTP tools, and `compile-upstream-tools.ts` creates upstream tools.
 * `results/budget` wraps both kinds to cut results.
 */
export type CompiledTool = {
  name: string
  title: string | undefined
  description: string | undefined
  inputSchema: JsonObject
  outputSchema: JsonObject | undefined
  /** The tool's annotations. For an upstream tool, as declared by the upstream. */
  annotations: ToolAnnotations | JsonObject | undefined
  /** Other declared members, such as icons and `_meta`. Listed unchanged. */
  more?: JsonObject | undefined
  /**
   * Whether the builder marked the tool as read-only, so that a token with only the read scope may call it. The HTTP
   * method and the upstream's annotations do not count. For a tool that calls another tool, see `isReadOnlyCall`.
   */
  isReadOnly: boolean
  /** For a tool that calls other tools: returns whether the inner tool named in the arguments is read-only. */
  isReadOnlyCall?: ((args: JsonValue | undefined) => boolean) | undefined
  /**
   * Whether the tool may send messages to the client during a call, as upstream tools do. If so, the call's context
   * must have a link.
   */
  isLinked?: boolean | undefined
  /**
   * Whether lists and searches omit the tool: one for cut results until it is needed, or one that is disabled or lacks a
   * value. It can be called all the same, and the last two then say so.
   */
  isHidden?: boolean | undefined
  /** The toolkit or attached MCP server that the tool comes from, if it has one. */
  group?: string | undefined
  /** The tool's name in the history, if it differs: tools of attached MCP servers have their own names in groups. */
  recordedAs?: string | undefined
  /** Findings about the tool's request and bindings. Builders see them, clients do not. */
  findings?: readonly Finding[] | undefined
  /** Calls the tool. Returns a refusal only for an upstream error whose code clients understand. */
  call: (args: JsonObject, context: CallContext) => Promise<ToolOutcome>
  /** Same as `call`, but without a token budget. Undefined if `call` never cuts results. */
  callWhole?: CompiledTool['call'] | undefined
}

/** Returns whether a call with these arguments is read-only, according to the builder. */
export const onlyReads = (
  { isReadOnly, isReadOnlyCall }: Pick<CompiledTool, 'isReadOnly' | 'isReadOnlyCall'>,
  args: JsonValue | undefined,
): boolean => isReadOnlyCall?.(args) ?? isReadOnly
