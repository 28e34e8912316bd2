import { dayOf } from '../history/tool-days.store.ts'
import { isJsonObject } from '../lib/kernel/json.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import { mapInTurns } from '../lib/worker/pause.ts'
import {
  addCutResultTools,
  type CutResultPlaceParts,
  groupCutResultTools,
  nameCutResultGroup,
} from '../results/budget/add-cut-result-tools.ts'
import { type BudgetParts, createResultLimit } from '../results/budget/result-budget.ts'
import type { CutCache } from '../results/cut-cache/cut-cache.ts'
import type { CallLedger } from '../results/ledger/call-ledger.ts'
import type { LongMaskingFor } from '../results/mask/masking-job.ts'
import type { ShapingContext } from '../results/shape/shape-by-rules.ts'
import { policyOf } from '../servers/access/access.ts'
import type { Instance, ServerBlueprint } from '../servers/server.ts'
import { type CutResultListing, decideListing, type LimitedInstance } from '../servers/settings/cut-result-listing.ts'
import { checkDefinition } from '../tools/tool-definition.ts'
import type { UpstreamOutages } from '../upstreams/connection/upstream-outages.ts'
import type { Upstream } from '../upstreams/upstream.ts'
import type { CompiledServer } from './call/compiled-server.ts'
import { cutText, onOneLine } from './call/group-texts.ts'
import { compileTool, type ExecutionParts } from './compile-tool.ts'
import { compileUpstreamOffers } from './compile-upstream-offers.ts'
import { compileUpstreamTools, type UpstreamSources, type UpstreamToolParts } from './compile-upstream-tools.ts'
import { type OpenedGlobals, toOpenedGlobals } from './opened-globals.ts'
import { explainMissing } from './presentation/explain-missing.ts'
import { compileGroupedTools, createOuterCalls, GET_TOOLS } from './presentation/grouped-tools.ts'
import { mergeInstructions } from './presentation/server-instructions.ts'
import {
  byGroupName,
  type CompiledInstance,
  groupToolkits,
  groupUpstreams,
  listWithGroups,
} from './presentation/tool-groups.ts'
import { compileUnlistedTools } from './unlisted-tools.ts'

/** Maximum length of an upstream's error message, which may quote the output of a process. */
const MAX_OUTAGE_CHARS = 300
/** Why an upstream's items are missing from a list, if the upstream has not failed. */
const NOT_FETCHED = 'It has not responded yet.'

export type ServerParts = ExecutionParts &
  Omit<UpstreamToolParts, 'limit' | 'shapingContext'> &
  BudgetParts &
  CutResultPlaceParts & {
    sealing: Sealing
    shaper: ShapingContext['shaper']
    schemaChecks: ShapingContext['schemaChecks']
    longMaskingFor: LongMaskingFor
    callLedger: Pick<CallLedger, 'note'>
    upstreamOutages: Pick<UpstreamOutages, 'find'>
    onSkipped: (tool: string, reason: string) => void
    /** Whether the results of an instance are known to be small, so that no calls have to prove it. */
    isKnownSmall: (instance: LimitedInstance) => boolean
    /**
     * Called when a result is cut, if the lists of the server depend on it, until it has returned true on that day.
     * Never rejects.
     */
    onCut: (serverId: string, tool: string, listing: CutResultListing) => Promise<boolean>
  }

/** Returns the cache for cut results, which also calls `onCut` for the first of each day. */
const notingCuts = (
  cutCache: Pick<CutCache, 'put'>,
  onCut: (tool: string) => Promise<boolean>,
): Pick<CutCache, 'put'> => {
  let notedOn: string | undefined
  return {
    put: result => {
      const today = dayOf(new Date())
      const tool = isJsonObject(result.about) ? result.about.tool : undefined
      if (today !== notedOn && typeof tool === 'string') {
        notedOn = today
        void onCut(tool).then(isNoted => {
          if (!isNoted) notedOn = undefined
        })
      }
      return cutCache.put(result)
    },
  }
}

const compileInstances = async (
  instances: readonly Instance[],
  opened: OpenedGlobals,
  parts: ServerParts & Pick<UpstreamToolParts, 'limit' | 'shapingContext'>,
): Promise<CompiledInstance[]> => {
  const made = await mapInTurns(instances, (instance): CompiledInstance[] => {
    const compiled = checkDefinition(instance.tool)
    if (!compiled.ok) {
      parts.onSkipped(instance.name, compiled.error.map(error => `${error.path} ${error.message}`).join('; '))
      return []
    }
    const tool = compileTool(instance, compiled.value, opened, parts, parts.shapingContext)
    return [{ instance, tool: parts.limit(tool, instance.maxResponseTokens) }]
  })
  return made.flat()
}

