import type { FastifyInstance } from 'fastify'
import { assertMay } from '../kernel/index.ts'
import { type AuditLog, readAuditTable } from '../platform/audit/index.ts'
import { actorOf, uuidParams } from '../platform/http/index.ts'
import { getOrganizationFrame, organizationPath } from './organization-frame.ts'
import type { OrganizationService } from './organizations.service.ts'

/** What stands in an organization's own log, and not in the installation's alone. */
const KINDS = ['organization', 'member', 'invitation', 'toolkit', 'server', 'global', 'secret', 'oauth_client', 'grant']

/** What was done in an organization, for those who manage it. */
export const organizationAuditPages =
  ({ organizations, audit }: { organizations: OrganizationService; audit: AuditLog }) =>
  async (app: FastifyInstance): Promise<void> => {
    app.get(
      '/organizations/:id/audit',
      { config: { access: 'user' }, schema: { params: uuidParams } },
      async (request, reply) => {
        const actor = actorOf(request)
        const { id } = uuidParams.parse(request.params)
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
          { title: `Audit of ${frame.name}`, section: 'organizations', organization: frame, audit: table },
          table.isBad ? { status: 400 } : {},
        )
      },
    )
  }
