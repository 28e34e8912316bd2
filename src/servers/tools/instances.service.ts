import type { Transaction } from '../../lib/db/client.ts'
import { rethrowTaken } from '../../lib/db/failures.ts'
import type { IdPage } from '../../lib/http/id-paging.ts'
import { type Actor, organizationIdsOf } from '../../lib/kernel/actor.ts'
import { assertUnchangedSince, selectionChanged, type Unchanged } from '../../lib/kernel/conflicts.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import type { Permission } from '../../lib/kernel/roles.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { assertBindings } from '../bindings/binding-checks.ts'
import { bindingOf, globalKeysOf } from '../bindings/bindings.ts'
import { missingDefaults } from '../bindings/default-bindings.ts'
import type { Binder } from '../origins/secret-origins.ts'
import type { KeyUse } from '../origins/tool-origins.ts'
import type { Bindings, Instance, Server } from '../server.ts'
import { getServerFor, type ServerServiceParts } from '../servers.service.ts'
import { assertHoldsTools } from '../settings/passthrough-rules.ts'
import { addUse, findToolForServer, findToolProblem } from '../sources/toolkit-uses.store.ts'
import * as store from './instances.store.ts'

const instanceNotFound = () => new AppError('not_found', 'Instance not found.')

const NO_TOOL =
  'does not belong to a toolkit of this server. Add its toolkit to the server, or accept the pending update'

const cannotBeUsed = ({ name, problem }: { name: string; problem: string }): AppError => {
  const message = `cannot be used until it is fixed: ${problem}`
  return new AppError('invalid_request', `The tool "${name}" ${message}.`, { errors: [{ path: 'toolId', message }] })
}

/**
 * Returns the ID of the tool, or of its copy in the server's snapshot. Also adds the tool's toolkit to the server if
 * the toolkit belongs to the organization. Throws `invalid_request` if the tool is invalid.
 */
export const takeTool = async (tx: Transaction, server: Server, toolId: string): Promise<string> => {
  assertHoldsTools(server)
  const tool = await findToolForServer(tx, server, toolId)
  if (tool === undefined) {
    throw new AppError('invalid_request', `The tool ${NO_TOOL}.`, { errors: [{ path: 'toolId', message: NO_TOOL }] })
  }
  const unusable = await findToolProblem(tx, tool.id)
  if (unusable !== undefined) throw cannotBeUsed(unusable)
  await addUse(tx, server.id, tool.toolkitId)
  return tool.id
}

const getInstanceFor = async (
  tx: Transaction,
  actor: Actor,
  id: string,
  permission: Permission,
): Promise<{ instance: Instance; server: Server }> => {
  const instance = orThrow(await store.findInstance(tx, id, organizationIdsOf(actor)), instanceNotFound)
  return { instance, server: await getServerFor(tx, actor, instance.serverId, permission) }
}

/** Throws `limit_exceeded` if adding `more` tools would exceed the server's limit. */
export const assertRoomForTools = async (
  tx: Transaction,
  serverId: string,
  { more, maxToolsPerServer }: { more: number; maxToolsPerServer: number },
): Promise<void> => {
  if ((await store.countInstances(tx, serverId)) + more <= maxToolsPerServer) return
  throw new AppError(
    'limit_exceeded',
    `A server can have at most ${maxToolsPerServer} tools (PATCHBAY_MAX_TOOLS_PER_SERVER).`,
  )
}

/** A removed instance. Its bindings name globals and secrets by their keys. */
export type RemovedInstance = Pick<
  Instance,
  'id' | 'name' | 'description' | 'maxResponseTokens' | 'isEnabled' | 'bindings' | 'createdAt'
> & { toolId: string }

type Applied = { instance: Instance; isChosen: (use: KeyUse) => boolean }

type DefaultsInput = {
  before?: Instance | undefined
  /** Default bindings with other keys than the tool names. */
  rekeyed?: Bindings | undefined
}

/**
 * Stores the tool's default bindings where the instance has none. `isChosen` is false for uses that the actor did not
 * choose: the defaults of another organization's toolkit must not decide where a secret may be sent.
 */
const applyDefaults = async (
  tx: Transaction,
  written: Instance,
  { before, rekeyed }: DefaultsInput,
): Promise<Applied> => {
  const defaults = { ...missingDefaults(written, before), ...rekeyed }
  if (Object.keys(defaults).length === 0) return { instance: written, isChosen: () => true }
  const instance = await store.updateInstance(tx, written.id, { bindings: { ...written.bindings, ...defaults } })
  const isForeign = instance.tool.originId !== undefined
  return { instance, isChosen: ({ path }) => !isForeign || !Object.hasOwn(defaults, path) }
}

/**
 * Creates an instance with the tool's default bindings, and checks all of its bindings. `rekeyed` are default bindings
 * with other keys than the tool names.
 */
const createChecked = async (
  tx: Transaction,
  binder: Binder & { sealing: Sealing },
  input: store.NewInstance,
  rekeyed?: Bindings,
): Promise<Instance> => {
  const written = await store.createInstance(tx, { ...input, serverId: binder.server.id })
  const { instance, isChosen } = await applyDefaults(tx, written, { rekeyed })
  await assertBindings(tx, binder, instance, isChosen)
  return instance
}

/**
 * Changes an instance in the caller's transaction and returns it. The caller announces the change. The parameters of
 * `stored` have a global whose value the actor has just stored, so their bindings are the actor's too.
 */
