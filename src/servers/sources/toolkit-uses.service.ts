import type { Transaction } from '../../lib/db/client.ts'
import type { IdPage } from '../../lib/http/id-paging.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import { findMove } from '../../tools/sharing/destination.ts'
import {
  acceptUpdate,
  assertVersion,
  compareSnapshot,
  type SnapshotDifference,
  takeSnapshot,
} from '../../tools/sharing/snapshots.ts'
import type { Snapshot, Tool, Toolkit } from '../../tools/tool.ts'
import { toolkitNotFound } from '../../tools/toolkits.service.ts'
import { findSnapshot, findUsableToolkit, listSnapshots, removeToolkit } from '../../tools/toolkits.store.ts'
import { globalKeysOf } from '../bindings/bindings.ts'
import { listSecretKeys } from '../globals/globals.store.ts'
import type { Server } from '../server.ts'
import { auditServer } from '../server-audit.ts'
import { getServerFor, type ServerServiceParts } from '../servers.service.ts'
import { assertHoldsTools } from '../settings/passthrough-rules.ts'
import { countInstancesByToolkit, listInstanceNames, listInstancesOfTool } from '../tools/instances.store.ts'
import { type AddableToolkit, listAddableToolkits } from '../tools/tool-picks.store.ts'
import { addUse, findUse, listUsedToolkits, removeUse, type ToolkitUse } from './toolkit-uses.store.ts'

/**
 * Throws `conflict` if a changed tool would send a bound secret to another origin. The owner of a
 * toolkit must not be able to obtain secrets of other organizations.
 */
const assertSecretsStay = async (tx: Transaction, serverId: string, held: Tool, changed: Tool): Promise<void> => {
  const move = findMove(held, changed)
  if (move === undefined) return
  const secretKeys = await listSecretKeys(tx, serverId)
  for (const { name, bindings } of await listInstancesOfTool(tx, serverId, held.id)) {
    // Includes parameters that the tool no longer has, because an update can bring them back.
    for (const [parameter, binding] of Object.entries(bindings)) {
      const key = [...globalKeysOf(parameter, binding)].find(candidate => secretKeys.has(candidate))
      if (key === undefined) continue
      throw new AppError(
        'conflict',
        `The update moves the tool "${held.name}" from ${move.from} to ${move.to}. The secret "${key}", which "${name}" ` +
          `binds to "${parameter}", would be sent there. Remove that binding first.`,
      )
    }
  }
}

export type UsedToolkit = {
  /** ID of the `ToolkitUse` row, for pagination cursors. */
  useId: string
  /** The original toolkit's ID, even if the server uses a snapshot. */
  id: string
  /** ID of the snapshot, or of the toolkit if it is used directly. */
  heldId: string
  title: string
  createdAt: Date
  updatedAt: Date
  /** Defined if the server uses a snapshot of the toolkit. */
  snapshot:
    | {
        takenAt: Date
        isOriginPublic: boolean
        update: SnapshotDifference | undefined
      }
    | undefined
}

/**
 * Finds a public toolkit or one of the server's organization. The server cannot use private toolkits of the actor's
 * other organizations.
 */
const findToolkitFor = (tx: Transaction, { organizationId }: Server, toolkitId: string): Promise<Toolkit | undefined> =>
  findUsableToolkit(tx, toolkitId, [organizationId])

const useForeignToolkit = async (
  tx: Transaction,
  actor: Actor,
  server: Server,
  origin: Toolkit,
  version: string | undefined,
): Promise<void> => {
  if (version !== undefined) await assertVersion(tx, origin.id, version)
  const held = await findSnapshot(tx, server.id, origin.id)
  if (held === undefined) {
    const snapshot = await takeSnapshot(tx, origin, { organizationId: server.organizationId, serverId: server.id })
    await addUse(tx, server.id, snapshot.id)
    return
  }
  const tools = await acceptUpdate(tx, held, origin, {
    instancesOf: toolId => listInstanceNames(tx, { serverId: server.id, toolId }),
    assertMayBecome: (copy, current) => assertSecretsStay(tx, server.id, copy, current),
  })
  const isOther = Object.values(tools).some(names => names.length > 0)
  const change = { toolkitId: origin.id, toolkit: origin.title, ...tools }
  if (isOther) await auditServer(tx, actor, 'server.toolkit_updated', server, change)
}

const assertNoInstances = async (tx: Transaction, serverId: string, toolkitId: string): Promise<void> => {
  const names = await listInstanceNames(tx, { serverId, tool: { toolkitId } })
  if (names.length === 0) return
  const listed = names.map(name => `"${name}"`).join(', ')
  throw new AppError('conflict', `This server uses tools of that toolkit: ${listed}. Remove them first.`)
}

