import type { Database } from '../../lib/db/client.ts'
import type { Changes } from '../../lib/events/changes.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import { getToolkitForChange, type ToolkitService } from '../../tools/toolkits.service.ts'
import { findToolkit } from '../../tools/toolkits.store.ts'
import { countTools, listAllTools } from '../../tools/tools.store.ts'
import type { Server } from '../server.ts'
import { assertOwnOrManaged, getServerFor, mayRemoveServer, type ServerService } from '../servers.service.ts'
import { uses } from '../sources/toolkit-uses.store.ts'
import * as store from './samples.store.ts'

export type SampleServiceParts = {
  db: Database
  changes: Changes
  servers: Pick<ServerService, 'removeServer'>
  toolkits: Pick<ToolkitService, 'removeToolkit'>
  /** Origin of the sample API. A tool with another origin is somebody's own. */
  sampleOrigin: string
}

/** Why a sample's toolkit stays: other servers use it, or somebody added tools to it. */
export type KeptFor =
  /** The servers that the actor may use, by name. Empty if it may use none of them. */
  { kind: 'servers'; names: readonly string[] } | { kind: 'tools'; names: readonly string[] }

/** The server and the toolkit that `removeSample` deletes. */
export type SampleRemoval = {
  server: Server
  /** Undefined if the server's organization no longer has the toolkit. */
  toolkit: { id: string; title: string; tools: number; keptFor: KeptFor | undefined } | undefined
}

const notSample = () => new AppError('not_found', 'This server is not a sample.')

/** Ignores that somebody has deleted the toolkit or begun to use it meanwhile. The sample itself is gone by then. */
const ignoreGoneOrUsed = (error: unknown): void => {
  if (!(error instanceof AppError && (error.code === 'not_found' || error.code === 'conflict'))) throw error
}

/** Operations on samples: servers, each with a toolkit, that Patchbay made of its sample API for trying it out. */
export const createSampleService = ({ db, changes, servers, toolkits, sampleOrigin }: SampleServiceParts) => {
  const findKeptFor = async (actor: Actor, serverId: string, toolkitId: string): Promise<KeptFor | undefined> => {
    const usersFor = async (reader?: Actor) =>
      ((await uses.ofToolkits(db, [toolkitId], reader)).get(toolkitId) ?? []).filter(({ id }) => id !== serverId)
    if ((await usersFor()).length > 0) {
      return { kind: 'servers', names: (await usersFor(actor)).map(({ name }) => name) }
    }
    const own = (await listAllTools(db, toolkitId)).filter(({ url }) => !url.startsWith(`${sampleOrigin}/`))
    return own.length === 0 ? undefined : { kind: 'tools', names: own.map(({ name }) => name) }
  }

  /**
   * Returns what `removeSample` would delete. Throws the errors of `removeServer`, and `not_found` if the server is not
   * a sample.
   */
  const previewRemoval = async (actor: Actor, serverId: string): Promise<SampleRemoval> => {
    const server = await getServerFor(db, actor, serverId, 'build')
    assertOwnOrManaged(actor, server)
    const toolkitId = orThrow(await store.findSampleToolkitId(db, serverId), notSample)
    const toolkit = await findToolkit(db, toolkitId, [server.organizationId])
    if (toolkit === undefined) return { server, toolkit: undefined }
    const { id, title } = toolkit
    const tools = await countTools(db, id)
    return { server, toolkit: { id, title, tools, keptFor: await findKeptFor(actor, serverId, id) } }
  }

  return {
    /** Notes that a new server and its toolkit are a sample. Requires permission to build. */
    noteSample: (actor: Actor, serverId: string, toolkitId: string): Promise<void> =>
      changes.commit(async tx => {
        await getServerFor(tx, actor, serverId, 'build')
        await getToolkitForChange(tx, actor, toolkitId)
        await store.noteSample(tx, serverId, toolkitId)
      }),

    /** Returns the IDs of those of these servers that are samples and that the actor may remove. */
    listRemovable: async (actor: Actor, serverIds: readonly string[]): Promise<ReadonlySet<string>> => {
      const samples = await store.listSamplesAmong(db, serverIds)
      return new Set(samples.filter(server => mayRemoveServer(actor, server)).map(({ id }) => id))
    },

    previewRemoval,

    /**
     * Deletes a sample's server, and its toolkit unless that has to stay. Only for the server's owner and for managers
     * of its organization.
     */
    removeSample: async (actor: Actor, serverId: string): Promise<void> => {
      const { toolkit } = await previewRemoval(actor, serverId)
      await servers.removeServer(actor, serverId)
      if (toolkit === undefined || toolkit.keptFor !== undefined) return
      await toolkits.removeToolkit(actor, toolkit.id).catch(ignoreGoneOrUsed)
    },
  }
}

export type SampleService = ReturnType<typeof createSampleService>
