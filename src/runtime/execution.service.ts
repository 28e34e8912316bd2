import { setTimeout as delay } from 'node:timers/promises'
import { createExecutionStore, type StoredExecution } from '../history/index.ts'
import { type Actor, AppError, type JsonObject, organizationIdsOf } from '../kernel/index.ts'
import type { Database } from '../platform/db/index.ts'
import type { Sealing } from '../platform/sealing.ts'
import {
  findPeople,
  getServerFor,
  type InstanceService,
  listGlobals,
  listNamesAtWork,
  type Presentation,
  readBlueprint,
} from '../servers/index.ts'
import { assertDefinition, findUsableToolkit, type Tool, type ToolService } from '../toolkits/index.ts'
import type {
  Passthroughs,
  UpstreamCatalogues,
  UpstreamConnections,
  UpstreamExchange,
  UpstreamOffers,
  UpstreamOutages,
  UpstreamReviews,
} from '../upstreams/index.ts'
import type { BudgetParts } from './budget/answer-budget.ts'
import type { AnswerPlaceParts } from './budget/answer-places.ts'
import { compilePassthrough } from './compile-passthrough.ts'
import { compileServer, openGlobals } from './compile-server.ts'
import { compileTool, type ExecutionParts, type OpenedGlobals, planCall } from './compile-tool.ts'
import type { UpstreamSources } from './compile-upstream-tools.ts'
import type { CallContext, CompiledServer, PresentedServers, ToolResult } from './compiled-server.ts'
import type { CallLedger } from './ledger/call-ledger.ts'
import { performCall } from './perform-call.ts'
import { type PresentingParts, presentTools } from './search/present-tools.ts'
import type { ShapingPlace } from './shape-by-rules.ts'
import { bindingsByName, createToolDrafts } from './tool-draft.ts'
import { showTest, type ToolTest } from './tool-test.ts'
import { createUpstreamPreviews } from './upstream-previews.ts'

export type ExecutionServiceParts = ExecutionParts &
  AnswerPlaceParts &
  BudgetParts & {
    db: Database
    sealing: Sealing
    ledger: Pick<CallLedger, 'note'>
    tools: ToolService
    instances: InstanceService
    connections: Pick<UpstreamConnections, 'findFor' | 'sync'>
    catalogues: Pick<UpstreamCatalogues, 'list'>
    exchange: UpstreamExchange
    outages: Pick<UpstreamOutages, 'find'>
    reviews: Pick<UpstreamReviews, 'listLiveSources' | 'withApprovedTools'>
    offers: Pick<UpstreamOffers, 'listPresented'>
    passthroughs: Pick<Passthroughs, 'wayOf' | 'forget'>
    /** Upstreams that a server's requests are passed on to; none of a server that answers them itself. */
    loadPassedOnTo: (serverId: string) => Promise<Parameters<Passthroughs['wayOf']>[1]>
    finder: PresentingParts['finder']
    embeddings: PresentingParts['embeddings']
    counting: PresentingParts['counting']
    onSkipped: (serverId: string, tool: string, reason: string) => void
  }

/** How long a reader of history waits for records on their way to the database. */
const SETTLE_MS = 1_000

