import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { addressOf } from '../../lib/http/list-query.ts'
import { formPage, formText } from '../../lib/http/pages/forms.ts'
import { parseInput } from '../../lib/http/validation.ts'
import type { Tenancy } from '../../tenancy/deletion/removal.ts'
import { CreateOrganization } from '../../tenancy/organizations.schema.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import { doneText, idOf, idRoute, ownForm, userRoute } from '../frame/user-page.ts'
import { organizationPath } from './organization-frame.ts'

type Parts = { organizations: OrganizationService; settings: { tenancy: Tenancy } }

/** Maximum organizations shown. This is more than enough, because users can create at most 100. */
const MAX_SHOWN = 500

const Query = z.object({ done: formText })
const DONE = { left: 'You have left the organization.', removed: 'Organization deleted.' }

/** Registers the page with the user's organizations, and the form for creating one. */
export const organizationsPages: FastifyPluginAsync<Parts> = async (app, { organizations, settings: { tenancy } }) => {
  app.get('/organizations', userRoute, async (request, reply) => {
    const { done } = Query.parse(request.query)
    const own = await organizations.listOrganizations(actorOf(request), { limit: MAX_SHOWN, afterId: undefined })
    const [first, second] = own
    if (first !== undefined && second === undefined) {
      return reply.redirect(addressOf(organizationPath(first.id, 'members'), { done }), 303)
    }
    return reply.page('organizations/organizations', {
      title: 'Organizations',
      section: 'organizations',
      organizations: own.map(({ id, name, role }) => ({ href: organizationPath(id, 'members'), name, role })),
      mayMake: tenancy === 'multi',
      done: doneText(request, DONE),
    })
  })

  formPage(app, '/organizations/new', {
    ...ownForm,
    fields: { name: formText },
    page: (_request, _actor, typed) => ({
      view: 'organizations/new',
      data: {
        title: 'New organization',
        section: 'organizations',
        width: 'narrow',
        typed: typed?.name ?? '',
        isOnlyOne: tenancy === 'single',
      },
      labels: { name: 'name' },
    }),
    save: async (_request, actor, typed) => {
      const { id } = await organizations.createOrganization(actor, parseInput(CreateOrganization, typed).name)
      return `${organizationPath(id, 'invitations')}?done=made`
    },
  })

  app.get('/organizations/:id', idRoute, async (request, reply) => {
    const id = idOf(request)
    await organizations.getOrganization(actorOf(request), id)
    return reply.redirect(organizationPath(id, 'members'), 303)
  })
}
