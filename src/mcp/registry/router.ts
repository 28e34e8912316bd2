import type { JsonObject } from '../../lib/kernel/json.ts'
import { type ParamHeader, paramHeadersOf } from '../../lib/kernel/param-headers.ts'
import { mapInTurns } from '../../lib/worker/pause.ts'
import type {
  CompiledOffers,
  CompiledServer,
  MissingUpstream,
  OfferedItem,
  OfferLists,
} from '../../runtime/call/compiled-server.ts'
import type { CompiledTool } from '../../runtime/call/compiled-tool.ts'
import { META, type SessionVersion, STATELESS_VERSIONS } from '../protocol.ts'
import type { GroupLists } from './groups.ts'
import { createListing, type Era, type ListHead, type ListItem, type Listing } from './listing.ts'
import { hasWrappedOutput, renderTool } from './tool-definition.ts'

/** Name and version of Patchbay, as clients see them. */
export type ServerInfo = { name: string; version: string }

/** Members of a tool that only lists need. Lists hold them as rendered bytes. */
type Description = 'title' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations' | 'more' | 'group'

/** Operations on upstreams, without the members that only lists need. */
export type RoutedOffers = Omit<CompiledOffers, keyof OfferLists | 'groups'>

export type RoutedTool = {
  tool: Omit<CompiledTool, Description>
  paramHeaders: readonly ParamHeader[]
  /** Whether structured content is wrapped in an object for clients of the session era. */
  isOutputWrapped: boolean
}

/** A tool to call, and its arguments: `{}` if the client sent none. */
export type RoutedCall = { routed: RoutedTool; args: JsonObject }

/** Clients must not cache lists, so that changes are visible at once. */
const LIST_TTL_MS = 0
/** The name, capabilities and instructions rarely change: with Patchbay's version, the settings or an upstream. */
const DISCOVER_TTL_MS = 60_000

const CAPABILITIES = { tools: { listChanged: true }, resources: {}, prompts: {} } as const satisfies JsonObject
/** For servers with upstreams, whose resources and prompts change. */
const OFFER_CAPABILITIES = {
  tools: { listChanged: true },
  resources: { listChanged: true },
  prompts: { listChanged: true },
} as const satisfies JsonObject

const capabilitiesOf = (offers: CompiledOffers | undefined): JsonObject => {
  if (offers === undefined) return CAPABILITIES
  const { completions, logging, subscribe } = offers.capabilities
  return {
    ...OFFER_CAPABILITIES,
    ...(subscribe && { resources: { ...OFFER_CAPABILITIES.resources, subscribe: true } }),
    ...(completions && { completions: {} }),
    ...(logging && { logging: {} }),
  }
}

const routeOffers = (offers: CompiledOffers): RoutedOffers => {
  const { resources: _resources, resourceTemplates: _templates, prompts: _prompts, groups: _groups, ...routed } = offers
  return routed
}

export const routeTool = (compiled: CompiledTool): RoutedTool => {
  const { title, description, inputSchema, outputSchema, annotations, more, group, ...tool } = compiled
  return {
    tool,
    paramHeaders: paramHeadersOf(inputSchema),
    isOutputWrapped: hasWrappedOutput(compiled),
  }
}

const byName = (a: CompiledTool, b: CompiledTool): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

/** Renders the tool only once if it is the same in both eras, as most tools are. */
const toListItem = (tool: CompiledTool): ListItem => {
  const stateless = renderTool(tool, 'stateless')
  const shown: Record<Era, string> = {
    stateless,
    session: hasWrappedOutput(tool) ? renderTool(tool, 'session') : stateless,
  }
  return { name: tool.name, render: era => shown[era] }
}

type NamedList = readonly [method: string, list: Listing]

/** Empty lists for servers that have only tools: all lists except tools/list. */
const EMPTY_LISTS: readonly NamedList[] = [
  ['resources/list', createListing('resources', [])],
  ['resources/templates/list', createListing('resourceTemplates', [])],
  ['prompts/list', createListing('prompts', [])],
]

const toItems = (items: readonly OfferedItem[]): ListItem[] =>
  items.map(({ name, json }) => ({ name, render: () => JSON.stringify(json) }))

