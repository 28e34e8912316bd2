import type { FastifyPluginAsync } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import type { IdPage } from '../../lib/http/id-paging.ts'
import { listQuery } from '../../lib/http/list-query.ts'
import type { Organization } from '../../tenancy/organization.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import { accountFrame } from '../account/account-tabs.ts'
import { readList, userRoute } from '../frame/user-page.ts'
import { memberRemovalPath } from './organization-frame.ts'

const PATH = '/account/organizations'

const toRow =
  (userId: string) =>
  ({ id, name, role }: Organization) => ({
    name,
    role,
    href: `/organizations/${id}`,
    leaveHref: memberRemovalPath(id, userId),
  })

/** Registers the account page that lists the user's organizations, each with a link to leave it. */
export const ownOrganizationPages: FastifyPluginAsync<{ organizations: OrganizationService }> = async (
  app,
  { organizations },
) => {
  app.get(PATH, userRoute, async (request, reply) => {
    const { cursor } = listQuery.parse(request.query)
    const actor = actorOf(request)
    const list = (page: IdPage) => organizations.listOrganizations(actor, page)
    const { items, next } = await readList({ path: PATH, cursor }, list, toRow(actor.userId))
    const data = { ...accountFrame('organizations'), organizations: items, next }
    return reply.page('organizations/own-organizations', data)
  })
}
