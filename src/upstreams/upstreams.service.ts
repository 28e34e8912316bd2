import { isDeepStrictEqual } from 'node:util'
import type { Database, Transaction } from '../lib/db/client.ts'
import { rethrowTaken } from '../lib/db/failures.ts'
import type { Changes } from '../lib/events/changes.ts'
import type { IdPage } from '../lib/http/id-paging.ts'
import type { Actor } from '../lib/kernel/actor.ts'
import { assertUnchangedSince, type Unchanged } from '../lib/kernel/conflicts.ts'
import { AppError, type FieldError } from '../lib/kernel/errors.ts'
import { hasToolAnswers, withTool } from './catalogue/tool-answers.ts'
import { type AuthInput, toSecretChange } from './config/auth-input.ts'
import { applyChange, checkInput } from './config/config-input.ts'
import { compileConfig, findOriginOf } from './config/resolve-config.ts'
import { assertMayRunCommands, startsNewCommand } from './config/stdio-permission.ts'
import { type GetServerFor, getUpstreamFor } from './get-upstream.ts'
import { MAX_UPSTREAMS_PER_SERVER } from './limits.ts'
import { type StoredAccount, takeAccountsOf } from './oauth-client/accounts.store.ts'
import type { Revocations } from './oauth-client/revocations.ts'
import type { UpstreamClients } from './oauth-client/upstream-clients.ts'
import { assertPassable } from './passthrough-rules.ts'
import { isOAuth, type ToolAnswers, type Upstream, type UpstreamAuth, type UpstreamConfig } from './upstream.ts'
import { auditChangedUpstream, auditUpstream, type NamedServer, whereOf } from './upstream-audit.ts'
import {
  createUpstreamReading,
  createValueLookup,
  type ListGlobals,
  type UpstreamWithGlobals,
} from './upstream-reading.ts'
import { assertConfig, assertToolAnswers, refuse } from './upstream-refusals.ts'
import type { UpstreamChange, UpstreamInput } from './upstreams.schema.ts'
import * as store from './upstreams.store.ts'

/** The functions that upstreams need from the server module. */
export type ServersOfUpstreams = {
  getServerFor: GetServerFor<NamedServer & { presentation: string }>
  listGlobals: ListGlobals
  /** Settles where the secrets of a configuration may be sent. Returns an error for each that may not. */
  settleOrigins: (
    tx: Transaction,
    actor: Actor,
    serverId: string,
    configs: { config: UpstreamConfig; before: UpstreamConfig | undefined },
  ) => Promise<FieldError[]>
}

type UpstreamServiceParts = {
  db: Database
  changes: Changes
  servers: ServersOfUpstreams
  clients: Pick<UpstreamClients, 'saveConfigured' | 'listConfigured'>
  revocations: Pick<Revocations, 'revokeInBackground'>
  /** Whether upstreams may run commands on this machine. */
  allowStdio: boolean
  maxTimeoutMs: number
}

/** Settings for the tool that has this name on the upstream. Without `responseTokens`, the server's limit applies. */
type ToolAnswersChange = { tool: string; responseTokens: number | undefined; answers: ToolAnswers }

const clientIdOf = (auth: UpstreamAuth | undefined): string | undefined => (isOAuth(auth) ? auth.clientId : undefined)

