export { writeAudit } from './audit.store.ts'
export { AUDIT_ACTIONS, type AuditAction, type AuditActor, type AuditRecord } from './audit-entry.ts'
