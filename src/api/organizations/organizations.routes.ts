import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { assertUnchanged } from '../../lib/http/pages/read-only.ts'
import { pageOf, pageQuery } from '../../lib/http/paging.ts'
import { uuidParam, uuidParams } from '../../lib/http/schemas.ts'
import type { MemberService } from '../../tenancy/members.service.ts'
import {
  ChangeRole,
  CreateOrganization,
  MemberView,
  OrganizationView,
  RemoveMember,
  RemoveOrganization,
  toMemberView,
  toOrganizationView,
  UpdateOrganization,
} from '../../tenancy/organizations.schema.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'

type Parts = { organizations: OrganizationService; members: MemberService }

const config = { access: 'user' } as const
const tags = ['organizations']
const memberParams = z.object({ id: uuidParam, userId: uuidParam })

export const organizationRoutes =
  ({ organizations, members }: Parts): FastifyPluginAsyncZod =>
  async app => {
    app.post(
      '/organizations',
      { config, schema: { tags, body: CreateOrganization, response: { 201: OrganizationView } } },
      async (request, reply) => {
        const created = await organizations.createOrganization(actorOf(request), request.body.name)
        return reply.code(201).send(toOrganizationView(created))
      },
    )

    app.get(
      '/organizations',
      { config, schema: { tags, querystring: pageQuery, response: { 200: pageOf(OrganizationView) } } },
      async request => {
        const page = idPageOf(request.query)
        return toIdPage(await organizations.listOrganizations(actorOf(request), page), page, toOrganizationView)
      },
    )

    app.get(
      '/organizations/:id',
      { config, schema: { tags, params: uuidParams, response: { 200: OrganizationView } } },
      async request => toOrganizationView(await organizations.getOrganization(actorOf(request), request.params.id)),
    )

    app.patch(
      '/organizations/:id',
      { config, schema: { tags, params: uuidParams, body: UpdateOrganization, response: { 200: OrganizationView } } },
      async request => {
        const { body, params } = request
        const actor = actorOf(request)
        await assertUnchanged(['id', 'role'], body, () => organizations.getOrganization(actor, params.id))
        return toOrganizationView(await organizations.renameOrganization(actor, params.id, body.name))
      },
    )

    app.delete(
      '/organizations/:id',
      {
        config,
        schema: {
          tags,
          summary: 'Delete an organization with everything in it',
          params: uuidParams,
          body: RemoveOrganization,
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        await organizations.removeOrganization(actorOf(request), request.params.id, request.body.confirm)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/organizations/:id/members',
      { config, schema: { tags, params: uuidParams, querystring: pageQuery, response: { 200: pageOf(MemberView) } } },
      async request => {
        const page = idPageOf(request.query)
        return toIdPage(await members.listMembers(actorOf(request), request.params.id, page), page, toMemberView)
      },
    )

    app.put(
      '/organizations/:id/members/:userId',
      {
        config,
        schema: {
          tags,
          summary: "Change a member's role",
          params: memberParams,
          body: ChangeRole,
          response: { 200: MemberView },
        },
      },
      async request => {
        const { id, userId } = request.params
        return toMemberView(await members.changeRole(actorOf(request), id, userId, request.body.role))
      },
    )

    app.delete(
      '/organizations/:id/members/:userId',
      {
        config,
        schema: {
          tags,
          summary: 'Remove a member, or leave the organization',
          params: memberParams,
          body: RemoveMember,
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        const { id, userId } = request.params
        await members.removeMember(actorOf(request), id, userId, request.body?.serversTo)
        return reply.code(204).send(null)
      },
    )
  }
