import type { Transaction } from '../lib/db/client.ts'
import type { EventData } from '../outbox/event-types.ts'
import { enterEvents } from '../outbox/outbox.store.ts'

type Named = { serverId: string; upstreamId: string; upstreamName: string }
type UpstreamEventType =
  | 'upstream.down'
  | 'upstream.recovered'
  | 'upstream.tools_changed'
  | 'upstream_account.disconnected'

/** An event about an upstream, without what all of them contain. */
export type UpstreamEvent = {
  [Type in UpstreamEventType]: { type: Type; data: Omit<EventData[Type], keyof Named> }
}[UpstreamEventType]

/** Puts an event about an upstream into the outbox. */
export const enterUpstreamEvent = async (tx: Transaction, upstreamId: string, event: UpstreamEvent): Promise<void> => {
  const select = { name: true, serverId: true, server: { select: { organizationId: true } } }
  const row = await tx.upstream.findUnique({ where: { id: upstreamId }, select })
  if (row === null) return
  const { organizationId } = row.server
  const named: Named = { serverId: row.serverId, upstreamId, upstreamName: row.name }
  switch (event.type) {
    case 'upstream.down':
      return enterEvents(tx, [{ organizationId, type: event.type, data: { ...named, ...event.data } }])
    case 'upstream.recovered':
      return enterEvents(tx, [{ organizationId, type: event.type, data: named }])
    case 'upstream.tools_changed':
      return enterEvents(tx, [{ organizationId, type: event.type, data: { ...named, ...event.data } }])
    case 'upstream_account.disconnected':
      return enterEvents(tx, [{ organizationId, type: event.type, data: { ...named, ...event.data } }])
  }
}

/** Notes that an upstream is down. Returns whether it was not known to be. */
export const setDown = async (tx: Transaction, upstreamId: string): Promise<boolean> => {
  const where = { id: upstreamId, downSince: null }
  return (await tx.upstream.updateMany({ where, data: { downSince: new Date() } })).count > 0
}

/** Notes that an upstream is connected. Returns whether it was known to be down. */
export const setUp = async (tx: Transaction, upstreamId: string): Promise<boolean> => {
  const where = { id: upstreamId, downSince: { not: null } }
  return (await tx.upstream.updateMany({ where, data: { downSince: null } })).count > 0
}
