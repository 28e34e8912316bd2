import { basename } from 'node:path'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import type { ConfigInput } from './config-text.ts'
import type { ConfigTool } from './config-tools.ts'
import type { FoundServer, FoundServers, Unusable } from './found-server.ts'
import type { ParsedConfig } from './parse-config.ts'
import { readEntry } from './read-entry.ts'

export type FileContext = {
  tool: ConfigTool
  home: string
  /** The project that the file belongs to. Undefined for a file in the user's home. */
  project: string | undefined
  /**
   * The folder whose section is read in Claude Code's file, in addition to the global servers. That file has a section
   * per folder.
   */
  directory: string
}

const objectAt = (root: JsonObject, ...path: string[]): JsonObject | undefined => {
  let at: JsonValue | undefined = root
  for (const key of path) at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
  return isJsonObject(at) ? at : undefined
}

/** Returns the servers in OpenCode's section `mcp`, which Gemini CLI uses for other settings. */
const opencodeServers = (root: JsonObject): JsonObject | undefined => {
  const section = objectAt(root, 'mcp')
  const entries = Object.entries(section ?? {}).filter(([, value]) => isJsonObject(value) && 'type' in value)
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

const GOOSE_TYPES: ReadonlySet<JsonValue | undefined> = new Set(['stdio', 'streamable_http', 'sse'])

/** Returns the MCP servers among Goose's extensions. The others are parts of Goose. */
const gooseExtensions = (root: JsonObject): JsonObject | undefined => {
  const entries = Object.entries(objectAt(root, 'extensions') ?? {}).filter(
    ([, value]) => isJsonObject(value) && GOOSE_TYPES.has(value.type),
  )
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** Lists the sections of a file that contain servers, for all supported tools. */
const listSections = (root: JsonObject, directory: string): JsonObject[] =>
  [
    objectAt(root, 'mcpServers'),
    objectAt(root, 'servers'),
    objectAt(root, 'mcp', 'servers'),
    objectAt(root, 'context_servers'),
    objectAt(root, 'mcp_servers'),
    objectAt(root, 'projects', directory, 'mcpServers'),
    opencodeServers(root),
    gooseExtensions(root),
  ].filter(section => section !== undefined)

const textOf = (value: JsonValue | undefined): string | undefined => (typeof value === 'string' ? value : undefined)

/** Reads the definitions of values that VS Code asks its user for on first use. */
const readInputs = (root: JsonObject): Map<string, ConfigInput> => {
  const listed = [root.inputs, objectAt(root, 'mcp')?.inputs].flatMap(list => (Array.isArray(list) ? list : []))
  return new Map(
    listed.filter(isJsonObject).flatMap(input => {
      const id = textOf(input.id)
      if (id === undefined) return []
      const about = textOf(input.description)
      return [[id, { fallback: textOf(input.default), about, isSecret: input.password === true ? true : undefined }]]
    }),
  )
}

const knownNames = ({ home, project }: FileContext): Map<string, string> => {
  const known = new Map([
    ['userHome', home],
    ['pathSeparator', '/'],
    ['/', '/'],
  ])
  if (project === undefined) return known
  return known
    .set('workspaceFolder', project)
    .set('workspaceRoot', project)
    .set('workspaceFolderBasename', basename(project))
}

const namesIn = (list: JsonValue | undefined): ReadonlySet<string> =>
  new Set(Array.isArray(list) ? list.filter(item => typeof item === 'string') : [])

/**
 * Reads the lists that enable or disable servers outside their entries: Gemini CLI's lists, and Claude Code's list for
 * each project. Returns whether a server is enabled.
 */
const readSwitches = (root: JsonObject, directory: string) => {
  const section = objectAt(root, 'mcp')
  const allowed = namesIn(section?.allowed)
  const off = new Set([
    ...namesIn(section?.excluded),
    ...namesIn(objectAt(root, 'projects', directory)?.disabledMcpServers),
  ])
  return (name: string): boolean => !off.has(name) && (allowed.size === 0 || allowed.has(name))
}

const SECTIONS = 'mcpServers, servers, context_servers, mcp_servers, mcp or extensions'

export const findServers = ({ root, repeated }: ParsedConfig, context: FileContext): FoundServers => {
  const servers: FoundServer[] = []
  const unusable: Unusable[] = []
  const sections = listSections(root, context.directory)
  const inputs = readInputs(root)
  const known = knownNames(context)
  const isOn = readSwitches(root, context.directory)
  for (const [name, entry] of sections.flatMap(section => Object.entries(section))) {
    const read = readEntry(name, entry, { tool: context.tool, inputs, known })
    if (read.ok) servers.push({ ...read.value, isEnabled: read.value.isEnabled && isOn(name) })
    else unusable.push({ name, why: read.error })
  }
  const twice = [...new Set(repeated)].filter(key => sections.some(section => Object.hasOwn(section, key)))
  const notes = twice.map(key => `"${key}" occurs twice: the last one is used.`)
  const hasServers = sections.length > 0
  if (!hasServers) notes.push(`It contains no servers: there is no ${SECTIONS}.`)
  return { hasServers, servers, unusable, notes }
}
