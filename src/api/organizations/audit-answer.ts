import type { FastifyReply } from 'fastify'
import type { z } from 'zod'
import { AuditEntryView, type AuditQuery, filterOf, toAuditEntryView } from '../../identity/audit/audit.schema.ts'
import type { AuditScope } from '../../identity/audit/audit-entry.ts'
import type { AuditLog } from '../../identity/audit/audit-log.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { sendNdjson } from '../../lib/http/ndjson.ts'
import { type Page, pageOf } from '../../lib/http/paging.ts'

/** What a route that shows the log answers, besides the file that `format=ndjson` asks for. */
export const AuditPage = pageOf(AuditEntryView)

async function* viewsOf(log: AuditLog, scope: AuditScope, query: AuditQuery) {
  for await (const batch of log.readAll(scope, filterOf(query))) yield batch.map(toAuditEntryView)
}

/** Answers a page of the log, or all of it as a file. `scope` is what whoever asks was found to be allowed. */
export const answerAudit = async (
  reply: FastifyReply,
  log: AuditLog,
  scope: AuditScope,
  query: AuditQuery,
): Promise<Page<z.infer<typeof AuditEntryView>> | FastifyReply> => {
  if (query.format === 'ndjson') return sendNdjson(reply, 'audit.ndjson', viewsOf(log, scope, query))
  const page = idPageOf(query)
  return toIdPage(await log.list(scope, filterOf(query), page), page, toAuditEntryView)
}
