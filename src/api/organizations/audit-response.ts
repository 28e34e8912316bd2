import type { FastifyReply } from 'fastify'
import type { z } from 'zod'
import { AuditEntryView, type AuditQuery, filterOf, toAuditEntryView } from '../../identity/audit/audit.schema.ts'
import type { AuditScope } from '../../identity/audit/audit-entry.ts'
import type { AuditLog } from '../../identity/audit/audit-log.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { sendNdjson } from '../../lib/http/ndjson.ts'
import { type Page, pageOf } from '../../lib/http/paging.ts'

/** JSON response of the audit log, unless `format=ndjson` requests a file. */
export const AuditPage = pageOf(AuditEntryView)

async function* viewsOf(log: AuditLog, scope: AuditScope, query: AuditQuery) {
  for await (const batch of log.readAll(scope, filterOf(query))) yield batch.map(toAuditEntryView)
}

/** Sends a page of the log, or all of it as a file. The caller must have checked that the user may read `scope`. */
export const sendAudit = async (
  reply: FastifyReply,
  log: AuditLog,
  scope: AuditScope,
  query: AuditQuery,
): Promise<Page<z.infer<typeof AuditEntryView>> | FastifyReply> => {
  if (query.format === 'ndjson') return sendNdjson(reply, 'audit.ndjson', viewsOf(log, scope, query))
  const page = idPageOf(query)
  return toIdPage(await log.list(scope, filterOf(query), page), page, toAuditEntryView)
}
