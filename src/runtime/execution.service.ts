import { setTimeout as delay } from 'node:timers/promises'
import type { Recorder } from '../history/execution-record.ts'
import { createExecutionStore, type StoredExecution } from '../history/executions.store.ts'
import { type Actor, organizationIdsOf } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import type { JsonObject } from '../lib/kernel/json.ts'
import type { Passthroughs } from '../passthrough/route/passthroughs.ts'
import type { CutResultPlaceParts } from '../results/budget/add-cut-result-tools.ts'
import type { BudgetParts } from '../results/budget/result-budget.ts'
import type { CallLedger } from '../results/ledger/call-ledger.ts'
import type { ShapingPlace } from '../results/shape/shape-by-rules.ts'
import { findPeople } from '../servers/access/people.store.ts'
import { readBlueprint } from '../servers/blueprint.store.ts'
import type { Presentation } from '../servers/server.ts'
import { getServerFor } from '../servers/servers.service.ts'
import type { InstanceService } from '../servers/tools/instances.service.ts'
import { listAllInstanceNames } from '../servers/tools/instances.store.ts'
import { type PresentingParts, presentTools } from '../tool-search/present-tools.ts'
import type { Tool } from '../tools/tool.ts'
import { assertDefinition } from '../tools/tool-definition.ts'
import { findUsableToolkit } from '../tools/toolkits.store.ts'
import type { ToolService } from '../tools/tools.service.ts'
import type { UpstreamCatalogues } from '../upstreams/catalogue/catalogues.ts'
import type { UpstreamOffers } from '../upstreams/catalogue/upstream-offers.ts'
import type { UpstreamConnections } from '../upstreams/connection/upstream-connections.ts'
import type { UpstreamOutages } from '../upstreams/connection/upstream-outages.ts'
import type { UpstreamConversation } from '../upstreams/conversation/upstream-conversation.ts'
import type { UpstreamReviews } from '../upstreams/review/upstream-reviews.ts'
import type { UpstreamLoading } from '../upstreams/upstream-loading.ts'
import type { CompiledServer, PresentedServers } from './call/compiled-server.ts'
import type { CallContext } from './call/compiled-tool.ts'
import type { ToolResult } from './call/tool-result.ts'
import { compilePassthrough } from './compile-passthrough.ts'
import { compileServer } from './compile-server.ts'
import { compileTool, type ExecutionParts, planCall } from './compile-tool.ts'
import type { UpstreamSources } from './compile-upstream-tools.ts'
import { type GlobalParts, loadOpenedGlobals, NO_GLOBALS, type OpenedGlobals } from './opened-globals.ts'
import { performCall } from './perform-call.ts'
import { bindingsByName, createToolDrafts } from './try/tool-draft.ts'
import { showTest, type ToolTest } from './try/tool-test.ts'
import { createUpstreamPreviews } from './try/upstream-previews.ts'

export type ExecutionServiceParts = ExecutionParts &
  CutResultPlaceParts &
  BudgetParts &
  GlobalParts & {
    recorder: Pick<Recorder, 'record' | 'flush'>
    shaper: ShapingPlace['shaper']
    callLedger: Pick<CallLedger, 'note'>
    tools: ToolService
    instances: InstanceService
    upstreamConnections: Pick<UpstreamConnections, 'findFor' | 'sync'>
    upstreamCatalogues: Pick<UpstreamCatalogues, 'list'>
    upstreamConversation: UpstreamConversation
    upstreamOutages: Pick<UpstreamOutages, 'find'>
    upstreamReviews: Pick<UpstreamReviews, 'listLiveSources' | 'withApprovedTools'>
    upstreamOffers: Pick<UpstreamOffers, 'listPresented'>
    passthroughs: Pick<Passthroughs, 'routeOf' | 'forget'>
    upstreamLoading: Pick<UpstreamLoading, 'loadPassedOnTo'>
    finder: PresentingParts['finder']
    embeddings: PresentingParts['embeddings']
    counting: PresentingParts['counting']
    onSkipped: (serverId: string, tool: string, reason: string) => void
  }

