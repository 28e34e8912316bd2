import type { Transaction } from '../../lib/db/client.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { mapInTurns } from '../../lib/worker/pause.ts'
import { listWiredTools } from '../../servers/bindings/bindings.store.ts'
import { globalKeysOf, renameKeys } from '../../servers/bindings/bindings.ts'
import { defaultBindingsOf } from '../../servers/bindings/default-bindings.ts'
import { createGlobalIn } from '../../servers/globals/globals.service.ts'
import { listGlobals } from '../../servers/globals/globals.store.ts'
import { listBoundOrigins } from '../../servers/origins/bound-origins.store.ts'
import type { Bindings, Global, Server } from '../../servers/server.ts'
import { addServer, getServerFor } from '../../servers/servers.service.ts'
import { assertHoldsTools } from '../../servers/settings/passthrough-rules.ts'
import { addUse } from '../../servers/sources/toolkit-uses.store.ts'
import { addInstances, createInstanceNames, type InstanceDraft } from '../../servers/tools/instance-batch.ts'
import { assertRoomForTools } from '../../servers/tools/instances.service.ts'
import { listToolsInUse } from '../../servers/tools/instances.store.ts'
import type { ToolDefinition, Toolkit } from '../../tools/tool.ts'
import type { PreparedTool } from '../../tools/tool-batch.ts'
import { findSnapshot } from '../../tools/toolkits.store.ts'
import { listUpstreamsReferringTo } from '../../upstreams/global-uses.ts'
import type { ImportSettings } from '../import.ts'
import type { AppliedGlobal, ImportReport } from './import-report.ts'
import { type GlobalPlan, planGlobals, type ServerGlobal, type ServerKeys, type WantedGlobal } from './plan-globals.ts'
import { type GivenValues, wantedGlobalsOf } from './wanted-globals.ts'

/** A tool that was saved. */
export type SavedTool = { id: string; name: string; prepared: PreparedTool }

type ServerChoice = NonNullable<ImportSettings['server']>

/** Throws unless the actor may add the toolkit's tools to the server. */
export const getServerForImport = async (
  tx: Transaction,
  actor: Actor,
  toolkit: Pick<Toolkit, 'id' | 'organizationId'>,
  serverId: string,
): Promise<Server> => {
  const server = await getServerFor(tx, actor, serverId, 'build')
  // Secrets stay within their organization, even if the actor belongs to several.
  if (server.organizationId !== toolkit.organizationId) throw new AppError('not_found', 'Server not found.')
  assertHoldsTools(server)
  if ((await findSnapshot(tx, serverId, toolkit.id)) === undefined) return server
  const message = `The server "${server.name}" uses a copy of this toolkit. Accept its update there to add the tools.`
  throw new AppError('conflict', message)
}

const toServerGlobal = (global: Global): ServerGlobal =>
  global.isSecret
    ? { key: global.key, isSecret: true, origins: global.origins ?? [] }
    : { key: global.key, isSecret: false, value: global.value }

/** Returns the keys that the server has, or that its tools and MCP servers wait for. */
const readServerKeys = async (
  tx: Transaction,
  serverId: string,
  wanted: readonly WantedGlobal[],
): Promise<ServerKeys> => {
  const globals = await listGlobals(tx, serverId)
  const wired = await listWiredTools(tx, serverId)
  const bound = await mapInTurns(wired, ({ bindings }) =>
    Object.entries(bindings).flatMap(([name, binding]) => [...globalKeysOf(name, binding)]),
  )
  const used = new Set([...bound.flat(), ...(await listUpstreamsReferringTo(tx, serverId)).keys()])
  const awaited = new Map<string, readonly string[]>([...used].map(key => [key, []]))
  for (const { key } of wanted) {
    const origins = (await listBoundOrigins(tx, serverId, key)).map(({ origin }) => origin)
    if (origins.length > 0) awaited.set(key, origins)
  }
  return { globals: globals.map(toServerGlobal), awaited }
}

/** A secret is not stored while it is unknown where it may be sent. */
const withoutStray = (global: WantedGlobal): WantedGlobal =>
  global.isSecret && global.origins.length === 0 ? { ...global, value: undefined } : global

