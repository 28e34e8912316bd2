import type { Database } from '../lib/db/client.ts'
import type { EventBus } from '../lib/events/event-bus.ts'
import { listServerIdsUsing } from './sources/toolkit-uses.store.ts'

/** Turns the change of a toolkit or an upstream into a change of each server that uses it: the runtime only knows servers. */
export const deriveServerChanges = ({ db, bus }: { db: Database; bus: EventBus }): void => {
  bus.subscribe('toolkit_changed', async ({ toolkitId }) => {
    const serverIds = await listServerIdsUsing(db, toolkitId)
    await Promise.all(serverIds.map(serverId => bus.publish({ type: 'server_changed', serverId })))
  })
  bus.subscribe('upstream_changed', ({ serverId }) => bus.publish({ type: 'server_changed', serverId }))
}
