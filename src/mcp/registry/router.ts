import { mapInTurns } from '../context/index.ts'
import type {
  CompiledOffers,
  CompiledServer,
  CompiledTool,
  MissingUpstream,
  OfferedItem,
  OfferLists,
} from '../execution/index.ts'
import { type JsonObject, NO_PARAM_HEADERS, type ParamHeader, paramHeadersOf } from '../kernel/index.ts'
import type { GroupLists } from './groups.ts'
import { createListing, type Era, type ListHead, type ListItem, type Listing } from './listing.ts'
import { META, type SessionVersion, STATELESS_VERSIONS } from './protocol.ts'
import { hasWrappedOutput, renderTool } from './tool-definition.ts'

/** How we call ourselves to clients. */
export type ServerInfo = { name: string; version: string }

/** What describes a tool to clients: it is in the bytes of the list, and nowhere else. */
type Description = 'title' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations' | 'more'

/** How upstreams are asked, without what only the lists are made of. */
export type RoutedOffers = Omit<CompiledOffers, keyof OfferLists | 'groups'>

export type RoutedTool = {
  tool: Omit<CompiledTool, Description>
  paramHeaders: readonly ParamHeader[]
  /** Whether the session era's versions get its structured content inside an object. */
  isOutputWrapped: boolean
}

/**
 * A mounted server as one immutable value: everything a request needs, its lists as bytes, and nothing that only they
 * were made of. A change makes a new one; calls under way keep the one they began with.
 */
export type Router = {
  server: Omit<CompiledServer, 'tools' | 'offers' | 'missing'>
  /** How upstreams are asked for what they offer besides tools. */
  offers: RoutedOffers | undefined
  tools: ReadonlyMap<string, RoutedTool>
  /** By method. */
  lists: ReadonlyMap<string, Listing>
  listHead: ListHead
  /** What each group lists by itself, where the server groups. */
  groups: ReadonlyMap<string, GroupLists> | undefined
  /** The result of initialize in each version. */
  initialize: (version: SessionVersion) => string
  /** The result of server/discover. */
  discover: string
  /** Who answers: in the `_meta` of every stateless result. */
  meta: JsonObject
  /** Behind the opening bracket of every stateless result. */
  statelessHead: string
}

/** How long clients may keep a list: not at all, for a change is to show at once. */
const LIST_TTL_MS = 0
/** Name, capabilities and instructions change with the program or a server's description. */
const DISCOVER_TTL_MS = 60_000

const CAPABILITIES = { tools: { listChanged: true }, resources: {}, prompts: {} } as const satisfies JsonObject
/** Of a server with upstreams, whose resources and prompts come and go. */
const OFFER_CAPABILITIES = {
  tools: { listChanged: true },
  resources: { listChanged: true },
  prompts: { listChanged: true },
} as const satisfies JsonObject

/** A tool that is called, whatever list it stands in. */
export const routeUnlisted = (compiled: CompiledTool): RoutedTool => routeTool(compiled)

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

const routeTool = (compiled: CompiledTool): RoutedTool => {
  const { title, description, inputSchema, outputSchema, annotations, more, ...tool } = compiled
  return {
    tool,
    paramHeaders: inputSchema.properties === undefined ? NO_PARAM_HEADERS : paramHeadersOf(inputSchema),
    isOutputWrapped: hasWrappedOutput(compiled),
  }
}

const byName = (a: CompiledTool, b: CompiledTool): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

/** Rendered once where both eras show it alike, as they do nearly every tool. */
const toListItem = (tool: CompiledTool): ListItem => {
  const stateless = renderTool(tool, 'stateless')
  const shown: Record<Era, string> = {
    stateless,
    session: hasWrappedOutput(tool) ? renderTool(tool, 'session') : stateless,
  }
  return { name: tool.name, render: era => shown[era] }
}

type NamedList = readonly [method: string, list: Listing]

/** Of servers that have tools only. */
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

/** What a list lacks is said before its items. */
const buildListHead = (meta: JsonObject, missing: readonly MissingUpstream[], cacheScope: string): ListHead => {
  const lacking = missing.length === 0 ? {} : { [META.missing]: [...missing] }
  const stateless = { resultType: 'complete', _meta: { ...meta, ...lacking }, ttlMs: LIST_TTL_MS, cacheScope }
  return {
    session: missing.length === 0 ? '{' : `${JSON.stringify({ _meta: lacking }).slice(0, -1)},`,
    stateless: `${JSON.stringify(stateless).slice(0, -1)},`,
  }
}

/** A toolkit lists tools only. */
const buildGroups = (
  { groups, offers, missing = [] }: CompiledServer,
  headOf: (missing: readonly MissingUpstream[]) => ListHead,
): Router['groups'] =>
  groups &&
  new Map(
    groups.map(name => {
      const offered = offers?.groups?.get(name)
      const head = headOf(missing.filter(({ upstream }) => upstream === name))
      return [name, { lists: new Map(offered === undefined ? EMPTY_LISTS : offerLists(offered)), head }]
    }),
  )

/** With turns for everybody else, as a large server has thousands of tools. */
export const buildRouter = async (compiledServer: CompiledServer, info: ServerInfo): Promise<Router> => {
  const { tools: compiled, offers, missing = [], ...server } = compiledServer
  const serverInfo = { ...info, title: server.name }
  const instructions = server.description === undefined ? {} : { instructions: server.description }
  const meta = { [META.serverInfo]: serverInfo }
  const cacheScope = server.access.tier === 'public' ? 'public' : 'private'
  const headOf = (lacking: readonly MissingUpstream[]): ListHead => buildListHead(meta, lacking, cacheScope)
  const tools = compiled.toSorted(byName)
  const listed = await mapInTurns(tools, toListItem)
  const routed = await mapInTurns(tools, (tool): [string, RoutedTool] => [tool.name, routeTool(tool)])
  const capabilities = capabilitiesOf(offers)
  const initializeTail = JSON.stringify({
    capabilities,
    serverInfo,
    ...instructions,
  }).slice(1)
  const statelessHead = `{"resultType":"complete","_meta":${JSON.stringify(meta)}`
  return {
    server,
    offers: offers && routeOffers(offers),
    tools: new Map(routed),
    lists: new Map([
      ...(offers === undefined ? EMPTY_LISTS : offerLists(offers)),
      ['tools/list', createListing('tools', listed)],
    ]),
    listHead: headOf(missing),
    groups: buildGroups(compiledServer, headOf),
    initialize: version => `{"protocolVersion":"${version}",${initializeTail}`,
    discover: JSON.stringify({
      supportedVersions: STATELESS_VERSIONS,
      capabilities,
      ...instructions,
      ttlMs: DISCOVER_TTL_MS,
      cacheScope,
      resultType: 'complete',
      _meta: meta,
    }),
    meta,
    statelessHead,
  }
}
