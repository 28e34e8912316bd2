import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { pageOf, pageQuery } from '../../lib/http/paging.ts'
import { uuidParam, uuidParams } from '../../lib/http/schemas.ts'
import type { InvitationService } from '../../tenancy/invitations/invitations.service.ts'
import {
  AcceptInvitation,
  CreateInvitation,
  InvitationView,
  OrganizationView,
  toInvitationView,
  toOrganizationView,
} from '../../tenancy/organizations.schema.ts'

const config = { access: 'user' } as const
const tags = ['organizations']
const invitationParams = z.object({ id: uuidParam, invitationId: uuidParam })

export const invitationRoutes =
  ({ invitations }: { invitations: InvitationService }): FastifyPluginAsyncZod =>
  async app => {
    app.post(
      '/organizations/:id/invitations',
      {
        config,
        schema: {
          tags,
          summary: 'Invite somebody by email; replaces an earlier invitation to the same address',
          params: uuidParams,
          body: CreateInvitation,
          response: { 201: InvitationView },
        },
      },
      async (request, reply) => {
        const invitation = await invitations.invite(actorOf(request), request.params.id, request.body)
        return reply.code(201).send(toInvitationView(invitation))
      },
    )

    app.get(
      '/organizations/:id/invitations',
      {
        config,
        schema: {
          tags,
          summary: 'List pending invitations',
          params: uuidParams,
          querystring: pageQuery,
          response: { 200: pageOf(InvitationView) },
        },
      },
      async request => {
        const page = idPageOf(request.query)
        const open = await invitations.listInvitations(actorOf(request), request.params.id, page)
        return toIdPage(open, page, toInvitationView)
      },
    )

    app.delete(
      '/organizations/:id/invitations/:invitationId',
      { config, schema: { tags, params: invitationParams, response: { 204: z.null() } } },
      async (request, reply) => {
        const { id, invitationId } = request.params
        await invitations.withdrawInvitation(actorOf(request), id, invitationId)
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/invitations/accept',
      {
        config,
        schema: {
          tags,
          summary: 'Accept an invitation to an organization',
          body: AcceptInvitation,
          response: { 200: OrganizationView },
        },
      },
      async request => toOrganizationView(await invitations.acceptInvitation(actorOf(request), request.body.token)),
    )
  }