const toUsed = async (
  tx: Transaction,
  server: Server,
  { id: useId, createdAt, updatedAt, toolkit }: ToolkitUse,
  snapshots: readonly Snapshot[],
): Promise<UsedToolkit> => {
  const held = snapshots.find(({ id }) => id === toolkit.id)
  const used = { useId, heldId: toolkit.id, title: toolkit.title, createdAt, updatedAt }
  if (held === undefined) return { ...used, id: toolkit.id, snapshot: undefined }
  // An original that was deleted or is no longer public provides no updates.
  const origin = await findToolkitFor(tx, server, held.snapshotOfId)
  const update = origin && (await compareSnapshot(tx, held))
  return {
    ...used,
    id: held.snapshotOfId,
    snapshot: { takenAt: held.snapshotAt, isOriginPublic: origin !== undefined, update },
  }
}

export const createToolkitUseService = ({ db, changes }: ServerServiceParts) => ({
  /**
   * Adds a toolkit. If it belongs to another organization, takes a snapshot or accepts the pending update. Throws
   * `conflict` if the toolkit has changed since `version`, or if the update would send a secret to another origin.
   */
  useToolkit: (actor: Actor, serverId: string, toolkitId: string, version?: string): Promise<void> =>
    changes.commit(async (tx, announce) => {
      const server = await getServerFor(tx, actor, serverId, 'build')
      const toolkit = orThrow(await findToolkitFor(tx, server, toolkitId), toolkitNotFound)
      assertHoldsTools(server)
      const isOwn = toolkit.organizationId === server.organizationId
      // After a transfer, the server may have a snapshot of a toolkit that belongs to its new organization.
      if (isOwn && (await findSnapshot(tx, serverId, toolkitId)) === undefined) await addUse(tx, serverId, toolkitId)
      else await useForeignToolkit(tx, actor, server, toolkit, version)
      announce({ type: 'server_changed', serverId })
    }),

  /** Removes a toolkit. Throws `conflict` with the names of the instances that still use its tools. */
  dropToolkit: (actor: Actor, serverId: string, toolkitId: string): Promise<void> =>
    changes.commit(async (tx, announce) => {
      await getServerFor(tx, actor, serverId, 'build')
      const snapshot = await findSnapshot(tx, serverId, toolkitId)
      const heldId = snapshot?.id ?? toolkitId
      await assertNoInstances(tx, serverId, heldId)
      if (!(await removeUse(tx, serverId, heldId))) throw toolkitNotFound()
      if (snapshot !== undefined) await removeToolkit(tx, snapshot.id)
      announce({ type: 'server_changed', serverId })
    }),

  listUsedToolkits: async (actor: Actor, serverId: string, page: IdPage): Promise<UsedToolkit[]> => {
    const server = await getServerFor(db, actor, serverId, 'read')
    const snapshots = await listSnapshots(db, serverId)
    const rows = await listUsedToolkits(db, serverId, page)
    return Promise.all(rows.map(row => toUsed(db, server, row, snapshots)))
  },

  /** Counts the tools that the server uses of each toolkit, by `heldId`. Omits toolkits of which it uses none. */
  countToolsInUse: async (actor: Actor, serverId: string): Promise<ReadonlyMap<string, number>> => {
    await getServerFor(db, actor, serverId, 'read')
    return countInstancesByToolkit(db, serverId)
  },

  /** Finds a used toolkit by the original toolkit's ID, even if the server uses a snapshot. */
  findUsedToolkit: async (actor: Actor, serverId: string, toolkitId: string): Promise<UsedToolkit | undefined> => {
    const server = await getServerFor(db, actor, serverId, 'read')
    const snapshot = await findSnapshot(db, serverId, toolkitId)
    const row = await findUse(db, serverId, snapshot?.id ?? toolkitId)
    return row && (await toUsed(db, server, row, snapshot === undefined ? [] : [snapshot]))
  },

  /** Lists the toolkits that can be added to the server: those of its organization and all public ones. */
  listAddableToolkits: async (
    actor: Actor,
    serverId: string,
    page: { search: string; skip: number; take: number },
  ): Promise<{ toolkits: AddableToolkit[]; total: number }> =>
    listAddableToolkits(db, await getServerFor(db, actor, serverId, 'build'), page),
})

export type ToolkitUseService = ReturnType<typeof createToolkitUseService>
