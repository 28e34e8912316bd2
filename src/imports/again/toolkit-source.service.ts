import type { Database, Transaction } from '../../lib/db/client.ts'
import type { Changes } from '../../lib/events/changes.ts'
import { type Actor, organizationIdsOf } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { getToolkitForChange } from '../../tools/toolkits.service.ts'
import { assertWhole, type StoredUrl, sealUrl, withoutFragment } from '../source-url.ts'
import type { SourceChecks } from './source-checks.ts'
import type { PutToolkitSource } from './toolkit-source.schema.ts'
import type { ToolkitSource } from './toolkit-source.ts'
import * as store from './toolkit-sources.store.ts'

const notImported = (): AppError => new AppError('not_found', 'No tools were imported into this toolkit.')

/** Maximum number of checks that the members of an organization may start by hand. */
const MAX_CHECKS = 60
const CHECKS_WINDOW_MS = 60 * 60 * 1_000

type Counters = { increment: (key: string, windowMs: number) => Promise<{ count: number }> }

export type ToolkitSourceParts = {
  db: Database
  sealing: Pick<Sealing, 'seal'>
  changes: Changes
  counters: Counters
  checks: SourceChecks
}

/** The sources of toolkits, for those who may build in the toolkit's organization. */
export const createToolkitSources = ({ db, sealing, changes, counters, checks }: ToolkitSourceParts) => {
  const find = async (tx: Transaction, actor: Actor, toolkitId: string): Promise<store.DueSource | undefined> => {
    const { organizationId } = await getToolkitForChange(tx, actor, toolkitId)
    const source = await store.findToolkitSource(tx, toolkitId)
    return source === undefined ? undefined : { ...source, organizationId }
  }
  const get = async (tx: Transaction, actor: Actor, toolkitId: string): Promise<store.DueSource> =>
    orThrow(await find(tx, actor, toolkitId), notImported)

  const toStoredUrl = (toolkitId: string, url: string | null): StoredUrl | undefined => {
    if (url === null) return undefined
    assertWhole(url)
    return sealUrl(sealing, toolkitId, withoutFragment(url))
  }

  return {
    /** Returns undefined if no tools were imported. */
    findSource: (actor: Actor, toolkitId: string): Promise<ToolkitSource | undefined> => find(db, actor, toolkitId),
    getSource: (actor: Actor, toolkitId: string): Promise<ToolkitSource> => get(db, actor, toolkitId),

    /** Returns the sources of those of the toolkits that are in organizations of the actor, by toolkit ID. */
    listSources: (actor: Actor, toolkitIds: readonly string[]): Promise<ReadonlyMap<string, ToolkitSource>> =>
      store.listToolkitSources(db, toolkitIds, organizationIdsOf(actor)),

    putSource: (actor: Actor, toolkitId: string, { url, checkEvery }: PutToolkitSource): Promise<ToolkitSource> =>
      changes.commit(async tx => {
        const source = await get(tx, actor, toolkitId)
        const change = { checkEvery: checkEvery ?? undefined }
        // A URL that is sent back as it was shown keeps its hidden values.
        if (url === (source.url ?? null)) return store.updateToolkitSource(tx, toolkitId, change)
        return store.updateToolkitSource(tx, toolkitId, { ...change, moved: { url: toStoredUrl(toolkitId, url) } })
      }),

    /** Forgets the source. The tools stay. */
    removeSource: (actor: Actor, toolkitId: string): Promise<void> =>
      changes.commit(async tx => {
        await get(tx, actor, toolkitId)
        await store.removeToolkitSource(tx, toolkitId)
      }),

    /** Checks the source at once. Throws `conflict` if it has no URL or is being checked. */
    checkSource: async (actor: Actor, toolkitId: string): Promise<ToolkitSource> => {
      const source = await get(db, actor, toolkitId)
      if (source.url === undefined) throw new AppError('conflict', 'This source has no URL that could be checked.')
      const { count } = await counters.increment(`check-source:${source.organizationId}`, CHECKS_WINDOW_MS)
      if (count > MAX_CHECKS) throw new AppError('limit_exceeded', 'Too many checks. Try again in an hour.')
      if (!(await checks.checkOne(source))) throw new AppError('conflict', 'This source is being checked already.')
      return get(db, actor, toolkitId)
    },
  }
}

export type ToolkitSourceService = ReturnType<typeof createToolkitSources>
