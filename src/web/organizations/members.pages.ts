import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { addressOf, listQuery } from '../../lib/http/list-query.ts'
import { type FormPage, formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { timeText } from '../../lib/http/pages/time-text.ts'
import { uuidParam, uuidParams } from '../../lib/http/schemas.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { type Actor, assertMay } from '../../lib/kernel/actor.ts'
import { mayRole, permissionOver } from '../../lib/kernel/roles.ts'
import type { MemberService } from '../../tenancy/members.service.ts'
import type { Member } from '../../tenancy/organization.ts'
import { ChangeRole, RemoveMember } from '../../tenancy/organizations.schema.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import {
  getOrganizationFrame,
  memberRemovalPath,
  type OrganizationFrame,
  organizationPath,
} from './organization-frame.ts'
import { roleOptionsFor } from './role-options.ts'

type Parts = { organizations: OrganizationService; members: MemberService }

const config = { access: 'user' } as const
const memberParams = z.object({ id: uuidParam, userId: uuidParam })
const MEMBERS_PER_PAGE = 100

const Query = listQuery.extend({ done: formText })
const RoleForm = { role: formText }
const RemovalForm = { serversTo: formText }
const DONE: ReadonlyMap<string, string> = new Map([
  ['role', 'Role changed.'],
  ['removed', 'Member removed.'],
  ['left', 'You have left the organization.'],
  ['given', 'Ownership transferred. You are now an admin.'],
])

const memberOf = ({ params }: FastifyRequest) => memberParams.parse(params)

const toRow = (actor: Actor, frame: OrganizationFrame, { userId, email, role, createdAt }: Member) => {
  const isSelf = userId === actor.userId
  const mayChange = mayRole(frame.role, permissionOver(role))
  return {
    path: `${organizationPath(frame.id, 'members')}/${userId}`,
    userId,
    email,
    role,
    isSelf,
    since: timeText(createdAt),
    sinceAt: createdAt.toISOString(),
    mayChange,
    mayRemove: isSelf || mayChange,
  }
}

/** Registers the pages that list members, change their roles and remove them. */
export const memberPages =
  ({ organizations, members }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    const listPage = async (request: FastifyRequest, id: string): Promise<FormPage> => {
      const actor = actorOf(request)
      const { cursor, done } = Query.parse(request.method === 'GET' ? request.query : {})
      const frame = await getOrganizationFrame(organizations, actor, id, 'members')
      const page = idPageOf({ limit: MEMBERS_PER_PAGE, cursor })
      const listed = toIdPage(await members.listMembers(actor, id, page), page, one => toRow(actor, frame, one))
      return {
        view: 'organizations/members',
        data: {
          title: `Members of ${frame.name}`,
          section: 'organizations',
          organization: frame,
          members: listed.items,
          roles: roleOptionsFor(frame.role),
          next:
            listed.nextCursor === null
              ? undefined
              : addressOf(organizationPath(id, 'members'), { cursor: listed.nextCursor }),
          done: DONE.get(done),
        },
        labels: {},
      }
    }

    app.get('/organizations/:id/members', { config, schema: { params: uuidParams } }, async (request, reply) =>
      showForm(reply, await listPage(request, uuidParams.parse(request.params).id)),
    )

    app.post(
      '/organizations/:id/members/:userId/role',
      { config, schema: { params: memberParams } },
      async (request, reply) => {
        const { id, userId } = memberOf(request)
        const typed = parseForm(RoleForm, request.body)
        assertMay(actorOf(request), id, 'manage')
        return submitForm(reply, await listPage(request, id), async () => {
          await members.changeRole(actorOf(request), id, userId, parseInput(ChangeRole, typed).role)
          return reply.redirect(`${organizationPath(id, 'members')}?done=role`, 303)
        })
      },
    )

    const removalPage = async (request: FastifyRequest, serversTo = ''): Promise<FormPage> => {
      const actor = actorOf(request)
      const { id, userId } = memberOf(request)
      const frame = await getOrganizationFrame(organizations, actor, id, 'members')
      const { member, servers, heirs, heirId } = await members.previewRemoval(actor, id, userId)
      const isSelf = userId === actor.userId
      return {
        view: 'organizations/member-removal',
        data: {
          title: isSelf ? `Leave ${frame.name}` : `Remove ${member.email}`,
          section: 'organizations',
          width: 'narrow',
          organization: frame,
          path: memberRemovalPath(id, userId),
          email: member.email,
          isSelf,
          servers: servers.map(({ id: serverId, name }) => ({ href: `/servers/${serverId}`, name })),
          heirs: heirs.map(({ userId: heir, email, role }) => ({ value: heir, text: `${email}, ${role}` })),
          serversTo: serversTo || heirId,
        },
        labels: { serversTo: 'member' },
      }
    }

    app.get(
      '/organizations/:id/members/:userId/removal',
      { config, schema: { params: memberParams } },
      async (request, reply) => showForm(reply, await removalPage(request)),
    )

    app.post(
      '/organizations/:id/members/:userId/removal',
      { config, schema: { params: memberParams } },
      async (request, reply) => {
        const { serversTo } = parseForm(RemovalForm, request.body)
        return submitForm(reply, await removalPage(request, serversTo), async () => {
          const actor = actorOf(request)
          const { id, userId } = memberOf(request)
          const input = parseInput(RemoveMember, { serversTo: serversTo || undefined })
          await members.removeMember(actor, id, userId, input?.serversTo)
          const isSelf = userId === actor.userId
          return reply.redirect(
            isSelf ? '/organizations?done=left' : `${organizationPath(id, 'members')}?done=removed`,
            303,
          )
        })
      },
    )
  }
