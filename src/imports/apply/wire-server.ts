import type { Transaction } from '../../lib/db/client.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { MAX_GLOBALS_PER_SERVER } from '../../lib/kernel/limits.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { isAllowed, policyOf } from '../../servers/access/access.ts'
import { createGlobalIn } from '../../servers/globals/globals.service.ts'
import { countGlobals } from '../../servers/globals/globals.store.ts'
import type { Server } from '../../servers/server.ts'
import { addServer, getServerFor } from '../../servers/servers.service.ts'
import { findServerOfAnybody } from '../../servers/servers.store.ts'
import { assertHoldsTools } from '../../servers/settings/passthrough-rules.ts'
import { addUse } from '../../servers/sources/toolkit-uses.store.ts'
import { addInstances, createInstanceNames, type InstanceDraft } from '../../servers/tools/instance-batch.ts'
import { assertRoomForTools } from '../../servers/tools/instances.service.ts'
import { listToolsInUse } from '../../servers/tools/instances.store.ts'
import type { Toolkit } from '../../tools/tool.ts'
import { findSnapshot } from '../../tools/toolkits.store.ts'
import type { ImportSettings } from '../import.ts'
import { bindLacking } from './bind-lacking.ts'
import type { AppliedGlobal, ImportReport } from './import-report.ts'
import { type LackingInstance, listLackingInstances, type SavedTool } from './lacking-bindings.ts'
import type { GlobalPlan, WantedGlobal } from './plan-globals.ts'
import { bindingsOn, planForServer } from './server-globals.ts'
import type { GivenValues } from './wanted-globals.ts'

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

const toAppliedGlobal = ({ key, isSecret, origins }: WantedGlobal): AppliedGlobal => ({
  key,
  secret: isSecret,
  origins: isSecret ? [...origins] : [],
})

type Wiring = {
  toolkit: Toolkit
  /** Undefined if the tools are added to no server. */
  choice: ServerChoice | undefined
  tools: readonly SavedTool[]
  given: GivenValues
}

type Parts = { actor: Actor; sealing: Sealing; maxToolsPerServer: number }

type ServerChange = {
  added: readonly SavedTool[]
  lacking: readonly LackingInstance[]
  given: GivenValues
  /** The toolkit of the tools, if they get no other secrets of the server than its tools have. */
  onlyOf?: string | undefined
  /** Globals that there is room for. The others are missing. */
  room?: number
}

const addTools = async (
  tx: Transaction,
  by: { actor: Actor; server: Server; sealing: Sealing },
  added: readonly SavedTool[],
  plan: GlobalPlan,
): Promise<void> => {
  const nameOf = await createInstanceNames(tx, by.server.id)
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
  await addInstances(tx, by, drafts)
}

const withinRoom = ({ keys, created, missing }: GlobalPlan, room: number): GlobalPlan => ({
  keys,
  created: created.slice(0, room),
  missing: [...missing, ...created.slice(room)],
})

/** Adds tools to a server, binds what its updated tools lack, and adds the globals that all of them need. */
const changeServer = async (
  tx: Transaction,
  by: { actor: Actor; server: Server; sealing: Sealing },
  { added, lacking, given, onlyOf, room = Number.POSITIVE_INFINITY }: ServerChange,
): Promise<GlobalPlan> => {
  const tools = added.map(({ prepared }) => prepared.definition)
  const place = { serverId: by.server.id, sealing: by.sealing, onlyOf }
  const plan = withinRoom(await planForServer(tx, place, { tools, lacking, given }), room)
  for (const { key, isSecret, value, origins } of plan.created) {
    await createGlobalIn(tx, by, key, { value, secret: isSecret, ...(isSecret && { origins }) })
  }
  if (added.length > 0) await addTools(tx, by, added, plan)
  await bindLacking(tx, by, lacking, plan)
  return plan
}

const toRewired = ({ id, name }: Server, { created, keys }: GlobalPlan) => ({
  id,
  name,
  globals: created.map(toAppliedGlobal),
  rekeyed: [...keys].flatMap(([from, to]) => (from === to ? [] : [{ from, to }])),
})

const toMissing = ({ id }: Server, { missing }: GlobalPlan) =>
  missing.map(global => ({ ...toAppliedGlobal(global), serverId: id }))

type Lacking = ReadonlyMap<string, readonly LackingInstance[]>

/** Adds saved tools to the chosen server, new or existing. Skips tools that are there. */
const wireChosen = async (
  tx: Transaction,
  { actor, sealing, maxToolsPerServer }: Parts,
  { toolkit, tools, given }: Wiring,
  { choice, lacking }: { choice: ServerChoice; lacking: Lacking },
): Promise<{ server: Server; plan: GlobalPlan; added: number }> => {
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
  const change = { added, lacking: lacking.get(server.id) ?? [], given }
  return { server, plan: await changeServer(tx, { actor, server, sealing }, change), added: added.length }
}

/** Leaves out what the builder entered: it is for the chosen server only. */
const onlyOfSource = ({ summary }: GivenValues): GivenValues => ({
  summary,
  settings: { baseUrls: {}, variables: {} },
  secrets: new Map(),
})

/** Binds what updated tools lack on the servers that were not chosen. */
const wireOthers = async (
  tx: Transaction,
  { actor, sealing }: Parts,
  { toolkit, given }: Wiring,
  lacking: Lacking,
): Promise<{ server: Server; plan: GlobalPlan }[]> => {
  const wired: { server: Server; plan: GlobalPlan }[] = []
  for (const [serverId, instances] of lacking) {
    const server = await findServerOfAnybody(tx, serverId)
    if (server === undefined) continue
    // Who may not open a server must not decide that its secrets are used for more.
    const onlyOf = isAllowed(policyOf(server), actor) ? undefined : toolkit.id
    const room = MAX_GLOBALS_PER_SERVER - (await countGlobals(tx, serverId))
    const change = { added: [], lacking: instances, given: onlyOfSource(given), onlyOf, room: Math.max(0, room) }
    wired.push({ server, plan: await changeServer(tx, { actor, server, sealing }, change) })
  }
  return wired
}

/**
 * Adds saved tools to the chosen server, with the globals that they need. On all servers that have them already, binds
 * what an update has added, as the tools would not work otherwise. Runs in the transaction that saves the tools.
 */
export const wireServers = async (
  tx: Transaction,
  parts: Parts,
  wiring: Wiring,
): Promise<Pick<ImportReport, 'server' | 'rewired' | 'missing' | 'discarded'>> => {
  const { choice, tools, given } = wiring
  const lacking = await listLackingInstances(tx, tools)
  const chosen = choice === undefined ? undefined : await wireChosen(tx, parts, wiring, { choice, lacking })
  const rest = new Map([...lacking].filter(([serverId]) => serverId !== chosen?.server.id))
  const others = await wireOthers(tx, parts, wiring, rest)
  const all = chosen === undefined ? others : [chosen, ...others]
  const keysOfChosen = chosen?.plan.keys ?? new Map<string, string>()
  const stored = new Set<string | undefined>(chosen?.plan.created.map(({ key }) => key))
  return {
    ...(chosen !== undefined && {
      server: { ...toRewired(chosen.server, chosen.plan), created: typeof choice !== 'string', tools: chosen.added },
    }),
    rewired: others.map(({ server, plan }) => toRewired(server, plan)),
    missing: all.flatMap(({ server, plan }) => toMissing(server, plan)),
    discarded: [...given.secrets.keys()].filter(key => !stored.has(keysOfChosen.get(key))),
  }
}