export const changeInstance = async (
  tx: Transaction,
  actor: Actor,
  id: string,
  {
    patch,
    sealing,
    stored = [],
    ...unchanged
  }: Unchanged & { patch: store.InstancePatch; sealing: Sealing; stored?: readonly string[] },
): Promise<Instance> => {
  const { instance: before, server } = await getInstanceFor(tx, actor, id, 'build')
  assertUnchangedSince(`the tool "${before.name}"`, before.updatedAt, unchanged)
  const toolId = patch.toolId === undefined ? undefined : await takeTool(tx, server, patch.toolId)
  const written = await store.updateInstance(tx, id, { ...patch, toolId })
  if (patch.bindings === undefined && toolId === undefined) return written
  const { instance, isChosen } = await applyDefaults(tx, written, { before })
  const isChanged = (use: KeyUse): boolean =>
    stored.includes(use.path) ||
    (isChosen(use) && !globalKeysOf(use.path, bindingOf(before.bindings, use.path)).has(use.key))
  await assertBindings(tx, { actor, server, sealing }, instance, isChanged)
  return instance
}

export const createInstanceService = ({
  db,
  changes,
  sealing,
  maxToolsPerServer,
}: ServerServiceParts & { sealing: Sealing; maxToolsPerServer: number }) => {
  return {
    /**
     * Adds a tool to a server, with the tool's default bindings for parameters that `input` does not bind. Also adds the
     * tool's toolkit if the toolkit belongs to the organization.
     */
    createInstance: (actor: Actor, serverId: string, input: store.NewInstance): Promise<Instance> =>
      changes
        .commit(async (tx, announce) => {
          const server = await getServerFor(tx, actor, serverId, 'build')
          const toolId = await takeTool(tx, server, input.toolId)
          await assertRoomForTools(tx, serverId, { more: 1, maxToolsPerServer })
          const instance = await createChecked(tx, { actor, server, sealing }, { ...input, toolId })
          announce({ type: 'server_changed', serverId })
          return instance
        })
        .catch(rethrowTaken('server', 'a tool', input.name)),

    getInstance: async (actor: Actor, id: string): Promise<Instance> =>
      (await getInstanceFor(db, actor, id, 'read')).instance,

    /** Returns an instance and its server if the actor may build, so that the API can call it. */
    getInstanceToCall: (actor: Actor, id: string): Promise<{ instance: Instance; server: Server }> =>
      getInstanceFor(db, actor, id, 'build'),

    listInstances: async (actor: Actor, serverId: string, page: IdPage): Promise<Instance[]> => {
      await getServerFor(db, actor, serverId, 'read')
      return store.listInstances(db, serverId, page)
    },

    listAllInstances: async (actor: Actor, serverId: string): Promise<Instance[]> => {
      await getServerFor(db, actor, serverId, 'read')
      return store.listAllInstances(db, serverId)
    },

    /** Changes an instance. Throws `conflict` if it has changed since `ifUnchangedSince`. */
    updateInstance: (
      actor: Actor,
      id: string,
      patch: store.InstancePatch,
      unchanged: Unchanged = {},
    ): Promise<Instance> =>
      changes
        .commit(async (tx, announce) => {
          const instance = await changeInstance(tx, actor, id, { patch, sealing, ...unchanged })
          announce({ type: 'server_changed', serverId: instance.serverId })
          return instance
        })
        .catch(rethrowTaken('server', 'a tool', patch.name)),

    removeInstance: (actor: Actor, id: string): Promise<void> =>
      changes.commit(async (tx, announce) => {
        const { serverId } = (await getInstanceFor(tx, actor, id, 'build')).instance
        await store.removeInstance(tx, id)
        announce({ type: 'server_changed', serverId })
      }),

    /** Enables or disables several tools of a server, or none. Throws `conflict` if one of them is not there. */
    enableInstances: (
      actor: Actor,
      serverId: string,
      selected: { ids: readonly string[]; isEnabled: boolean },
    ): Promise<void> =>
      changes.commit(async (tx, announce) => {
        await getServerFor(tx, actor, serverId, 'build')
        if ((await store.enableInstances(tx, serverId, selected)) !== selected.ids.length) throw selectionChanged()
        announce({ type: 'server_changed', serverId })
      }),

    /** Removes several tools from a server, or none. Throws `conflict` if one of them is not there. */
    removeInstances: (actor: Actor, serverId: string, ids: readonly string[]): Promise<void> =>
      changes.commit(async (tx, announce) => {
        await getServerFor(tx, actor, serverId, 'build')
        if ((await store.removeInstances(tx, serverId, ids)) !== ids.length) throw selectionChanged()
        announce({ type: 'server_changed', serverId })
      }),

    /**
     * Adds removed instances again with their IDs and bindings, all or none. Skips those that are there again. Throws
     * `conflict` if a name is taken, and `invalid_request` if a tool is gone, is invalid, or no longer fits its bindings.
     */
    restoreInstances: (actor: Actor, serverId: string, removed: readonly RemovedInstance[]): Promise<void> =>
      changes.commit(async (tx, announce) => {
        const server = await getServerFor(tx, actor, serverId, 'build')
        const there = await store.listInstancesById(
          tx,
          serverId,
          removed.map(({ id }) => id),
        )
        const missing = removed.filter(({ id }) => there.every(instance => instance.id !== id))
        await assertRoomForTools(tx, serverId, { more: missing.length, maxToolsPerServer })
        for (const instance of missing) {
          const toolId = await takeTool(tx, server, instance.toolId)
          const restored = await store
            .createInstance(tx, { ...instance, enabled: instance.isEnabled, toolId, serverId })
            .catch(rethrowTaken('server', 'a tool', instance.name))
          // Restoring must not set the origins of a secret.
          await assertBindings(tx, { actor, server, sealing }, restored, () => false)
        }
        announce({ type: 'server_changed', serverId })
      }),
  }
}

export type InstanceService = ReturnType<typeof createInstanceService>
