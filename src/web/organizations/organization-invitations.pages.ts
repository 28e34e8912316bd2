import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { assertMay, mayRole, permissionOver } from '../kernel/index.ts'
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
import type { InvitationService } from './invitations.service.ts'
import type { Invitation } from './organization.ts'
import { getOrganizationFrame, type OrganizationFrame, organizationPath } from './organization-frame.ts'
import { CreateInvitation } from './organizations.schema.ts'
import type { OrganizationService } from './organizations.service.ts'
import { roleOptionsFor } from './role-words.ts'

type Parts = {
  organizations: OrganizationService
  invitations: InvitationService
  /** Whether letters reach people, or only the outbox folder. */
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

/** Invitations of an organization: sent, sent again and withdrawn by who manages it. */
export const organizationInvitationPages =
  ({ organizations, invitations, mailer }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    const sent = mailer.isDelivering
      ? 'The invitation is on its way.'
      : 'The invitation is written. Its letter lies in the folder outbox/ beside the database, with the link.'
    const notes: ReadonlyMap<string, string> = new Map([
      ['made', 'The organization is made. Invite whom you work with.'],
      ['sent', sent],
      ['withdrawn', 'The invitation is withdrawn: its link is worth nothing any more.'],
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
        labels: { email: 'e-mail address', role: 'role' },
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