const offerLists = ({ resources, resourceTemplates, prompts }: OfferLists): readonly NamedList[] => [
  ['resources/list', createListing('resources', toItems(resources), 'uri')],
  ['resources/templates/list', createListing('resourceTemplates', toItems(resourceTemplates), 'uriTemplate')],
  ['prompts/list', createListing('prompts', toItems(prompts))],
]

/** Builds the start of a list, which includes the missing upstreams. */
const buildListHead = (meta: JsonObject, missing: readonly MissingUpstream[], cacheScope: string): ListHead => {
  const lacking = missing.length === 0 ? {} : { [META.missing]: [...missing] }
  const stateless = { resultType: 'complete', _meta: { ...meta, ...lacking }, ttlMs: LIST_TTL_MS, cacheScope }
  return {
    session: missing.length === 0 ? '{' : `${JSON.stringify({ _meta: lacking }).slice(0, -1)},`,
    stateless: `${JSON.stringify(stateless).slice(0, -1)},`,
  }
}

/** Builds the lists of each group. Toolkits have only tools, so their lists here are empty. */
const buildGroups = (
  { groups, offers, missing = [] }: CompiledServer,
  headOf: (missing: readonly MissingUpstream[]) => ListHead,
): ReadonlyMap<string, GroupLists> | undefined =>
  groups &&
  new Map(
    groups.map(name => {
      const offered = offers?.groups?.get(name)
      const head = headOf(missing.filter(({ upstream }) => upstream === name))
      return [name, { lists: new Map(offered === undefined ? EMPTY_LISTS : offerLists(offered)), head }]
    }),
  )

/**
 * Builds everything that requests need from a compiled server, with lists as bytes. The router is immutable: a change
 * to the server creates a new router, and running calls keep the old one. Yields to other work, because large servers
 * have thousands of tools.
 */
export const buildRouter = async (compiledServer: CompiledServer, info: ServerInfo) => {
  const { tools: compiled, offers, missing = [], instructions: text, ...server } = compiledServer
  const serverInfo = { ...info, title: server.name }
  const instructions = text === undefined ? {} : { instructions: text }
  const meta: JsonObject = { [META.serverInfo]: serverInfo }
  const cacheScope = server.access.tier === 'public' ? 'public' : 'private'
  const headOf = (lacking: readonly MissingUpstream[]): ListHead => buildListHead(meta, lacking, cacheScope)
  const tools = compiled.toSorted(byName)
  const shown = tools.filter(({ isHidden }) => isHidden !== true)
  const listed = await mapInTurns(shown, toListItem)
  const routed = await mapInTurns(tools, (tool): [string, RoutedTool] => [tool.name, routeTool(tool)])
  const capabilities = capabilitiesOf(offers)
  const initializeTail = JSON.stringify({ capabilities, serverInfo, ...instructions }).slice(1)
  return {
    server,
    /** Operations on upstreams, for everything except tools. */
    offers: offers && routeOffers(offers),
    tools: new Map(routed),
    /** Number of tools in `tools/list`, which omits hidden tools. */
    listedTools: shown.length,
    /** Keyed by method, such as `tools/list`. */
    lists: new Map([
      ...(offers === undefined ? EMPTY_LISTS : offerLists(offers)),
      ['tools/list', createListing('tools', listed)],
    ]),
    listHead: headOf(missing),
    /** The lists of each group, if the server is grouped. */
    groups: buildGroups(compiledServer, headOf),
    /** Returns the result of initialize for a protocol version. */
    initialize: (version: SessionVersion): string => `{"protocolVersion":"${version}",${initializeTail}`,
    /** The result of server/discover. */
    discover: JSON.stringify({
      supportedVersions: STATELESS_VERSIONS,
      capabilities,
      ...instructions,
      ttlMs: DISCOVER_TTL_MS,
      cacheScope,
      resultType: 'complete',
      _meta: meta,
    }),
    /** The `_meta` of every stateless result: the name and version of the server. */
    meta,
    /** Start of every stateless result, including the opening brace. */
    statelessHead: `{"resultType":"complete","_meta":${JSON.stringify(meta)}`,
  }
}
export type Router = Awaited<ReturnType<typeof buildRouter>>
