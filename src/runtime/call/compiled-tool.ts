import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import type { Caller } from '../../servers/access/access.ts'
import type { ToolAnnotations } from '../../tools/tool.ts'
import type { CallLink } from '../../upstreams/connection/call-link.ts'
import type { CallCost } from './call-cost.ts'
import type { ToolResult, UpstreamResult } from './tool-result.ts'

export type CallContext = {
  readonly caller: Caller
  /** The client's `name/version`, as it reports it. */
  readonly client: string | undefined
  /** Aborted when the caller disconnects or cancels. */
  readonly signal: StopSignal
  /** For tools that may send their client messages: those of upstreams. */
  readonly link?: CallLink | undefined
}

/** The result of a tool call, with metadata. */
export type ToolOutcome<Result = ToolResult | UpstreamResult> = {
  result: Result
  /** For the ledger. Undefined if the call was not recorded. */
  cost?: CallCost | undefined
  /** Content-Type of the API's response; undefined if the result was shaped, because it no longer describes it. */
  contentType?: string | undefined
}

/**
 * A tool of a mounted server. `call` resolves, sends, shapes and records, and never throws: made by `compile-tool.ts` for
 * an HTTP tool and by `compile-upstream-tools.ts` for one of an upstream, and wrapped by `results/budget` to cut results.
 */
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
  /** The call without a budget; undefined if `call` never cuts results. */
  callWhole?: CompiledTool['call'] | undefined
}

/** Whether a call with these arguments is read-only, according to the builder. */
export const onlyReads = (
  { isReadOnly, isReadOnlyCall }: Pick<CompiledTool, 'isReadOnly' | 'isReadOnlyCall'>,
  args: JsonValue | undefined,
): boolean => isReadOnlyCall?.(args) ?? isReadOnly