/** Maximum time that a reader of the history waits for records to be stored. */
const SETTLE_MS = 1_000

export const createExecutionService = (parts: ExecutionServiceParts) => {
  const { db, tools, instances, http, recorder, limits, onInternalError } = parts
  const executions = createExecutionStore(db)

  /** Waits until calls that have just been made are in the history. */
  const settleRecords = () => Promise.race([recorder.flush(), delay(SETTLE_MS, undefined, { ref: false })])

  /** Returns the upstreams whose offers are known, without waiting for others. */
  const listSources = async (serverId: string): Promise<UpstreamSources> => {
    const upstreams = (await parts.upstreamConnections.sync(serverId)).filter(({ isEnabled }) => isEnabled)
    const known = await parts.upstreamCatalogues.list(upstreams)
    const sources = upstreams.flatMap(upstream => {
      const stored = known.get(upstream.id)
      return stored === undefined ? [] : { upstream, stored }
    })
    return { sources, absent: upstreams.filter(({ id }) => !known.has(id)) }
  }

  const findPassthrough = async (serverId: string): Promise<CompiledServer['passthrough']> =>
    compilePassthrough(
      serverId,
      parts.passthroughs.routeOf(serverId, await parts.upstreamLoading.loadPassedOnTo(serverId)),
      recorder,
    )

  const compile = async (serverId: string): Promise<CompiledServer | undefined> => {
    const blueprint = await readBlueprint(db, serverId)
    if (blueprint === undefined) return undefined
    const passesOn = blueprint.server.presentation === 'passthrough'
    if (!passesOn) parts.passthroughs.forget(serverId)
    const passthrough = passesOn ? await findPassthrough(serverId) : undefined
    const known = await listSources(serverId)
    const sources = blueprint.server.reviewUpstreamChanges
      ? { ...known, sources: await parts.upstreamReviews.withApprovedTools(known.sources) }
      : known
    const onSkipped = (tool: string, reason: string) => parts.onSkipped(serverId, tool, reason)
    const compiled = await compileServer(blueprint, sources, { ...parts, onSkipped })
    return { ...(await presentTools(compiled, blueprint.server, { ...parts, onSkipped })), passthrough }
  }

  /** Returns what is known about upstreams, without any request to them. */
  const listKnownSources = async (serverId: string): Promise<UpstreamSources> => {
    const sources = await parts.upstreamReviews.listLiveSources(serverId)
    const presented = await parts.upstreamOffers.listPresented(serverId)
    const absent = presented.filter(({ hasCatalogue, upstream }) => !hasCatalogue && upstream.isEnabled)
    return { sources, absent: absent.map(({ upstream }) => upstream) }
  }

  /**
   * Compiles a server under another presentation, for display: no requests to upstreams, no log entries. Does not check
   * access. Undefined if there is no such server.
   */
  const compileAs = async (serverId: string, presentation: Presentation): Promise<CompiledServer | undefined> => {
    const blueprint = await readBlueprint(db, serverId, presentation)
    if (blueprint === undefined) return undefined
    const silent = { ...parts, embeddings: undefined, onSkipped: () => {} }
    const compiled = await compileServer(blueprint, await listKnownSources(serverId), silent)
    return presentTools(compiled, blueprint.server, silent)
  }

  /** Like `compileAs`, for each presentation with lists. */
  const compilePresented = async (serverId: string): Promise<PresentedServers | undefined> => {
    const forGroups = await readBlueprint(db, serverId, 'grouped')
    const blueprint = await readBlueprint(db, serverId)
    if (blueprint === undefined || forGroups === undefined) return undefined
    const { server } = blueprint
    const silent = { ...parts, embeddings: undefined, onSkipped: () => {} }
    const sources = await listKnownSources(serverId)
    const flat = await compileServer({ ...blueprint, server: { ...server, presentation: 'flat' } }, sources, silent)
    const grouped = await compileServer(forGroups, sources, silent)
    const search = await presentTools(flat, { ...server, presentation: 'search' }, silent)
    const shownAs = server.presentation === 'auto' ? (await presentTools(flat, server, silent)).shownAs : undefined
    return { flat, grouped, search, shownAs }
  }

  /** Secrets stay within their organization, even if the actor belongs to several. */
  const globalsFor = async (actor: Actor, tool: Tool, serverId: string | undefined): Promise<OpenedGlobals> => {
    if (serverId === undefined) return NO_GLOBALS
    const { organizationId } = await getServerFor(db, actor, serverId, 'build')
    const toolkit = await findUsableToolkit(db, tool.toolkitId, [organizationId])
    if (toolkit?.organizationId !== organizationId) throw new AppError('not_found', 'Server not found.')
    return loadOpenedGlobals(parts, serverId, organizationId)
  }

  /** Shapes results as the server would, if there is one. */
  const placeFor = async (actor: Actor, serverId: string | undefined): Promise<ShapingPlace> => {
    const server = serverId === undefined ? undefined : await getServerFor(db, actor, serverId, 'build')
    const { organizationId: group = actor.userId, compactTables = false } = server ?? {}
    return { shaper: parts.shaper, owner: actor.userId, group, compactTables }
  }

  return {
    ...createToolDrafts(parts),
    ...createUpstreamPreviews(parts),

    /**
     * Returns which presentation `auto` chooses for a server, and why. Does not check access. Undefined if there is no
     * such server.
     */
    findShownAs: async (serverId: string) => (await compileAs(serverId, 'auto'))?.shownAs,

    /** Compiles a server for the registry. Undefined if there is no such server. */
    compile,
    compilePresented,

    /** Sends a tool's request once for its builder, without recording it. */
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
      const bindings = bindingsByName(names, args, globals)
      const place = await placeFor(actor, serverId)
      const findPlan = () => planCall(tool, compiled, bindings, globals, limits, place)
      return showTest(await performCall(findPlan, http, args, signal, onInternalError), globals.masker, signal)
    },

    /** Calls an instance as its server would, and records the call. */
    callInstance: async (
      actor: Actor,
      instanceId: string,
      args: JsonObject,
      signal: AbortSignal,
    ): Promise<ToolResult> => {
      const instance = await instances.getInstanceForChange(actor, instanceId)
      const compiled = assertDefinition(instance.tool)
      const server = await getServerFor(db, actor, instance.serverId, 'build')
      const globals = await loadOpenedGlobals(parts, server.id, server.organizationId)
      const { organizationId: group, compactTables } = server
      const place = { shaper: parts.shaper, owner: server.id, group, compactTables }
      const tool = compileTool(instance, compiled, globals, parts, place)
      const call: CallContext = { caller: { userId: actor.userId, tokenId: '' }, client: 'patchbay-api', signal }
      const outcome = await tool.call(args, call)
      parts.callLedger.note(outcome, signal)
      return outcome.result
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

    /**
     * Returns the names that a page of the history needs: of current tools, and of callers whom its readers may know.
     */
    listNames: async (
      actor: Actor,
      serverId: string,
      callerIds: readonly string[],
    ): Promise<{ tools: string[]; names: ReadonlyMap<string, string> }> => {
      const server = await getServerFor(db, actor, serverId, 'read')
      const [own, upstreams, people] = await Promise.all([
        listAllInstanceNames(db, serverId),
        parts.upstreamOffers.listPresented(serverId),
        findPeople(db, server, [...new Set(callerIds)]),
      ])
      const tools = [...own, ...upstreams.flatMap(upstream => upstream.tools.map(({ name }) => name))]
      return { tools, names: new Map(people.map(({ id, email }) => [id, email])) }
    },

    getExecution: async (actor: Actor, id: string): Promise<StoredExecution> => {
      await settleRecords()
      const execution = await executions.find(id, organizationIdsOf(actor))
      if (execution === undefined) throw new AppError('not_found', 'Execution not found.')
      return execution
    },
  }
}

export type ExecutionService = ReturnType<typeof createExecutionService>
