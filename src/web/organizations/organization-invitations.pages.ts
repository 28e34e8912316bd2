import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { addressOf, listQuery } from '../../lib/http/list-query.ts'
import { type FormPage, formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { timeText } from '../../lib/http/pages/time-text.ts'
import { uuidParam, uuidParams } from '../../lib/http/schemas.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { assertMay } from '../../lib/kernel/actor.ts'
import { mayRole, permissionOver } from '../../lib/kernel/roles.ts'
import type { InvitationService } from '../../tenancy/invitations/invitations.service.ts'
import type { Invitation } from '../../tenancy/organization.ts'
import { CreateInvitation } from '../../tenancy/organizations.schema.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import { getOrganizationFrame, type OrganizationFrame, organizationPath } from './organization-frame.ts'
import { roleOptionsFor } from './role-options.ts'

type Parts = {
  organizations: OrganizationService
  invitations: InvitationService
  /** Whether emails are delivered, or only saved to the outbox folder. */
  mailer: { isDelivering: boolean }
}

const config = { access: 'user' } as const
const invitationParams = z.object({ id: uuidParam, invitationId: uuidParam })
const INVITATIONS_PER_PAGE = 100

const Query = listQuery.extend({ done: formText })
const InvitationForm = { email: formText, role: formText }

const invitationOf = ({ params }: FastifyRequest) => invitationParams.parse(params)

const toRow = (frame: OrganizationFrame, { id, email, role, updatedAt, expiresAt }: Invitation) => ({
  path: `${organizationPath(frame.id, 'invitations')}/${id}`,
  email,
  role,
  sent: timeText(updatedAt),
  sentAt: updatedAt.toISOString(),
  expires: timeText(expiresAt),
  expiresAt: expiresAt.toISOString(),
  mayChange: mayRole(frame.role, permissionOver(role)),
})

/** Registers the pages where admins send, resend and withdraw invitations. */
export const organizationInvitationPages =
  ({ organizations, invitations, mailer }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    const sent = mailer.isDelivering
      ? 'Invitation sent.'
      : 'Invitation created. The email with the link was saved to the outbox/ folder next to the database.'
    const notes: ReadonlyMap<string, string> = new Map([
      ['made', 'Organization created. Invite the people you work with.'],
      ['sent', sent],
      ['withdrawn', 'Invitation withdrawn. Its link no longer works.'],
    ])

    const listPage = async (
      request: FastifyRequest,
      id: string,
      typed = { email: '', role: 'builder' },
    ): Promise<FormPage> => {
      const actor = actorOf(request)
      assertMay(actor, id, 'manage')
      const { cursor, done } = Query.parse(request.method === 'GET' ? request.query : {})
      const frame = await getOrganizationFrame(organizations, actor, id, 'invitations')
      const page = idPageOf({ limit: INVITATIONS_PER_PAGE, cursor })
      const listed = toIdPage(await invitations.listInvitations(actor, id, page), page, one => toRow(frame, one))
      return {
        view: 'organizations/invitations',
        data: {
          title: `Invitations to ${frame.name}`,
          section: 'organizations',
          organization: frame,
          invitations: listed.items,
          next:
            listed.nextCursor === null
              ? undefined
              : addressOf(organizationPath(id, 'invitations'), { cursor: listed.nextCursor }),
          roles: roleOptionsFor(frame.role),
          typed,
          isMailDelivered: mailer.isDelivering,
          done: notes.get(done),
        },
        labels: { email: 'email', role: 'role' },
      }
    }
    const doneAt = (id: string, done: string): string => `${organizationPath(id, 'invitations')}?done=${done}`

    app.get('/organizations/:id/invitations', { config, schema: { params: uuidParams } }, async (request, reply) =>
      showForm(reply, await listPage(request, uuidParams.parse(request.params).id)),
    )

    app.post('/organizations/:id/invitations', { config, schema: { params: uuidParams } }, async (request, reply) => {
      const { id } = uuidParams.parse(request.params)
      const typed = parseForm(InvitationForm, request.body)
      return submitForm(reply, await listPage(request, id, typed), async () => {
        await invitations.invite(actorOf(request), id, parseInput(CreateInvitation, typed))
        return reply.redirect(doneAt(id, 'sent'), 303)
      })
    })

    app.post(
      '/organizations/:id/invitations/:invitationId/renewal',
      { config, schema: { params: invitationParams } },
      async (request, reply) => {
        const { id, invitationId } = invitationOf(request)
        return submitForm(reply, await listPage(request, id), async () => {
          await invitations.renewInvitation(actorOf(request), id, invitationId)
          return reply.redirect(doneAt(id, 'sent'), 303)
        })
      },
    )

    app.post(
      '/organizations/:id/invitations/:invitationId/removal',
      { config, schema: { params: invitationParams } },
      async (request, reply) => {
        const { id, invitationId } = invitationOf(request)
        return submitForm(reply, await listPage(request, id), async () => {
          await invitations.withdrawInvitation(actorOf(request), id, invitationId)
          return reply.redirect(doneAt(id, 'withdrawn'), 303)
        })
      },
    )
  }
