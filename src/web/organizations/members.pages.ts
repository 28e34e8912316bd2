import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Actor, assertMay, mayRole, permissionOver } from '../kernel/index.ts'
import {
  actorOf,
  addressOf,
  type FormPage,
  formText,
  idPageOf,
  listQuery,
  parseForm,
  parseInput,
  showForm,
  submitForm,
  timeText,
  toIdPage,
  uuidParam,
  uuidParams,
} from '../platform/http/index.ts'
import type { MemberService } from './members.service.ts'
import type { Member } from './organization.ts'
import {
  getOrganizationFrame,
  memberRemovalPath,
  type OrganizationFrame,
  organizationPath,
} from './organization-frame.ts'
import { ChangeRole, RemoveMember } from './organizations.schema.ts'
import type { OrganizationService } from './organizations.service.ts'
import { roleOptionsFor } from './role-words.ts'

type Parts = { organizations: OrganizationService; members: MemberService }

const config = { access: 'user' } as const
const memberParams = z.object({ id: uuidParam, userId: uuidParam })
const MEMBERS_PER_PAGE = 100

const Query = listQuery.extend({ done: formText })
const RoleForm = { role: formText }
const RemovalForm = { serversTo: formText }
const DONE: ReadonlyMap<string, string> = new Map([
  ['role', 'The role is changed.'],
  ['removed', 'They are not a member any more.'],
  ['left', 'You have left the organization.'],
  ['given', 'The organization has another owner now, and you are an admin.'],
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

/** Who belongs to an organization: their roles, and how they leave it. */
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
          const wish = parseInput(RemoveMember, { serversTo: serversTo || undefined })
          await members.removeMember(actor, id, userId, wish?.serversTo)
          const isSelf = userId === actor.userId
          return reply.redirect(
            isSelf ? '/organizations?done=left' : `${organizationPath(id, 'members')}?done=removed`,
            303,
          )
        })
      },
    )
  }
