import { createBodyOpener } from '../../history/bodies/call-bodies.ts'
import type { Recorder } from '../../history/execution-record.ts'
import {
  createExecutionStore,
  type ExecutionDetail,
  type ExecutionQuery,
  type StoredExecution,
} from '../../history/executions.store.ts'
import type { CallScope } from '../../history/query/execution-filters.ts'
import type { Database } from '../../lib/db/client.ts'
import { type Actor, organizationIdsOf } from '../../lib/kernel/actor.ts'
import { DAY_MS } from '../../lib/kernel/durations.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { onlyCallerShown, policyOf } from '../../servers/access/access.ts'
import { type CallPlace, callScopeOf } from '../../servers/access/call-scope.store.ts'
import { findPeople } from '../../servers/access/people.store.ts'
import { getServerFor } from '../../servers/servers.service.ts'
import { listAllInstanceNames } from '../../servers/tools/instances.store.ts'
import type { ToolOffer } from '../../servers/tools/tool-picks.store.ts'
import type { UpstreamOffers } from '../../upstreams/catalogue/upstream-offers.ts'
import { createOrganizationNames } from './organization-names.ts'
import { settle } from './settle-records.ts'

/** How far back the last calls of a tool go, and on how many servers, because searching a long history takes time. */
const LAST_CALLS_MS = 30 * DAY_MS
const LAST_CALLS_SERVERS = 20

const executionNotFound = () => new AppError('not_found', 'Execution not found.')

/** Returns the servers whose missing records the reader may see. Gaps count the calls of everybody. */
const gapServersOf = (scope: CallScope, { server }: ExecutionQuery): readonly string[] => {
  if ('serverId' in scope) return scope.callerId === undefined ? [scope.serverId] : []
  return server === undefined ? scope.serverIds : scope.serverIds.filter(id => server.includes(id))
}

export type HistoryParts = {
  db: Database
  sealing: Pick<Sealing, 'open'>
  recorder: Pick<Recorder, 'flush'>
  upstreamOffers: Pick<UpstreamOffers, 'listPresented'>
}

/** Reads the call history, for users who have access to it. */
export const createHistoryReading = ({ db, sealing, recorder, upstreamOffers }: HistoryParts) => {
  const executions = createExecutionStore(db, createBodyOpener(sealing))
  const settleRecords = () => settle(recorder)

  return {
    /** Lists the calls of a place that the actor may see, and the records that are missing there. */
    listExecutions: async (actor: Actor, place: CallPlace, query: ExecutionQuery, signal?: AbortSignal) => {
      const scope = await callScopeOf(db, actor, place, 'read')
      await settleRecords()
      const [page, gaps] = await Promise.all([
        executions.list(scope, query, signal),
        executions.listGaps({ serverIds: gapServersOf(scope, query), from: query.from, to: query.to }),
      ])
      return { ...page, gaps }
    },

    /**
     * Lists the newest calls of a tool on these servers, newest first. `listToolOffers` returns the servers that a user
     * may use, and whose calls they may see there. Does not wait for calls that are still being written.
     */
    listLastCalls: async (offers: readonly ToolOffer[], limit: number): Promise<StoredExecution[]> => {
      const from = new Date(Date.now() - LAST_CALLS_MS)
      const pages = await Promise.all(
        offers
          .slice(0, LAST_CALLS_SERVERS)
          .map(({ serverId, instanceId, onlyCaller }) =>
            executions.list({ serverId, callerId: onlyCaller }, { instanceId, from, limit }),
          ),
      )
      return pages
        .flatMap(({ items }) => items)
        .sort((a, b) => b.startedAt.getTime() - a.startedAt.getTime())
        .slice(0, limit)
    },

    /**
     * Returns the names for a page of the history: the server's current tools, and the callers whose identity its
     * readers may see.
     */
    listNames: async (
      actor: Actor,
      serverId: string,
      callerIds: readonly string[],
    ): Promise<{ tools: string[]; names: ReadonlyMap<string, string> }> => {
      const server = await getServerFor(db, actor, serverId, 'read')
      const [own, upstreams, people] = await Promise.all([
        listAllInstanceNames(db, serverId),
        upstreamOffers.listPresented(serverId),
        findPeople(db, server, [...new Set(callerIds)]),
      ])
      const tools = [...own, ...upstreams.flatMap(upstream => upstream.tools.map(({ name }) => name))]
      return { tools, names: new Map(people.map(({ id, email }) => [id, email])) }
    },

    listOrganizationNames: createOrganizationNames(db),

    /** Throws `not_found` for another user's call if the actor may see only their own on that server. */
    getExecution: async (actor: Actor, id: string): Promise<ExecutionDetail> => {
      await settleRecords()
      const execution = orThrow(await executions.find(id, organizationIdsOf(actor)), executionNotFound)
      const policy = policyOf(await getServerFor(db, actor, execution.serverId, 'read'))
      const only = onlyCallerShown(policy, actor)
      if (only !== undefined && execution.userId !== only) throw executionNotFound()
      return execution
    },
  }
}
