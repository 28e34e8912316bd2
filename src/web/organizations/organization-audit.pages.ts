import type { FastifyPluginAsync } from 'fastify'
import type { AuditLog } from '../../identity/audit/audit-log.ts'
import { actorOf } from '../../lib/http/access.ts'
import { assertMay } from '../../lib/kernel/actor.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import { readAuditTable } from '../frame/audit-table.ts'
import { idOf, idRoute } from '../frame/user-page.ts'
import { getOrganizationFrame, organizationPath } from './organization-frame.ts'

/** Kinds of entries in an organization's audit log. Other kinds appear only in the installation's log. */
const KINDS = [
  'organization',
  'member',
  'invitation',
  'limit',
  'toolkit',
  'server',
  'call',
  'global',
  'secret',
  'oauth_client',
  'grant',
  'webhook',
]

/** Registers the page with an organization's audit log, for its admins and owners. */
export const organizationAuditPages: FastifyPluginAsync<{
  organizations: OrganizationService
  audit: AuditLog
}> = async (app, { organizations, audit }) => {
  app.get('/organizations/:id/audit', idRoute, async (request, reply) => {
    const actor = actorOf(request)
    const id = idOf(request)
    assertMay(actor, id, 'manage')
    const frame = await getOrganizationFrame(organizations, actor, id, 'audit')
    const table = await readAuditTable(audit, {
      scope: { kind: 'organization', organizationId: id },
      query: request.query,
      path: organizationPath(id, 'audit'),
      filePath: `/api/v1/organizations/${id}/audit`,
      kinds: KINDS,
    })
    return reply.page(
      'organizations/audit',
      { title: `Audit of ${frame.name}`, organization: frame, audit: table },
      table.isBad ? { status: 400 } : {},
    )
  })
}
