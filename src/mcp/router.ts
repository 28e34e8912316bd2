import type { CompiledServer, CompiledTool } from '../execution/index.ts'
import type { JsonObject } from '../kernel/index.ts'
import { createListing, type Era, type Listing } from './listing.ts'
import { NO_PARAM_HEADERS, type ParamHeader, paramHeadersOf } from './param-headers.ts'
import { META, type SessionVersion, STATELESS_VERSIONS } from './protocol.ts'
import { hasWrappedOutput, renderTool } from './tool-definition.ts'

/** How we call ourselves to clients. */
export type ServerInfo = { name: string; version: string }

/** What describes a tool to clients: it is in the bytes of the list, and nowhere else. */
type Description = 'title' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations' | 'more'

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
  server: Omit<CompiledServer, 'tools'>
  tools: ReadonlyMap<string, RoutedTool>
  /** By method. */
  lists: ReadonlyMap<string, Listing>
  /** What precedes the members of a page, the opening bracket included. */
  listHead: Readonly<Record<Era, string>>
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
/** Log levels are set once per session there; the stateless era names one in each request. */
const SESSION_CAPABILITIES = { ...CAPABILITIES, logging: {} } as const satisfies JsonObject

const routeTool = (compiled: CompiledTool): RoutedTool => {
  const { title, description, inputSchema, outputSchema, annotations, more, ...tool } = compiled
  return {
    tool,
    paramHeaders: inputSchema.properties === undefined ? NO_PARAM_HEADERS : paramHeadersOf(inputSchema),
    isOutputWrapped: hasWrappedOutput(compiled),
  }
}

const byName = (a: CompiledTool, b: CompiledTool): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

/** Until servers have more than tools. */
const EMPTY_LISTS: readonly (readonly [method: string, list: Listing])[] = [
  ['resources/list', createListing('resources', [])],
  ['resources/templates/list', createListing('resourceTemplates', [])],
  ['prompts/list', createListing('prompts', [])],
]

export const buildRouter = ({ tools: compiled, ...server }: CompiledServer, info: ServerInfo): Router => {
  const serverInfo = { ...info, title: server.name }
  const instructions = server.description === undefined ? {} : { instructions: server.description }
  const meta = { [META.serverInfo]: serverInfo }
  const cacheScope = server.access.tier === 'public' ? 'public' : 'private'
  const tools = compiled.toSorted(byName)
  const listed = tools.map(tool => ({ name: tool.name, render: (era: Era) => renderTool(tool, era) }))
  const initializeTail = JSON.stringify({ capabilities: SESSION_CAPABILITIES, serverInfo, ...instructions }).slice(1)
  const statelessHead = `{"resultType":"complete","_meta":${JSON.stringify(meta)}`
  return {
    server,
    tools: new Map(tools.map(tool => [tool.name, routeTool(tool)])),
    lists: new Map([...EMPTY_LISTS, ['tools/list', createListing('tools', listed)]]),
    listHead: { session: '{', stateless: `${statelessHead},"ttlMs":${LIST_TTL_MS},"cacheScope":"${cacheScope}",` },
    initialize: version => `{"protocolVersion":"${version}",${initializeTail}`,
    discover: JSON.stringify({
      supportedVersions: STATELESS_VERSIONS,
      capabilities: CAPABILITIES,
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
