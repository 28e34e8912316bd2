import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { type FormPage, formPage, formText, postForm } from '../../lib/http/pages/forms.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { type Actor, assertMay } from '../../lib/kernel/actor.ts'
import { formatCount } from '../../lib/kernel/format.ts'
import type { Tenancy } from '../../tenancy/deletion/removal.ts'
import type { MemberService } from '../../tenancy/members.service.ts'
import { CreateOrganization } from '../../tenancy/organizations.schema.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import { removalPage } from '../frame/removal-page.ts'
import { doneText, idOf, idRoute } from '../frame/user-page.ts'
import { getOrganizationFrame, organizationPath } from './organization-frame.ts'

type Parts = { organizations: OrganizationService; members: MemberService; settings: { tenancy: Tenancy } }

/** Maximum members offered as the next owner. */
const MAX_HEIRS_SHOWN = 200

const OwnerInput = z.object({ userId: uuidParam })

/** Registers the pages on which an organization is renamed, transferred and deleted. */
export const organizationSettingsPages: FastifyPluginAsync<Parts> = async (
  app,
  { organizations, members, settings: { tenancy } },
) => {
  const actorWho = (permission: 'manage' | 'own') => (request: FastifyRequest) => {
    assertMay(actorOf(request), idOf(request), permission)
    return actorOf(request)
  }

  const settingsPage = async (request: FastifyRequest, actor: Actor, typedName?: string): Promise<FormPage> => {
    const id = idOf(request)
    const frame = await getOrganizationFrame(organizations, actor, id, 'settings')
    const page = { limit: MAX_HEIRS_SHOWN, afterId: undefined }
    const others = frame.mayOwn ? await members.listMembers(actor, id, page) : []
    return {
      view: 'organizations/settings',
      data: {
        title: `Settings of ${frame.name}`,
        organization: frame,
        typed: typedName ?? frame.name,
        heirs: others
          .filter(({ userId }) => userId !== actor.userId)
          .map(({ userId, email, role }) => ({ value: userId, text: `${email}, ${role}` })),
        mayMakeAnother: tenancy === 'multi',
        done: doneText(request, { renamed: 'Organization renamed.' }),
      },
      labels: { name: 'name', userId: 'member' },
    }
  }

  formPage(app, '/organizations/:id/settings', {
    ...idRoute,
    fields: { name: formText },
    load: actorWho('manage'),
    page: (request, actor, typed) => settingsPage(request, actor, typed?.name),
    save: async (request, actor, typed) => {
      const { name } = parseInput(CreateOrganization, typed)
      await organizations.changeOrganization(actor, idOf(request), { name })
      return `${organizationPath(idOf(request), 'settings')}?done=renamed`
    },
  })

  postForm(app, '/organizations/:id/owner', {
    ...idRoute,
    fields: { userId: formText },
    load: actorWho('own'),
    page: (request, actor) => settingsPage(request, actor),
    save: async (request, actor, typed) => {
      await members.transferOwnership(actor, idOf(request), parseInput(OwnerInput, typed).userId)
      return `${organizationPath(idOf(request), 'members')}?done=given`
    },
  })

  removalPage(app, '/organizations/:id/removal', {
    ...idRoute,
    button: 'Delete organization',
    load: async request => {
      const actor = actorOf(request)
      // Throws if the user may not delete the organization.
      const preview = await organizations.previewRemoval(actor, idOf(request))
      return { ...preview, ...(await organizations.getOrganization(actor, idOf(request))) }
    },
    nameOf: ({ name }) => name,
    page: (_request, { id, name, servers, toolkits, refusal }) => ({
      section: 'organizations',
      crumbs: [
        { href: `/organizations/${id}`, text: name },
        { href: organizationPath(id, 'settings'), text: 'Settings' },
      ],
      text:
        refusal ??
        `This immediately stops and deletes ${formatCount(servers, 'server')}, and deletes ${formatCount(toolkits, 'toolkit')} and all globals, secrets and history. Members lose access. This cannot be undone.`,
      isBlocked: refusal !== undefined,
      back: organizationPath(id, 'settings'),
    }),
    remove: async (request, { id, name }) => {
      await organizations.removeOrganization(actorOf(request), id, name)
      return '/organizations?done=removed'
    },
  })
}