export const createUpstreamService = ({
  db,
  changes,
  servers,
  clients,
  revocations,
  allowStdio,
  maxTimeoutMs,
}: UpstreamServiceParts) => {
  /** Stores the requested account setting and client secret. Returns the accounts that are removed as a result. */
  const saveAuth = async (
    tx: Transaction,
    { id, serverId, config }: Upstream,
    { before, requested }: { before: UpstreamAuth | undefined; requested: AuthInput | undefined },
  ): Promise<StoredAccount[]> => {
    const after = config.auth
    const secret = toSecretChange(before, requested, after)
    const hasOwnClient = clientIdOf(before) !== undefined || clientIdOf(after) !== undefined
    if (secret === 'none' && hasOwnClient) await clients.saveConfigured(tx, id, undefined)
    if (secret !== 'none' && secret !== 'kept') {
      const enteredFor = findOriginOf(config, createValueLookup(await servers.listGlobals(tx, serverId)))
      await clients.saveConfigured(tx, id, { ...secret, enteredFor })
    }
    // Accounts of another kind, or connected with a different client, no longer work.
    const isSame = isOAuth(before) && isOAuth(after) && before.per === after.per && before.clientId === after.clientId
    return isOAuth(before) && !isSame ? takeAccountsOf(tx, id) : []
  }

  const getForChange = async (tx: Transaction, actor: Actor, id: string, unchanged: Unchanged = {}) => {
    const found = await getUpstreamFor(servers.getServerFor, tx, actor, id, 'build')
    assertUnchangedSince(`the MCP server "${found.upstream.name}"`, found.upstream.updatedAt, unchanged)
    return found
  }

  const assertNoSecretAtRisk = async (tx: Transaction, serverId: string, config: UpstreamConfig): Promise<void> => {
    const compiled = compileConfig(config)
    if (!compiled.ok) throw refuse(compiled.error)
    const globals = await servers.listGlobals(tx, serverId)
    const secrets = new Set(globals.flatMap(({ key, isSecret }) => (isSecret ? key : [])))
    const risk = compiled.value.findSecretAtRisk(key => secrets.has(key))
    if (risk !== undefined) throw refuse([risk])
  }

  const assertOrigins = async (
    tx: Transaction,
    actor: Actor,
    serverId: string,
    configs: { config: UpstreamConfig; before: UpstreamConfig | undefined },
  ): Promise<void> => {
    const errors = await servers.settleOrigins(tx, actor, serverId, configs)
    if (errors.length > 0) throw refuse(errors)
  }

  const assertRoom = async (tx: Transaction, serverId: string): Promise<void> => {
    if ((await store.countUpstreams(tx, serverId)) < MAX_UPSTREAMS_PER_SERVER) return
    throw new AppError('limit_exceeded', `A server can have at most ${MAX_UPSTREAMS_PER_SERVER} MCP servers attached.`)
  }

  const { withGlobals, withOwnGlobals } = createUpstreamReading({ db, listGlobals: servers.listGlobals, clients })

  return {
    createUpstream: async (actor: Actor, serverId: string, input: UpstreamInput): Promise<UpstreamWithGlobals> => {
      const { name, description, enabled, responseTokens = {}, toolAnswers = {}, ...requested } = input
      const upstream = await changes
        .commit(async (tx, announce) => {
          const server = await servers.getServerFor(tx, actor, serverId, 'build')
          if (requested.transport === 'stdio') assertMayRunCommands(actor, { allowStdio })
          assertPassable(server, { transport: requested.transport, others: await store.countUpstreams(tx, serverId) })
          const config = assertConfig(checkInput(requested, { maxTimeoutMs }))
          assertToolAnswers(toolAnswers)
          await assertNoSecretAtRisk(tx, serverId, config)
          await assertOrigins(tx, actor, serverId, { config, before: undefined })
          await assertRoom(tx, serverId)
          const made = await store.createUpstream(tx, serverId, {
            name,
            description,
            isEnabled: enabled ?? true,
            config,
            responseTokens,
            toolAnswers,
          })
          await saveAuth(tx, made, { before: undefined, requested: requested.auth })
          await auditUpstream(tx, actor, server, 'upstream.created', made, whereOf(config))
          announce({ type: 'upstream_changed', upstreamId: made.id, serverId })
          return made
        })
        .catch(rethrowTaken('server', 'an MCP server', name))
      return withOwnGlobals(upstream)
    },

    getUpstream: async (actor: Actor, id: string): Promise<UpstreamWithGlobals> => {
      const { upstream } = await getUpstreamFor(servers.getServerFor, db, actor, id, 'read')
      return withOwnGlobals(upstream)
    },

    /** Returns one item more than the page size if there is another page. */
    listUpstreams: async (actor: Actor, serverId: string, page: IdPage): Promise<UpstreamWithGlobals[]> => {
      await servers.getServerFor(db, actor, serverId, 'read')
      return withGlobals(serverId, await store.listUpstreams(db, serverId, page))
    },

    listAllUpstreams: async (actor: Actor, serverId: string): Promise<UpstreamWithGlobals[]> => {
      await servers.getServerFor(db, actor, serverId, 'read')
      return withGlobals(serverId, await store.listAllUpstreams(db, serverId))
    },

    /**
     * Updates an upstream. Only the operator may run a different command. Throws `conflict` if the upstream has changed
     * since `ifUnchangedSince`.
     */
    updateUpstream: async (
      actor: Actor,
      id: string,
      change: UpstreamChange,
      unchanged: Unchanged = {},
    ): Promise<UpstreamWithGlobals> => {
      const { name, description, enabled, responseTokens, toolAnswers, ...requestedChange } = change
      const { upstream, gone } = await changes
        .commit(async (tx, announce) => {
          const { upstream: before, server } = await getForChange(tx, actor, id, unchanged)
          const requested = applyChange(before.config, requestedChange)
          assertPassable(server, { transport: requested.transport, others: 0 })
          if (requested.transport === 'stdio' && before.config.transport !== 'stdio') {
            assertMayRunCommands(actor, { allowStdio })
          }
          const wanted = {
            name: name ?? before.name,
            description: description === undefined ? before.description : (description ?? undefined),
            isEnabled: enabled ?? before.isEnabled,
            config: assertConfig(checkInput(requested, { maxTimeoutMs })),
            responseTokens: responseTokens === undefined ? before.responseTokens : (responseTokens ?? {}),
            toolAnswers: toolAnswers === undefined ? before.toolAnswers : (toolAnswers ?? {}),
          }
          if (toolAnswers) assertToolAnswers(toolAnswers)
          if (startsNewCommand(before, wanted)) assertMayRunCommands(actor, { allowStdio })
          await assertNoSecretAtRisk(tx, before.serverId, wanted.config)
          const isUsedAnew = wanted.isEnabled && !before.isEnabled
          if (isUsedAnew || !isDeepStrictEqual(before.config, wanted.config)) {
            await assertOrigins(tx, actor, before.serverId, { config: wanted.config, before: before.config })
          }
          const after = await store.updateUpstream(tx, id, wanted)
          const gone = await saveAuth(tx, after, { before: before.config.auth, requested: requested.auth })
          await auditChangedUpstream(tx, actor, server, { before, after })
          announce({ type: 'upstream_changed', upstreamId: id, serverId: before.serverId })
          return { upstream: after, gone }
        })
        .catch(rethrowTaken('server', 'an MCP server', name))
      revocations.revokeInBackground(gone)
      return withOwnGlobals(upstream)
    },

    /** Changes the settings of one tool. Throws `conflict` under the same condition as `updateUpstream`. */
    updateToolAnswers: async (
      actor: Actor,
      id: string,
      { tool, responseTokens, answers }: ToolAnswersChange,
      unchanged: Unchanged = {},
    ): Promise<Upstream> =>
      changes.commit(async (tx, announce) => {
        const { upstream: before, server } = await getForChange(tx, actor, id, unchanged)
        // Settings are stored in an object, which cannot have this key.
        if (tool === '__proto__') throw refuse([{ path: 'tool', message: 'cannot have this name' }])
        const wanted = {
          ...before,
          responseTokens: withTool(before.responseTokens, tool, responseTokens),
          toolAnswers: withTool(before.toolAnswers, tool, hasToolAnswers(answers) ? answers : undefined),
        }
        assertToolAnswers(wanted.toolAnswers)
        const after = await store.updateUpstream(tx, id, wanted)
        await auditChangedUpstream(tx, actor, server, { before, after })
        announce({ type: 'upstream_changed', upstreamId: id, serverId: before.serverId })
        return after
      }),

    removeUpstream: async (actor: Actor, id: string): Promise<void> => {
      const gone = await changes.commit(async (tx, announce) => {
        const { upstream: before, server } = await getForChange(tx, actor, id)
        const accounts = await takeAccountsOf(tx, id)
        await store.removeUpstream(tx, id)
        await auditUpstream(tx, actor, server, 'upstream.removed', before)
        announce({ type: 'upstream_changed', upstreamId: id, serverId: before.serverId })
        return accounts
      })
      revocations.revokeInBackground(gone)
    },

    /** Returns an upstream for an action with side effects, which requires permission to change the upstream. */
    getUpstreamForUse: async (actor: Actor, id: string): Promise<Upstream> => {
      const { upstream, server } = await getForChange(db, actor, id)
      if (server.presentation !== 'passthrough') return upstream
      throw new AppError('conflict', "This is a passthrough server: Patchbay does not fetch the MCP server's lists.")
    },
  }
}

export type UpstreamService = ReturnType<typeof createUpstreamService>
