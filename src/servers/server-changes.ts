import type { Database } from '../platform/db/index.ts'
import type { EventBus } from '../platform/events/index.ts'
import { listServerIdsUsing } from './toolkit-uses.store.ts'

/** Turns the change of a toolkit or an upstream into a change of each server that uses it: the runtime only knows servers. */
export const deriveServerChanges = ({ db, bus }: { db: Database; bus: EventBus }): void => {
  bus.subscribe('toolkit_changed', async ({ toolkitId }) => {
    const serverIds = await listServerIdsUsing(db, toolkitId)
    await Promise.all(serverIds.map(serverId => bus.publish({ type: 'server_changed', serverId })))
  })
  bus.subscribe('upstream_changed', ({ serverId }) => bus.publish({ type: 'server_changed', serverId }))
}
