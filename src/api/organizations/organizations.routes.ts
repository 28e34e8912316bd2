import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { assertUnchanged } from '../../lib/http/pages/read-only.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { uuidParam, uuidParams } from '../../lib/http/schemas.ts'
import type { MemberService } from '../../tenancy/members.service.ts'
import {
  ChangeRole,
  CreateOrganization,
  MemberView,
  OrganizationView,
  RemoveMember,
  RemoveOrganization,
  UpdateOrganization,
} from '../../tenancy/organizations.schema.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'

type Parts = { organizations: OrganizationService; members: MemberService }

const params = uuidParams
const memberParams = z.object({ id: uuidParam, userId: uuidParam })
const organizationView = viewAsIs(OrganizationView)
const memberView = viewAsIs(MemberView)

export const organizationRoutes: FastifyPluginAsyncZod<Parts> = async (app, { organizations, members }) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['organizations'] })

  routes.create('/organizations', { body: CreateOrganization }, organizationView, ({ actor, body }) =>
    organizations.createOrganization(actor, body.name),
  )
  routes.list('/organizations', {}, organizationView, ({ actor, page }) => organizations.listOrganizations(actor, page))
  routes.get('/organizations/:id', { params }, organizationView, ({ actor, params }) =>
    organizations.getOrganization(actor, params.id),
  )
  routes.update(
    '/organizations/:id',
    { params, body: UpdateOrganization },
    organizationView,
    async ({ actor, params: { id }, body }) => {
      await assertUnchanged(['id', 'role'], body, () => organizations.getOrganization(actor, id))
      const { name, keepCallsDays, keepCalls } = body
      return organizations.changeOrganization(actor, id, { name, keepCallsDays, keepCalls })
    },
  )
  routes.remove(
    '/organizations/:id',
    { summary: 'Delete an organization with everything in it', params, body: RemoveOrganization },
    ({ actor, params, body }) => organizations.removeOrganization(actor, params.id, body.confirm),
  )

  routes.list('/organizations/:id/members', { params }, memberView, ({ actor, params, page }) =>
    members.listMembers(actor, params.id, page),
  )
  routes.put(
    '/organizations/:id/members/:userId',
    { summary: "Change a member's role", params: memberParams, body: ChangeRole },
    memberView,
    ({ actor, params, body }) => members.changeRole(actor, params.id, params.userId, body.role),
  )
  routes.remove(
    '/organizations/:id/members/:userId',
    { summary: 'Remove a member, or leave the organization', params: memberParams, body: RemoveMember },
    ({ actor, params, body }) => members.removeMember(actor, params.id, params.userId, body?.serversTo),
  )
}