/**
 * Returns a function that describes an upstream's failure. Secrets are masked, because every client sees the
 * description. If the server reviews upstream changes, the description contains no text from the upstream, because
 * models would read it.
 */
const describeOutages =
  (outages: ServerParts['upstreamOutages'], { masker }: OpenedGlobals, isReviewed: boolean) =>
  (upstream: Upstream): string | undefined => {
    const outage = outages.find(upstream)
    if (outage === undefined) return undefined
    return cutText(masker.text(onOneLine(isReviewed ? outage.ownWords : outage.why)), MAX_OUTAGE_CHARS)
  }

/**
 * Compiles a server's rows into an immutable value, so that calls need not read the database. Yields to the event loop,
 * because compiling a large server takes a while. `onSkipped` receives tools that do not compile, such as those saved
 * by another version of Patchbay.
 */
export const compileServer = async (
  { server, globals, instances, toolkits, use }: ServerBlueprint,
  { sources, absent }: UpstreamSources,
  parts: ServerParts,
): Promise<CompiledServer> => {
  const longMasking = parts.longMaskingFor({ owner: server.id, group: server.organizationId })
  const opened = toOpenedGlobals({ ...server, globals }, parts.sealing, longMasking)
  const isGrouped = server.presentation === 'grouped'
  const upstreamNames = [...sources.map(({ upstream }) => upstream), ...absent].map(({ name }) => name)
  const cutResultGroup = nameCutResultGroup([...toolkits.map(({ title }) => onOneLine(title)), ...upstreamNames])
  const listing = decideListing({ server, instances, use }, parts.isKnownSmall)
  const isHidden = !listing.isListed
  const cutCache =
    server.cutResultTools === 'auto'
      ? notingCuts(parts.cutCache, tool => parts.onCut(server.id, tool, listing))
      : parts.cutCache
  const limit = createResultLimit(server, isGrouped ? cutResultGroup : undefined, { ...parts, cutCache })
  const { organizationId, compactTables } = server
  const shapingContext = {
    shaper: parts.shaper,
    schemaChecks: parts.schemaChecks,
    owner: server.id,
    group: organizationId,
    compactTables,
  }
  const toolParts = { ...parts, limit, shapingContext, masker: opened.masker }
  const own = await compileInstances(instances, opened, toolParts)
  const outageOf = describeOutages(parts.upstreamOutages, opened, server.reviewUpstreamChanges)
  const missing = absent.map(upstream => ({ upstream, why: () => outageOf(upstream) ?? NOT_FETCHED }))
  const explainUpstream = explainMissing(sources, missing)
  const common = {
    id: server.id,
    name: server.name,
    instructions: mergeInstructions(server.description, sources, opened.masker.text),
    access: policyOf(server),
    allowAnyOrigin: server.allowAnyOrigin,
    missing: missing.map(({ upstream, why }) => ({ upstream: upstream.name, why: why() })),
    offers: compileUpstreamOffers(sources, opened, { ...parts, isGrouped }),
    noteSent: parts.callLedger.note,
    basis: { cutResultTools: listing, mostUsed: use.mostUsed },
  }
  const hasUnlisted = sources.length > 0 && !server.reviewUpstreamChanges
  if (isGrouped) {
    const upstreams = await groupUpstreams(sources, absent, opened, { ...toolParts, outageOf, hasUnlisted })
    const holding = [...groupToolkits(toolkits, own, upstreamNames), ...upstreams].sort(byGroupName)
    const continuing = groupCutResultTools(cutResultGroup, server, holding, toolParts)
    const groups = [...holding, ...continuing.map(group => ({ ...group, isHidden }))]
    return {
      ...common,
      tellsOutages: upstreams.length > 0,
      groups: groups.map(({ name }) => name),
      explainMissing: (kind, name) =>
        kind === 'tools'
          ? `Unknown tool: ${name}. The tools of this server are in groups: see ${GET_TOOLS}`
          : explainUpstream?.(kind, name),
      tools: compileGroupedTools(groups),
      findOuterCall: createOuterCalls(groups),
    }
  }
  const tools = listWithGroups(own, groupToolkits(toolkits, own, upstreamNames))
  const all = [...tools, ...(await compileUpstreamTools(sources, tools, opened, toolParts))]
  const names = new Set(all.map(({ name }) => name))
  const unlisted = hasUnlisted ? compileUnlistedTools(sources, names, opened, toolParts) : undefined
  all.push(...addCutResultTools(server, all, unlisted, toolParts).map(tool => ({ ...tool, isHidden })))
  return {
    ...common,
    tellsOutages: absent.length > 0,
    explainMissing: explainUpstream,
    tools: all.sort((a, b) => (a.name < b.name ? -1 : 1)),
    unlisted,
  }
}