export const createExecutionService = (parts: ExecutionServiceParts) => {
  const { db, sealing, tools, instances, http, recorder, limits, onInternalError } = parts
  const executions = createExecutionStore(db)

  /** Whoever has just made a call finds it in the history. */
  const settleRecords = () => Promise.race([recorder.flush(), delay(SETTLE_MS, undefined, { ref: false })])

  /** Those of which something is known: none is waited for. */
  const listSources = async (serverId: string): Promise<UpstreamSources> => {
    const upstreams = (await parts.connections.sync(serverId)).filter(({ isEnabled }) => isEnabled)
    const known = await parts.catalogues.list(upstreams)
    const sources = upstreams.flatMap(upstream => {
      const kept = known.get(upstream.id)
      return kept === undefined ? [] : { upstream, kept }
    })
    return { sources, absent: upstreams.filter(({ id }) => !known.has(id)) }
  }

  const findPassthrough = async (serverId: string): Promise<CompiledServer['passthrough']> =>
    compilePassthrough(serverId, parts.passthroughs.wayOf(serverId, await parts.loadPassedOnTo(serverId)), recorder)

  const compile = async (serverId: string): Promise<CompiledServer | undefined> => {
    const blueprint = await readBlueprint(db, serverId)
    if (blueprint === undefined) return undefined
    const passesOn = blueprint.server.presentation === 'passthrough'
    if (!passesOn) parts.passthroughs.forget(serverId)
    const passthrough = passesOn ? await findPassthrough(serverId) : undefined
    const known = await listSources(serverId)
    const sources = blueprint.server.reviewUpstreamChanges
      ? { ...known, sources: await parts.reviews.withApprovedTools(known.sources) }
      : known
    const onSkipped = (tool: string, reason: string) => parts.onSkipped(serverId, tool, reason)
    const compiled = await compileServer(blueprint, sources, { ...parts, onSkipped })
    return { ...(await presentTools(compiled, blueprint.server, { ...parts, onSkipped })), passthrough }
  }

  /** What is known of upstreams, without asking any of them. */
  const listKnownSources = async (serverId: string): Promise<UpstreamSources> => {
    const sources = await parts.reviews.listLiveSources(serverId)
    const presented = await parts.offers.listPresented(serverId)
    const absent = presented.filter(({ isHeard, upstream }) => !isHeard && upstream.isEnabled)
    return { sources, absent: absent.map(({ upstream }) => upstream) }
  }

  /**
   * The server as it would be under a presentation, to be looked at: no upstream is asked, and nothing is logged of
   * what is left out. For who may see it; undefined when there is none.
   */
  const compileAs = async (serverId: string, presentation: Presentation): Promise<CompiledServer | undefined> => {
    const blueprint = await readBlueprint(db, serverId, presentation)
    if (blueprint === undefined) return undefined
    const silent = { ...parts, embeddings: undefined, onSkipped: () => {} }
    const compiled = await compileServer(blueprint, await listKnownSources(serverId), silent)
    return presentTools(compiled, blueprint.server, silent)
  }

  /** As `compileAs`, under each presentation whose lists are made here. */
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

  /** Secrets stay within their organization, whatever others the actor belongs to. */
  const globalsFor = async (actor: Actor, tool: Tool, serverId: string | undefined): Promise<OpenedGlobals> => {
    if (serverId === undefined) return openGlobals([], sealing)
    const { organizationId } = await getServerFor(db, actor, serverId, 'build')
    const toolkit = await findUsableToolkit(db, tool.toolkitId, [organizationId])
    if (toolkit?.organizationId !== organizationId) throw new AppError('not_found', 'There is no such server.')
    return openGlobals(await listGlobals(db, serverId), sealing)
  }

  /** Where a tool is tried: as the server sends answers, where there is one. */
  const placeFor = async (actor: Actor, serverId: string | undefined): Promise<ShapingPlace> => {
    const server = serverId === undefined ? undefined : await getServerFor(db, actor, serverId, 'build')
    return { shaper: parts.shaper, owner: actor.userId, compactTables: server?.compactTables ?? false }
  }

  return {
    ...createToolDrafts(parts),
    ...createUpstreamPreviews(parts),

    /** Which presentation `auto` comes to for a server, and why; undefined when there is none. For who may see it. */
    findShownAs: async (serverId: string) => (await compileAs(serverId, 'auto'))?.shownAs,

    /** The whole server as one value; undefined when there is none. For the runtime's registry. */
    compile,
    compilePresented,

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
      const bindings = bindingsByName(names, args, globals)
      const place = await placeFor(actor, serverId)
      const findPlan = () => planCall(tool, compiled, bindings, globals, limits, place)
      return showTest(await performCall(findPlan, http, args, signal, onInternalError), globals.masker)
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
      const server = await getServerFor(db, actor, instance.serverId, 'build')
      const tool = compileTool(instance, compiled, globals, parts, server)
      const call: CallContext = { caller: { userId: actor.userId, tokenId: '' }, client: 'patchbay-api', signal }
      const result = await tool.call(args, call)
      parts.ledger.note(call, result)
      return result
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

    /** The names that a page of history needs: of the tools at work, and of those callers whom its readers may know. */
    listNames: async (
      actor: Actor,
      serverId: string,
      callerIds: readonly string[],
    ): Promise<{ tools: string[]; names: ReadonlyMap<string, string> }> => {
      const server = await getServerFor(db, actor, serverId, 'read')
      const [own, upstreams, people] = await Promise.all([
        listNamesAtWork(db, serverId),
        parts.offers.listPresented(serverId),
        findPeople(db, server, [...new Set(callerIds)]),
      ])
      const tools = [...own, ...upstreams.flatMap(upstream => upstream.tools.map(({ name }) => name))]
      return { tools, names: new Map(people.map(({ id, email }) => [id, email])) }
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
