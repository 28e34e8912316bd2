import type { FastifyPluginAsync } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { listQuery, nextAddressOf } from '../../lib/http/list-query.ts'
import { DEFAULT_PAGE_SIZE } from '../../lib/kernel/limits.ts'
import type { Organization } from '../../tenancy/organization.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import { accountFrame } from '../account/account-tabs.ts'
import { memberRemovalPath } from './organization-frame.ts'

const config = { access: 'user' } as const
const PATH = '/account/organizations'

const toRow =
  (userId: string) =>
  ({ id, name, role }: Organization) => ({
    name,
    role,
    href: `/organizations/${id}`,
    leaveHref: memberRemovalPath(id, userId),
  })

/** Registers the account page that lists the user's organizations. Leaving one removes the user as a member. */
export const ownOrganizationPages: FastifyPluginAsync<{ organizations: OrganizationService }> = async (
  app,
  { organizations },
) => {
  app.get(PATH, { config }, async (request, reply) => {
    const { cursor } = listQuery.parse(request.query)
    const actor = actorOf(request)
    const page = idPageOf({ limit: DEFAULT_PAGE_SIZE, cursor })
    const listed = await organizations.listOrganizations(actor, page)
    const { items, nextCursor } = toIdPage(listed, page, toRow(actor.userId))
    return reply.page('organizations/own-organizations', {
      ...accountFrame('organizations'),
      organizations: items,
      next: nextAddressOf(PATH, nextCursor),
    })
  })
}
