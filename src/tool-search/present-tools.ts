import { RESERVED_TOOL_PREFIX } from '../lib/kernel/names.ts'
import type { TokenWork } from '../lib/tokens/token-work.ts'
import { mapInTurns } from '../lib/worker/pause.ts'
import type { CompiledServer } from '../runtime/call/compiled-server.ts'
import type { CompiledTool } from '../runtime/call/compiled-tool.ts'
import { renderToolJson } from '../runtime/call/tool-json.ts'
import type { Server } from '../servers/server.ts'
import { dependsOnUse } from '../servers/settings/cut-result-listing.ts'
import type { ShownAs } from '../servers/settings/shown-as.ts'
import type { ToolEmbeddings } from './embeddings/tool-embeddings.ts'
import { CALL_TOOL, FIND_TOOLS, MOST_USED, type SearchOverview } from './find-question.ts'
import type { ToolFinder } from './ranking/tool-index.ts'
import { compileSearchTools, explainSearch } from './search-tools.ts'

export type PresentingParts = {
  finder: Pick<ToolFinder, 'buildIndex'>
  /** Undefined if no endpoint is configured or if the server is compiled only for display. */
  embeddings: Pick<ToolEmbeddings, 'prepare'> | undefined
  counting: Pick<TokenWork, 'sumTokens'>
  onSkipped: (tool: string, reason: string) => void
}

type PresentedServer = Pick<
  Server,
  'organizationId' | 'presentation' | 'pinnedTools' | 'maxFlatTokens' | 'maxResponseTokens'
>

/** Patchbay's own tools that continue from cut results. They are not searched for: any result may be cut. */
const isAlwaysShown = ({ name }: CompiledTool): boolean => name.startsWith(RESERVED_TOOL_PREFIX)

/** Returns whether clients may find the tool: it is enabled and has all values that come from the server. */
const isPresent = (tool: CompiledTool): boolean => isAlwaysShown(tool) || tool.isHidden !== true

const OWN_NAMES: ReadonlySet<string> = new Set([FIND_TOOLS, CALL_TOOL])

const listShown = (tools: readonly CompiledTool[], pinned: ReadonlySet<string>, parts: PresentingParts) =>
  tools.filter(tool => {
    if (isAlwaysShown(tool)) return true
    if (!pinned.has(tool.name)) return false
    if (OWN_NAMES.has(tool.name))
      parts.onSkipped(tool.name, 'a tool with this name cannot be pinned: the name is reserved for search')
    return !OWN_NAMES.has(tool.name)
  })

const countGroups = (tools: readonly CompiledTool[]): SearchOverview['groups'] => {
  const sizes = new Map<string, number>()
  for (const { group } of tools) if (group !== undefined) sizes.set(group, (sizes.get(group) ?? 0) + 1)
  return [...sizes]
    .map(([name, size]) => ({ name, size }))
    .sort((a, b) => b.size - a.size || (a.name < b.name ? -1 : 1))
}

/**
 * Returns a function that selects the most used tools to name. The description is the same for all callers, so it names
 * only tools that every caller may use: with a token that may only read, a caller finds no others.
 */
const selectMostUsed = (findable: readonly CompiledTool[], shown: readonly CompiledTool[]) => {
  const listed = new Set(shown.map(({ name }) => name))
  const open = findable.filter(({ name, isReadOnly }) => isReadOnly && !listed.has(name))
  const forAll = new Set(open.map(({ name }) => name))
  return (mostUsed: readonly string[]): string[] => mostUsed.filter(name => forAll.has(name)).slice(0, MOST_USED)
}

const presentSearch = (
  { tools, unlisted, explainMissing, basis, ...server }: CompiledServer,
  { organizationId, pinnedTools, maxResponseTokens: maxTokens }: PresentedServer,
  parts: PresentingParts,
): CompiledServer => {
  const shown = listShown(tools, new Set(pinnedTools), parts)
  const findable = tools.filter(tool => !isAlwaysShown(tool) && isPresent(tool))
  const explain = (name: string) => explainMissing?.('tools', name)
  const hiddenCount = tools.filter(isPresent).length - shown.filter(isPresent).length
  const { finder, embeddings, counting } = parts
  const budget = { tenant: { owner: server.id, group: organizationId }, maxTokens, counting }
  const nameMostUsed = selectMostUsed(findable, shown)
  const names = new Set(tools.filter(tool => !isAlwaysShown(tool)).map(({ name }) => name))
  const overview = { hiddenCount, groups: countGroups(findable), mostUsed: nameMostUsed(basis?.mostUsed ?? []) }
  const own = compileSearchTools(tools, findable, overview, { finder, embeddings, unlisted, explain, budget })
  return {
    ...server,
    basis: basis && { ...basis, nameMostUsed },
    tools: [...shown, ...own],
    findOuterCall: name => (names.has(name) ? { through: CALL_TOOL, where: { name }, inner: 'arguments' } : undefined),
    explainMissing: (kind, name) => (kind === 'tools' ? explainSearch(name) : explainMissing?.(kind, name)),
  }
}

/**
 * Counts the tokens of all tools that may be listed. Tools for cut results count even while they are hidden: otherwise
 * one cut result could replace the whole list by a search.
 */
const countList = async (
  { id, tools, basis }: CompiledServer,
  { organizationId }: PresentedServer,
  { counting }: PresentingParts,
): Promise<number> => {
  const mayAppear = basis !== undefined && dependsOnUse(basis.cutResultTools)
  const counted = tools.filter(tool => tool.isHidden !== true || (mayAppear && isAlwaysShown(tool)))
  return counting.sumTokens(
    { owner: id, group: organizationId },
    await mapInTurns(counted, tool => renderToolJson(tool)),
  )
}

/**
 * Returns the server as clients see it. Its tools are listed, or found by search if the builder chose search or if the
 * list exceeds the builder's token limit.
 */
export const presentTools = async (
  compiled: CompiledServer,
  server: PresentedServer,
  parts: PresentingParts,
): Promise<CompiledServer> => {
  if (server.presentation === 'search') return presentSearch(compiled, server, parts)
  if (server.presentation !== 'auto') return compiled
  const tokens = await countList(compiled, server, parts)
  const presentation = tokens <= server.maxFlatTokens ? 'flat' : 'search'
  const shownAs: ShownAs = { presentation, tokens, maxTokens: server.maxFlatTokens }
  const shown = presentation === 'flat' ? compiled : presentSearch(compiled, server, parts)
  return { ...shown, shownAs }
}
