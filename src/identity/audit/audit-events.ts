import type { NewEvent } from '../../outbox/event-types.ts'
import type { AuditRecord } from './audit-entry.ts'

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Returns the role in a change such as `{role: {from, to}}`. */
const newRoleOf = (change: AuditRecord['change']): string => {
  const role = change?.role
  return typeof role === 'object' && role !== null && 'to' in role ? textOf(role.to) : ''
}

const SECRET_CHANGES = {
  'secret.set': 'set',
  'secret.removed': 'removed',
  'secret.origins_changed': 'origins_changed',
} as const

/** Returns the events that tell others about an audited action. */
export const eventsOf = ({ action, organizationId, target, change }: AuditRecord): NewEvent[] => {
  if (organizationId === undefined) return []
  const { id = '', name = '' } = target
  switch (action) {
    case 'member.added':
      return [{ organizationId, type: 'member.joined', data: { userId: id, email: name, role: newRoleOf(change) } }]
    case 'toolkit.removed':
      return [
        { organizationId, type: 'toolkit.changed', data: { toolkitId: id, toolkitTitle: name, change: 'removed' } },
      ]
    case 'secret.set':
    case 'secret.removed':
    case 'secret.origins_changed': {
      const data = { serverId: id, serverName: name, key: textOf(change?.key), change: SECRET_CHANGES[action] }
      return [{ organizationId, type: 'secret.changed', data }]
    }
    default:
      return []
  }
}
