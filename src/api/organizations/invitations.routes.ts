import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { uuidParam, uuidParams } from '../../lib/http/schemas.ts'
import type { InvitationService } from '../../tenancy/invitations/invitations.service.ts'
import {
  AcceptInvitation,
  CreateInvitation,
  InvitationView,
  OrganizationView,
} from '../../tenancy/organizations.schema.ts'

const params = uuidParams
const invitationParams = z.object({ id: uuidParam, invitationId: uuidParam })
const invitationView = viewAsIs(InvitationView)

export const invitationRoutes: FastifyPluginAsyncZod<{ invitations: InvitationService }> = async (
  app,
  { invitations },
) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['organizations'] })

  routes.create(
    '/organizations/:id/invitations',
    {
      summary: 'Invite somebody by email; replaces an earlier invitation to the same address',
      params,
      body: CreateInvitation,
    },
    invitationView,
    ({ actor, params, body }) => invitations.invite(actor, params.id, body),
  )
  routes.list(
    '/organizations/:id/invitations',
    { summary: 'List pending invitations', params },
    invitationView,
    ({ actor, params, page }) => invitations.listInvitations(actor, params.id, page),
  )
  routes.remove('/organizations/:id/invitations/:invitationId', { params: invitationParams }, ({ actor, params }) =>
    invitations.withdrawInvitation(actor, params.id, params.invitationId),
  )
  routes.perform(
    '/invitations/accept',
    { summary: 'Accept an invitation to an organization', body: AcceptInvitation },
    viewAsIs(OrganizationView),
    ({ actor, body }) => invitations.acceptInvitation(actor, body.token),
  )
}
