import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { listQuery } from '../../lib/http/list-query.ts'
import { type FormPage, formPage, formText, postForm } from '../../lib/http/pages/forms.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { assertMay } from '../../lib/kernel/actor.ts'
import { mayRole, permissionOver } from '../../lib/kernel/roles.ts'
import type { InvitationService } from '../../tenancy/invitations/invitations.service.ts'
import type { Invitation } from '../../tenancy/organization.ts'
import { CreateInvitation } from '../../tenancy/organizations.schema.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import { doneText, idOf, idRoute, readList, userRoute } from '../frame/user-page.ts'
import { getOrganizationFrame, type OrganizationFrame, organizationPath, roleOptionsFor } from './organization-frame.ts'

type Parts = {
  organizations: OrganizationService
  invitations: InvitationService
  /** Whether emails are delivered instead of only being saved to the outbox folder. */
  mailer: { isDelivering: boolean }
}

const invitationParams = z.object({ id: uuidParam, invitationId: uuidParam })
const invitationRoute = { ...userRoute, schema: { params: invitationParams } }
const PATH = '/organizations/:id/invitations'
const INVITATIONS_PER_PAGE = 100

const InvitationForm = { email: formText, role: formText }

const invitationIdOf = ({ params }: FastifyRequest): string => invitationParams.parse(params).invitationId

const toRow = (frame: OrganizationFrame, { id, email, role, updatedAt, expiresAt }: Invitation) => ({
  path: `${organizationPath(frame.id, 'invitations')}/${id}`,
  email,
  role,
  sent: shownTime(updatedAt),
  expires: shownTime(expiresAt),
  mayChange: mayRole(frame.role, permissionOver(role)),
})

/** Registers the pages where admins send, resend and withdraw invitations. */
export const organizationInvitationPages: FastifyPluginAsync<Parts> = async (
  app,
  { organizations, invitations, mailer },
) => {
  const sent = mailer.isDelivering
    ? 'Invitation sent.'
    : 'Invitation created. The email with the link was saved to the outbox/ folder next to the database.'
  const notes = {
    made: 'Organization created. Invite the people you work with.',
    sent,
    withdrawn: 'Invitation withdrawn. Its link no longer works.',
  }

  const manager = (request: FastifyRequest) => {
    const id = idOf(request)
    assertMay(actorOf(request), id, 'manage')
    return { actor: actorOf(request), id }
  }

  const listPage = async (
    request: FastifyRequest,
    { actor, id }: ReturnType<typeof manager>,
    typed = { email: '', role: 'builder' },
  ): Promise<FormPage> => {
    const { cursor } = listQuery.parse(request.query)
    const frame = await getOrganizationFrame(organizations, actor, id, 'invitations')
    const { items, next } = await readList(
      { path: organizationPath(id, 'invitations'), cursor, limit: INVITATIONS_PER_PAGE },
      page => invitations.listInvitations(actor, id, page),
      one => toRow(frame, one),
    )
    return {
      view: 'organizations/invitations',
      data: {
        title: `Invitations to ${frame.name}`,
        organization: frame,
        invitations: items,
        next,
        roles: roleOptionsFor(frame.role),
        typed,
        isMailDelivered: mailer.isDelivering,
        done: doneText(request, notes),
      },
      labels: { email: 'email', role: 'role' },
    }
  }
  const doneAt = (id: string, done: string): string => `${organizationPath(id, 'invitations')}?done=${done}`

  formPage(app, PATH, {
    ...idRoute,
    fields: InvitationForm,
    load: manager,
    page: listPage,
    save: async (_request, { actor, id }, typed) => {
      await invitations.invite(actor, id, parseInput(CreateInvitation, typed))
      return doneAt(id, 'sent')
    },
  })

  postForm(app, `${PATH}/:invitationId/renewal`, {
    ...invitationRoute,
    fields: {},
    load: manager,
    page: (request, loaded) => listPage(request, loaded),
    save: async (request, { actor, id }) => {
      await invitations.renewInvitation(actor, id, invitationIdOf(request))
      return doneAt(id, 'sent')
    },
  })

  postForm(app, `${PATH}/:invitationId/removal`, {
    ...invitationRoute,
    fields: {},
    load: manager,
    page: (request, loaded) => listPage(request, loaded),
    save: async (request, { actor, id }) => {
      await invitations.withdrawInvitation(actor, id, invitationIdOf(request))
      return doneAt(id, 'withdrawn')
    },
  })
}
