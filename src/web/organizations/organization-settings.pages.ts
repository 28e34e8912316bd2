import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { formatCount } from '../../lib/http/pages/format.ts'
import { type FormPage, formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { uuidParam, uuidParams } from '../../lib/http/schemas.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { assertMay } from '../../lib/kernel/actor.ts'
import type { Tenancy } from '../../tenancy/deletion/removal.ts'
import type { MemberService } from '../../tenancy/members.service.ts'
import { CreateOrganization, RemoveOrganization } from '../../tenancy/organizations.schema.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import { getOrganizationFrame, organizationPath } from './organization-frame.ts'

type Parts = { organizations: OrganizationService; members: MemberService; tenancy: Tenancy }

const config = { access: 'user' } as const
const schema = { params: uuidParams }
/** Members offered as the next owner. */
const MAX_HEIRS_SHOWN = 200

const Query = { done: formText }
const NameForm = { name: formText }
const OwnerForm = { userId: formText }
const OwnerInput = z.object({ userId: uuidParam })
const RemovalForm = { sure: formText }

const idOf = ({ params }: FastifyRequest): string => uuidParams.parse(params).id

/** Registers the pages that rename, transfer and delete an organization. */
export const organizationSettingsPages =
  ({ organizations, members, tenancy }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    const settingsPage = async (request: FastifyRequest, typedName?: string): Promise<FormPage> => {
      const actor = actorOf(request)
      const id = idOf(request)
      assertMay(actor, id, 'manage')
      const frame = await getOrganizationFrame(organizations, actor, id, 'settings')
      const page = { limit: MAX_HEIRS_SHOWN, afterId: undefined }
      const others = frame.mayOwn ? await members.listMembers(actor, id, page) : []
      const { done } = parseForm(Query, request.method === 'GET' ? request.query : {})
      return {
        view: 'organizations/settings',
        data: {
          title: `Settings of ${frame.name}`,
          section: 'organizations',
          organization: frame,
          typed: typedName ?? frame.name,
          heirs: others
            .filter(({ userId }) => userId !== actor.userId)
            .map(({ userId, email, role }) => ({ value: userId, text: `${email}, ${role}` })),
          mayMakeAnother: tenancy === 'multi',
          done: done === 'renamed' ? 'Organization renamed.' : undefined,
        },
        labels: { name: 'name', userId: 'member' },
      }
    }

    app.get('/organizations/:id/settings', { config, schema }, async (request, reply) =>
      showForm(reply, await settingsPage(request)),
    )

    app.post('/organizations/:id/settings', { config, schema }, async (request, reply) => {
      const typed = parseForm(NameForm, request.body)
      return submitForm(reply, await settingsPage(request, typed.name), async () => {
        const { name } = parseInput(CreateOrganization, typed)
        await organizations.renameOrganization(actorOf(request), idOf(request), name)
        return reply.redirect(`${organizationPath(idOf(request), 'settings')}?done=renamed`, 303)
      })
    })

    app.post('/organizations/:id/owner', { config, schema }, async (request, reply) => {
      const typed = parseForm(OwnerForm, request.body)
      assertMay(actorOf(request), idOf(request), 'own')
      return submitForm(reply, await settingsPage(request), async () => {
        const { userId } = parseInput(OwnerInput, typed)
        await members.transferOwnership(actorOf(request), idOf(request), userId)
        return reply.redirect(`${organizationPath(idOf(request), 'members')}?done=given`, 303)
      })
    })

    const removalPage = async (request: FastifyRequest, typed = ''): Promise<FormPage> => {
      const actor = actorOf(request)
      const id = idOf(request)
      const { servers, toolkits, refusal } = await organizations.previewRemoval(actor, id)
      const frame = await getOrganizationFrame(organizations, actor, id, 'settings')
      return {
        view: 'organizations/removal',
        data: {
          title: `Delete ${frame.name}`,
          section: 'organizations',
          width: 'narrow',
          organization: frame,
          servers: formatCount(servers, 'server'),
          toolkits: formatCount(toolkits, 'toolkit'),
          refusal,
          typed,
        },
        labels: { confirm: 'text' },
      }
    }

    app.get('/organizations/:id/removal', { config, schema }, async (request, reply) =>
      showForm(reply, await removalPage(request)),
    )

    app.post('/organizations/:id/removal', { config, schema }, async (request, reply) => {
      const { sure } = parseForm(RemovalForm, request.body)
      return submitForm(reply, await removalPage(request, sure), async () => {
        const { confirm } = parseInput(RemoveOrganization, { confirm: sure.trim() })
        await organizations.removeOrganization(actorOf(request), idOf(request), confirm)
        return reply.redirect('/organizations?done=removed', 303)
      })
    })
  }
