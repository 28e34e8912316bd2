import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { accountFrame } from '../accounts/index.ts'
import { DEFAULT_PAGE_SIZE } from '../kernel/index.ts'
import {
  actorOf,
  assertTypedName,
  type FormPage,
  formText,
  idPageOf,
  parseForm,
  showForm,
  submitForm,
  toIdPage,
  uuidParams,
} from '../platform/http/index.ts'
import type { MemberService } from './members.service.ts'
import type { Organization } from './organization.ts'
import type { OrganizationService } from './organizations.service.ts'

const config = { access: 'user' } as const
const PATH = '/account/organizations'

const Query = z.object({ left: formText, cursor: formText })

const toRow = ({ id, name, role }: Organization) => ({ id, name, role, href: `/organizations/${id}` })

/** The organizations that one belongs to, and leaving one. */
export const ownOrganizationPages =
  ({ organizations, members }: { organizations: OrganizationService; members: MemberService }) =>
  async (app: FastifyInstance): Promise<void> => {
    const leavingPage = async (request: FastifyRequest, typed = ''): Promise<FormPage & { name: string }> => {
      const { id } = uuidParams.parse(request.params)
      const { name, role } = await organizations.getOrganization(actorOf(request), id)
      const data = { ...accountFrame('organizations'), section: 'account', id, name, role, typed } as const
      return { view: 'organizations/leave', data, labels: { sure: 'name' }, name }
    }

    app.get(PATH, { config }, async (request, reply) => {
      const { left, cursor } = Query.parse(request.query)
      const page = idPageOf({ limit: DEFAULT_PAGE_SIZE, cursor: cursor === '' ? undefined : cursor })
      const listed = await organizations.listOrganizations(actorOf(request), page)
      const { items, nextCursor } = toIdPage(listed, page, toRow)
      return reply.page('organizations/own-organizations', {
        ...accountFrame('organizations'),
        section: 'account',
        organizations: items,
        next: nextCursor === null ? undefined : `${PATH}?${new URLSearchParams({ cursor: nextCursor })}`,
        done: left === '' ? undefined : 'You have left. What you made there stays there.',
      })
    })

    app.get(`${PATH}/:id/leave`, { config, schema: { params: uuidParams } }, async (request, reply) =>
      showForm(reply, await leavingPage(request)),
    )

    app.post(`${PATH}/:id/leave`, { config, schema: { params: uuidParams } }, async (request, reply) => {
      const { sure } = parseForm({ sure: formText }, request.body)
      const page = await leavingPage(request, sure)
      return submitForm(reply, page, async () => {
        assertTypedName(sure, page.name)
        const actor = actorOf(request)
        await members.removeMember(actor, uuidParams.parse(request.params).id, actor.userId)
        return reply.redirect(`${PATH}?left=1`, 303)
      })
    })
  }
