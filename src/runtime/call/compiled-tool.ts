import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import type { Caller } from '../../servers/access/access.ts'
import type { ToolAnnotations } from '../../tools/tool.ts'
import type { CallLink } from '../../upstreams/connection/call-link.ts'
import type { CallCost } from './call-cost.ts'
import type { ToolResult, UpstreamResult } from './tool-result.ts'

export type CallContext = {
  readonly caller: Caller
  /** The client's `name/version`, as the client reports it. */
  readonly client: string | undefined
  /** Aborted when the caller disconnects or cancels. */
  readonly signal: StopSignal
  /** For upstream tools, which may send messages to the client. */
  readonly link?: CallLink | undefined
}

/** The result of a tool call, with metadata. */
export type ToolOutcome<Result = ToolResult | UpstreamResult> = {
  result: Result
  /** For the ledger. Undefined if the call was not recorded. */
  cost?: CallCost | undefined
  /** Content-Type of the API's response. Undefined if the result was shaped, because the type may no longer apply. */
  contentType?: string | undefined
}

/**
 * A tool of a mounted server. `call` resolves arguments, sends the request, shapes and records the
 * result, and never throws. `compile-tool.ts` creates HTTP tools and `compile-upstream-tools.ts`
 * upstream tools. `results/budget` wraps both to cut results.
 */
export type CompiledTool = {
  name: string
  title: string | undefined
  description: string | undefined
  inputSchema: JsonObject
  outputSchema: JsonObject | undefined
  /** For an upstream tool, the annotations of the upstream. */
  annotations: ToolAnnotations | JsonObject | undefined
  /** Other declared members, such as icons and `_meta`, which are listed unchanged. */
  more?: JsonObject | undefined
  /**
   * Whether the builder marked the tool as read-only, so that tokens with only the read scope may call it. The HTTP
   * method and the upstream's annotations do not count. If a tool calls other tools, the inner tool decides.
   */
  isReadOnly: boolean
  /** For a tool that calls other tools: whether the inner tool is read-only, given these arguments. */
  isReadOnlyCall?: ((args: JsonValue | undefined) => boolean) | undefined
  /**
   * Whether it may send messages to its client while it runs, as upstream tools do. Its context must then have a link.
   */
  isLinked?: boolean | undefined
  /** Returns a refusal only for errors of upstreams with codes that clients understand. */
  call: (args: JsonValue | undefined, context: CallContext) => Promise<ToolOutcome>
  /** Like `call`, without a budget. Undefined if `call` never cuts results. */
  callWhole?: CompiledTool['call'] | undefined
}

/** Whether a call with these arguments is read-only, according to the builder. */
export const onlyReads = (
  { isReadOnly, isReadOnlyCall }: Pick<CompiledTool, 'isReadOnly' | 'isReadOnlyCall'>,
  args: JsonValue | undefined,
): boolean => isReadOnlyCall?.(args) ?? isReadOnly