/** Decides under which keys of the server the globals of the tools are kept. */
export const planForServer = async (
  tx: Transaction,
  serverId: string,
  tools: readonly ToolDefinition[],
  given: GivenValues,
): Promise<GlobalPlan> => {
  const wanted = wantedGlobalsOf(tools, given).map(withoutStray)
  return planGlobals(wanted, await readServerKeys(tx, serverId, wanted))
}

/** Like `planForServer`, for a server that does not exist yet. */
export const planForNewServer = (tools: readonly ToolDefinition[], given: GivenValues): GlobalPlan =>
  planGlobals(wantedGlobalsOf(tools, given).map(withoutStray), { globals: [], awaited: new Map() })

/** Returns the tool's default bindings, with the keys that the globals have on the server. */
export const bindingsOn = (definition: ToolDefinition, { keys }: Pick<GlobalPlan, 'keys'>): Bindings =>
  Object.fromEntries(
    Object.entries(defaultBindingsOf(definition)).map(([name, binding]) => [
      name,
      renameKeys(name, binding, key => keys.get(key) ?? key),
    ]),
  )

const toAppliedGlobal = ({ key, isSecret, origins }: WantedGlobal): AppliedGlobal => ({
  key,
  secret: isSecret,
  origins: isSecret ? [...origins] : [],
})

type Wiring = {
  toolkit: Toolkit
  choice: ServerChoice
  tools: readonly SavedTool[]
  given: GivenValues
}

type Parts = { actor: Actor; sealing: Sealing; maxToolsPerServer: number }

const createGlobals = async (
  tx: Transaction,
  by: { actor: Actor; server: Server; sealing: Sealing },
  { created }: GlobalPlan,
): Promise<void> => {
  for (const { key, isSecret, value, origins } of created) {
    await createGlobalIn(tx, by, key, { value, secret: isSecret, ...(isSecret && { origins }) })
  }
}

/**
 * Adds saved tools to a server, new or existing, with the globals that they need. Skips tools that are there. Runs in
 * the transaction that saves them.
 */
export const wireToServer = async (
  tx: Transaction,
  { actor, sealing, maxToolsPerServer }: Parts,
  { toolkit, choice, tools, given }: Wiring,
): Promise<Pick<ImportReport, 'server' | 'missing' | 'discarded'>> => {
  const { organizationId } = toolkit
  const server =
    typeof choice === 'string'
      ? await getServerForImport(tx, actor, toolkit, choice)
      : await addServer(tx, actor, { id: undefined, name: choice.newName, organizationId, allowedUserIds: [] })
  const ids = tools.map(({ id }) => id)
  const there = await listToolsInUse(tx, server.id, ids)
  const added = tools.filter(({ id }) => !there.has(id))
  await assertRoomForTools(tx, server.id, { more: added.length, maxToolsPerServer })
  await addUse(tx, server.id, toolkit.id)
  const plan = await planForServer(
    tx,
    server.id,
    added.map(({ prepared }) => prepared.definition),
    given,
  )
  await createGlobals(tx, { actor, server, sealing }, plan)
  const nameOf = await createInstanceNames(tx, server.id)
  const drafts = added.map(
    ({ id, name, prepared }): InstanceDraft => ({
      toolId: id,
      name: nameOf(name),
      tool: prepared.definition,
      compiled: prepared.compiled,
      bindings: bindingsOn(prepared.definition, plan),
      isForeign: false,
    }),
  )
  await addInstances(tx, { actor, server, sealing }, drafts)
  const stored = new Set<string | undefined>(plan.created.map(({ key }) => key))
  return {
    server: {
      id: server.id,
      name: server.name,
      created: typeof choice !== 'string',
      tools: drafts.length,
      globals: plan.created.map(toAppliedGlobal),
      rekeyed: [...plan.keys].flatMap(([from, to]) => (from === to ? [] : [{ from, to }])),
    },
    missing: plan.missing.map(toAppliedGlobal),
    discarded: [...given.secrets.keys()].filter(key => !stored.has(plan.keys.get(key))),
  }
}
