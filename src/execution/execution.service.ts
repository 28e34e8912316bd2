import { setTimeout as delay } from 'node:timers/promises'
import { createExecutionStore, type StoredExecution } from '../history/index.ts'
import { type Actor, AppError, type JsonObject, organizationIdsOf } from '../kernel/index.ts'
import type { Database } from '../platform/db/index.ts'
import type { OutboundResponse } from '../platform/net/index.ts'
import type { Sealing } from '../platform/sealing.ts'
import { type Bindings, getServerFor, type InstanceService, listGlobals, readBlueprint } from '../servers/index.ts'
import { assertDefinition, findUsableToolkit, type Tool, type ToolService } from '../toolkits/index.ts'
import { compileServer, openGlobals } from './compile-server.ts'
import { compileTool, type ExecutionParts, type OpenedGlobals, planCall } from './compile-tool.ts'
import type { CompiledServer, ToolResult } from './compiled-server.ts'
import { toCurl } from './curl.ts'
import { createMasker, type Masker } from './masking.ts'
import { maskRequest, performCall, toMicroseconds } from './perform-call.ts'

export type ExecutionServiceParts = ExecutionParts & {
  db: Database
  sealing: Sealing
  tools: ToolService
  instances: InstanceService
  onSkipped: (serverId: string, tool: string, reason: string) => void
}

/** How long a reader of history waits for records on their way to the database. */
const SETTLE_MS = 1_000

/** What `POST /tools/:id/test` shows; secrets masked. */
export type ToolTest = {
  request:
    | { method: string; url: string; headers: readonly (readonly [string, string])[]; body?: string | undefined }
    | undefined
  response: { status: number; headers: Record<string, string | string[]>; body: string; durationMs: number } | undefined
  curl: string | undefined
  result: ToolResult
}

const NO_GLOBALS: OpenedGlobals = { values: new Map(), secretKeys: new Set(), masker: createMasker([]) }

/** Arguments are the caller's; parameters that none was given for take the server's global of their name, if there is one. */
const bindingsForTest = (names: readonly string[], args: JsonObject, globals: OpenedGlobals): Bindings =>
  Object.fromEntries(
    names.flatMap(name =>
      !Object.hasOwn(args, name) && globals.values.has(name) ? [[name, { source: 'server', key: name } as const]] : [],
    ),
  )

const maskHeaders = (headers: OutboundResponse['headers'], masker: Masker) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? masker.text(value) : value.map(masker.text),
    ]),
  )

const shownResponse = (response: OutboundResponse, durationMs: number, masker: Masker): ToolTest['response'] => ({
  status: response.status,
  headers: maskHeaders(response.headers, masker),
  body: masker.text(response.body.toString('utf8')).toWellFormed(),
  durationMs: toMicroseconds(durationMs),
})

export const createExecutionService = (parts: ExecutionServiceParts) => {
  const { db, sealing, tools, instances, http, recorder, limits, onInternalError } = parts
  const executions = createExecutionStore(db)

  /** Whoever has just made a call finds it in the history. */
  const settleRecords = () => Promise.race([recorder.flush(), delay(SETTLE_MS, undefined, { ref: false })])

  const compile = async (serverId: string): Promise<CompiledServer | undefined> => {
    const blueprint = await readBlueprint(db, serverId)
    if (blueprint === undefined) return undefined
    const onSkipped = (tool: string, reason: string) => parts.onSkipped(serverId, tool, reason)
    return compileServer(blueprint, { ...parts, onSkipped })
  }

  /** Secrets stay within their organization, whatever others the actor belongs to. */
  const globalsFor = async (actor: Actor, tool: Tool, serverId: string | undefined): Promise<OpenedGlobals> => {
    if (serverId === undefined) return NO_GLOBALS
    const { organizationId } = await getServerFor(db, actor, serverId, 'build')
    const toolkit = await findUsableToolkit(db, tool.toolkitId, [organizationId])
    if (toolkit?.organizationId !== organizationId) throw new AppError('not_found', 'There is no such server.')
    return openGlobals(await listGlobals(db, serverId), sealing)
  }

  return {
    /** The whole server as one value; undefined when there is none. For the runtime's registry. */
    compile,

    /** Sends a tool once, as the builder would have it called; nothing is recorded. */
    testTool: async (
      actor: Actor,
      toolId: string,
      args: JsonObject,
      serverId: string | undefined,
      signal: AbortSignal,
    ): Promise<ToolTest> => {
      const tool = await tools.getOwnTool(actor, toolId)
      const compiled = assertDefinition(tool)
      const globals = await globalsFor(actor, tool, serverId)
      const names = compiled.template.parameters.map(parameter => parameter.name)
      const plan = planCall(tool, compiled, bindingsForTest(names, args, globals), globals, limits)
      const { result, request, response, durationMs } = await performCall(plan, http, args, signal, onInternalError)
      const shown = request && maskRequest(request, globals.masker)
      return {
        request: shown,
        response: response && shownResponse(response, durationMs, globals.masker),
        curl: shown && toCurl(shown),
        result,
      }
    },

    /** Calls an instance as its server would, and records it. */
    callInstance: async (
      actor: Actor,
      instanceId: string,
      args: JsonObject,
      signal: AbortSignal,
    ): Promise<ToolResult> => {
      const instance = await instances.getInstanceForChange(actor, instanceId)
      const compiled = assertDefinition(instance.tool)
      const globals = openGlobals(await listGlobals(db, instance.serverId), sealing)
      const tool = compileTool(instance, compiled, globals, parts)
      return tool.call(args, { caller: { userId: actor.userId, tokenId: '' }, client: 'patchbay-api', signal })
    },

    listExecutions: async (
      actor: Actor,
      serverId: string,
      query: Omit<Parameters<typeof executions.list>[0], 'serverId'>,
    ) => {
      await getServerFor(db, actor, serverId, 'read')
      await settleRecords()
      const [page, gaps] = await Promise.all([
        executions.list({ ...query, serverId }),
        executions.listGaps({ serverId, from: query.from, to: query.to }),
      ])
      return { ...page, gaps }
    },

    getExecution: async (actor: Actor, id: string): Promise<StoredExecution> => {
      await settleRecords()
      const execution = await executions.find(id, organizationIdsOf(actor))
      if (execution === undefined) throw new AppError('not_found', 'There is no such execution.')
      return execution
    },
  }
}

export type ExecutionService = ReturnType<typeof createExecutionService>
