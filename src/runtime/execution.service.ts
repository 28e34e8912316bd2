import type { Recorder } from '../history/execution-record.ts'
import type { Actor } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import type { JsonObject } from '../lib/kernel/json.ts'
import type { CallLedger } from '../results/ledger/call-ledger.ts'
import { getServerFor } from '../servers/servers.service.ts'
import type { InstanceService } from '../servers/tools/instances.service.ts'
import type { Tool } from '../tools/tool.ts'
import { assertDefinition } from '../tools/tool-definition.ts'
import type { ToolService } from '../tools/tools.service.ts'
import type { UpstreamConnections } from '../upstreams/connection/upstream-connections.ts'
import type { CallContext } from './call/compiled-tool.ts'
import { endWith, type ToolResult } from './call/tool-result.ts'
import { compileTool } from './compile-tool.ts'
import { createHistoryReading, type HistoryParts } from './history-reading.ts'
import { type GlobalParts, loadOpenedGlobals, NO_GLOBALS } from './opened-globals.ts'
import { performCall } from './perform-call.ts'
import { planCall } from './plan-call.ts'
import { createServerCompiler, type ServerCompilerParts } from './server-compiler.ts'
import { findMatchedSchema } from './try/matched-schema.ts'
import { createSendSizes, type SendSizeParts } from './try/send-sizes.ts'
import { bindingsForTest, createToolDrafts } from './try/tool-draft.ts'
import { showTest, type ToolTest } from './try/tool-test.ts'
import { createUnsavedToolTest } from './try/unsaved-tool.ts'
import { createUpstreamPreviews } from './try/upstream-previews.ts'

export type ExecutionServiceParts = ServerCompilerParts &
  HistoryParts &
  GlobalParts &
  SendSizeParts & {
    callLedger: Pick<CallLedger, 'note'>
    recorder: Pick<Recorder, 'record'>
    tools: ToolService
    /** Memory for the responses that the tool editor keeps as samples. */
    sampleBytes: number
    instances: InstanceService
    upstreamConnections: Pick<UpstreamConnections, 'findFor' | 'sync'>
  }

export const createExecutionService = (parts: ExecutionServiceParts) => {
  const { db, tools, instances, http, limits, onInternalError } = parts
  const sendSizes = createSendSizes(parts)

  /**
   * Returns the globals and shaping settings of the server, if one is given. The server and the toolkit must belong to
   * the same organization, so that secrets stay within it even if the actor belongs to several.
   */
  const findWiring = async (actor: Actor, tool: Tool, serverId: string | undefined) => {
    const { organizationId } = await tools.getToolkitForTools(actor, tool.toolkitId)
    const { shaper, schemaChecks } = parts
    const shapingContext = { shaper, schemaChecks, owner: actor.userId, group: organizationId, compactTables: false }
    if (serverId === undefined) return { globals: NO_GLOBALS, shapingContext }
    const server = await getServerFor(db, actor, serverId, 'build')
    if (server.organizationId !== organizationId) throw new AppError('not_found', 'Server not found.')
    const globals = await loadOpenedGlobals(parts, server)
    return { globals, shapingContext: { ...shapingContext, compactTables: server.compactTables } }
  }

  return {
    ...createServerCompiler(parts),
    ...createHistoryReading(parts),
    ...createToolDrafts({ ...parts, sendSizes }),
    ...createUpstreamPreviews(parts),
    ...createUnsavedToolTest(parts),

    /** Sends a tool's request once, for its builder. Records only the size of the response. */
    testTool: async (
      actor: Actor,
      toolId: string,
      args: JsonObject,
      serverId: string | undefined,
      signal: AbortSignal,
    ): Promise<ToolTest & { proposedSchema: JsonObject | undefined }> => {
      const tool = await tools.getOwnTool(actor, toolId)
      const compiled = assertDefinition(tool)
      const { globals, shapingContext } = await findWiring(actor, tool, serverId)
      const bindings = bindingsForTest(tool, compiled, args, globals)
      const getPlan = () => planCall(tool, compiled, bindings, globals, limits, shapingContext)
      const outcome = await performCall(getPlan, http, args, signal, onInternalError)
      await sendSizes.note(toolId, shapingContext, outcome)
      const proposedSchema = await findMatchedSchema(db, tool, outcome, shapingContext, signal)
      return { ...(await showTest(outcome, globals.masker, signal)), proposedSchema }
    },

    /** Calls an instance as its server would, and records the call. */
    callInstance: async (
      actor: Actor,
      instanceId: string,
      args: JsonObject,
      { signal, requestId }: { signal: AbortSignal; requestId: string },
    ): Promise<ToolResult> => {
      const { instance, server } = await instances.getInstanceToCall(actor, instanceId)
      const compiled = assertDefinition(instance.tool)
      const globals = await loadOpenedGlobals(parts, server)
      const { organizationId: group, compactTables } = server
      const shapingContext = {
        shaper: parts.shaper,
        schemaChecks: parts.schemaChecks,
        owner: server.id,
        group,
        compactTables,
      }
      const tool = compileTool(instance, compiled, globals, parts, shapingContext)
      const caller = { userId: actor.userId, tokenId: '' }
      const call: CallContext = { caller, client: 'patchbay-api', requestId, signal }
      const outcome = await tool.call(args, call)
      parts.callLedger.note(outcome, signal)
      const { result, nextPage } = outcome
      return nextPage === undefined ? result : endWith(result, nextPage)
    },
  }
}

export type ExecutionService = ReturnType<typeof createExecutionService>
