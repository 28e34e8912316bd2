import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { listQuery } from '../../lib/http/list-query.ts'
import { type FormPage, formPage, formText, postForm, showForm } from '../../lib/http/pages/forms.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { type Actor, assertMay } from '../../lib/kernel/actor.ts'
import { mayRole, permissionOver } from '../../lib/kernel/roles.ts'
import type { MemberService } from '../../tenancy/members.service.ts'
import type { Member } from '../../tenancy/organization.ts'
import { ChangeRole, RemoveMember } from '../../tenancy/organizations.schema.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import { doneText, idOf, idRoute, readList, userRoute } from '../frame/user-page.ts'
import {
  getOrganizationFrame,
  memberRemovalPath,
  type OrganizationFrame,
  organizationPath,
  roleOptionsFor,
} from './organization-frame.ts'

type Parts = { organizations: OrganizationService; members: MemberService }

const memberParams = z.object({ id: uuidParam, userId: uuidParam })
const memberRoute = { ...userRoute, schema: { params: memberParams } }
const PATH = '/organizations/:id/members'
const MEMBERS_PER_PAGE = 100

const DONE = {
  role: 'Role changed.',
  removed: 'Member removed.',
  left: 'You have left the organization.',
  given: 'Ownership transferred. You are now an admin.',
}

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
    since: shownTime(createdAt),
    mayChange,
    mayRemove: isSelf || mayChange,
  }
}

/** Registers the pages on which members are listed, given another role and removed. */
export const memberPages: FastifyPluginAsync<Parts> = async (app, { organizations, members }) => {
  const listPage = async (request: FastifyRequest, id: string): Promise<FormPage> => {
    const actor = actorOf(request)
    const { cursor } = listQuery.parse(request.query)
    const frame = await getOrganizationFrame(organizations, actor, id, 'members')
    const { items, next } = await readList(
      { path: organizationPath(id, 'members'), cursor, limit: MEMBERS_PER_PAGE },
      page => members.listMembers(actor, id, page),
      one => toRow(actor, frame, one),
    )
    return {
      view: 'organizations/members',
      data: {
        title: `Members of ${frame.name}`,
        organization: frame,
        members: items,
        roles: roleOptionsFor(frame.role),
        next,
        done: doneText(request, DONE),
      },
    }
  }

  app.get(PATH, idRoute, async (request, reply) => showForm(reply, await listPage(request, idOf(request))))

  postForm(app, `${PATH}/:userId/role`, {
    ...memberRoute,
    fields: { role: formText },
    load: request => {
      const member = memberOf(request)
      assertMay(actorOf(request), member.id, 'manage')
      return member
    },
    page: (request, { id }) => listPage(request, id),
    save: async (request, { id, userId }, typed) => {
      await members.changeRole(actorOf(request), id, userId, parseInput(ChangeRole, typed).role)
      return `${organizationPath(id, 'members')}?done=role`
    },
  })

  formPage(app, `${PATH}/:userId/removal`, {
    ...memberRoute,
    fields: { serversTo: formText },
    load: memberOf,
    page: async (request, { id, userId }, typed) => {
      const actor = actorOf(request)
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
          serversTo: typed?.serversTo || heirId,
        },
        labels: { serversTo: 'member' },
      }
    },
    save: async (request, { id, userId }, { serversTo }) => {
      const actor = actorOf(request)
      const input = parseInput(RemoveMember, { serversTo: serversTo || undefined })
      await members.removeMember(actor, id, userId, input?.serversTo)
      return userId === actor.userId ? '/organizations?done=left' : `${organizationPath(id, 'members')}?done=removed`
    },
  })
}
