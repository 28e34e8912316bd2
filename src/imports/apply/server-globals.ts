import type { Transaction } from '../../lib/db/client.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { mapInTurns } from '../../lib/worker/pause.ts'
import { listWiredTools } from '../../servers/bindings/bindings.store.ts'
import { globalKeysOf, renameKeys } from '../../servers/bindings/bindings.ts'
import { defaultBindingsOf } from '../../servers/bindings/default-bindings.ts'
import type { FindGlobal } from '../../servers/bindings/resolve-constant.ts'
import { listGlobals } from '../../servers/globals/globals.store.ts'
import { listBoundOrigins } from '../../servers/origins/bound-origins.store.ts'
import { createGlobalLookup } from '../../servers/origins/secret-origins.ts'
import { listKeyUses } from '../../servers/origins/tool-origins.ts'
import type { Bindings, Global } from '../../servers/server.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import { listUpstreamsReferringTo } from '../../upstreams/global-uses.ts'
import type { LackingInstance } from './lacking-bindings.ts'
import { type GlobalPlan, planGlobals, type ServerGlobal, type ServerKeys, type WantedGlobal } from './plan-globals.ts'
import { type GivenValues, type GlobalReader, readersOf, wantedGlobalsOf } from './wanted-globals.ts'

const toServerGlobal = (global: Global): ServerGlobal =>
  global.isSecret
    ? { key: global.key, isSecret: true, origins: global.origins ?? [] }
    : { key: global.key, isSecret: false, value: global.value }

/** `onlyOf` is the toolkit whose tools get no other secrets than they have together, if it is set. */
type PlannedServer = { serverId: string; sealing: Sealing; onlyOf?: string | undefined }

/** Returns the keys that the server has, or that its tools and MCP servers wait for. */
const readServerKeys = async (
  tx: Transaction,
  { serverId, onlyOf }: PlannedServer,
  globals: readonly Global[],
  wanted: readonly WantedGlobal[],
): Promise<ServerKeys> => {
  const wired = await listWiredTools(tx, serverId)
  const read = await mapInTurns(wired, ({ bindings, toolkit }) =>
    Object.entries(bindings).flatMap(([name, binding]) =>
      [...globalKeysOf(name, binding)].map(key => ({ key, toolkitId: toolkit.id })),
    ),
  )
  const bound = read.flat()
  const used = [...bound.map(({ key }) => key), ...(await listUpstreamsReferringTo(tx, serverId)).keys()]
  const shared = new Set(bound.flatMap(({ key, toolkitId }) => (toolkitId === onlyOf ? key : [])))
  const isShared = (key: string): boolean => onlyOf === undefined || shared.has(key)
  const awaited = new Map<string, readonly string[]>(used.map(key => [key, []]))
  for (const { key } of wanted.filter(one => isShared(one.key))) {
    const origins = (await listBoundOrigins(tx, serverId, key)).map(({ origin }) => origin)
    if (origins.length > 0) awaited.set(key, origins)
  }
  const known = globals.map(toServerGlobal)
  // A secret without origins is not shared.
  return { globals: known.map(one => (one.isSecret && !isShared(one.key) ? { ...one, origins: [] } : one)), awaited }
}

/** A secret is not stored while it is unknown where it may be sent. */
const withoutStray = (global: WantedGlobal): WantedGlobal =>
  global.isSecret && global.origins.length === 0 ? { ...global, value: undefined } : global

/** Returns bindings with the keys that the globals have on the server. */
const rekeyed = (bindings: Bindings, { keys }: Pick<GlobalPlan, 'keys'>): Bindings =>
  Object.fromEntries(
    Object.entries(bindings).map(([name, binding]) => [name, renameKeys(name, binding, key => keys.get(key) ?? key)]),
  )

/** Returns the tool's default bindings, with the keys that the globals have on the server. */
export const bindingsOn = (definition: ToolDefinition, plan: Pick<GlobalPlan, 'keys'>): Bindings =>
  rekeyed(defaultBindingsOf(definition), plan)

/** Returns the bindings that an instance lacks, with the keys that the globals have on the server. */
export const lackingOn = ({ defaults }: LackingInstance, plan: Pick<GlobalPlan, 'keys'>): Bindings =>
  rekeyed(defaults, plan)

const withValuesOf = (find: FindGlobal, { created }: GlobalPlan): FindGlobal => {
  const values = new Map(created.map(({ key, value, isSecret }) => [key, { value, isSecret }]))
  return key => values.get(key) ?? find(key)
}

/** Returns the instance with the origins that it calls on its server, where somebody may have chosen another base URL. */
const toReader = (instance: LackingInstance, plan: GlobalPlan, find: FindGlobal): GlobalReader => {
  const { prepared, bindings, defaults } = instance
  const { definition: tool, compiled } = prepared
  const [use] = listKeyUses(tool, compiled, { ...bindings, ...lackingOn(instance, plan) }, find)
  return { tool, bindings: defaults, origins: use?.origins ?? [] }
}

export type ServerWants = {
  /** Tools that are added, with all of their default bindings. */
  tools: readonly ToolDefinition[]
  /** Instances that get the bindings that they lack. */
  lacking?: readonly LackingInstance[]
  given: GivenValues
}

/** Decides under which keys of the server the globals of the tools are kept. */
export const planForServer = async (
  tx: Transaction,
  server: PlannedServer,
  { tools, lacking = [], given }: ServerWants,
): Promise<GlobalPlan> => {
  const added = readersOf(tools, given)
  const unplaced = lacking.map(({ prepared, defaults }) => ({
    tool: prepared.definition,
    bindings: defaults,
    origins: [],
  }))
  const plain = wantedGlobalsOf([...added, ...unplaced], given)
  const globals = await listGlobals(tx, server.serverId)
  const keys = await readServerKeys(tx, server, globals, plain)
  // Base URLs say where secrets are sent, so they are planned first.
  const urls = planGlobals(
    plain.filter(({ isSecret }) => !isSecret),
    keys,
  )
  const find = withValuesOf(createGlobalLookup(globals, server.sealing), urls)
  const placed = lacking.map(instance => toReader(instance, urls, find))
  const wanted = wantedGlobalsOf([...added, ...placed], given).map(withoutStray)
  const inOrder = [...wanted.filter(({ isSecret }) => !isSecret), ...wanted.filter(({ isSecret }) => isSecret)]
  return planGlobals(inOrder, keys)
}

/** Like `planForServer`, for a server that does not exist yet. */
export const planForNewServer = (tools: readonly ToolDefinition[], given: GivenValues): GlobalPlan =>
  planGlobals(wantedGlobalsOf(readersOf(tools, given), given).map(withoutStray), { globals: [], awaited: new Map() })
