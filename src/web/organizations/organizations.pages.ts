import type { FastifyInstance } from 'fastify'
import {
  actorOf,
  addressOf,
  type FormPage,
  formText,
  parseForm,
  parseInput,
  showForm,
  submitForm,
  uuidParams,
} from '../platform/http/index.ts'
import { organizationPath } from './organization-frame.ts'
import { CreateOrganization } from './organizations.schema.ts'
import type { OrganizationService } from './organizations.service.ts'
import type { Tenancy } from './removal.ts'

type Parts = { organizations: OrganizationService; tenancy: Tenancy }

const config = { access: 'user' } as const
/** Nobody belongs to many more than a hundred. */
const MAX_SHOWN = 500

const Query = { done: formText }
const NewForm = { name: formText }
const DONE: ReadonlyMap<string, string> = new Map([
  ['left', 'You have left the organization.'],
  ['removed', 'The organization is deleted.'],
])

/** The organizations that one belongs to, and the form that makes another. */
export const organizationsPages =
  ({ organizations, tenancy }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    app.get('/organizations', { config }, async (request, reply) => {
      const { done } = parseForm(Query, request.query)
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
        done: DONE.get(done),
      })
    })

    const newPage = (name = ''): FormPage => ({
      view: 'organizations/new',
      data: {
        title: 'New organization',
        section: 'organizations',
        width: 'narrow',
        typed: name,
        isOnlyOne: tenancy === 'single',
      },
      labels: { name: 'name' },
    })

    app.get('/organizations/new', { config }, async (_request, reply) => showForm(reply, newPage()))

    app.post('/organizations/new', { config }, async (request, reply) => {
      const typed = parseForm(NewForm, request.body)
      return submitForm(reply, newPage(typed.name), async () => {
        const { name } = parseInput(CreateOrganization, typed)
        const { id } = await organizations.createOrganization(actorOf(request), name)
        return reply.redirect(`${organizationPath(id, 'invitations')}?done=made`, 303)
      })
    })

    app.get('/organizations/:id', { config, schema: { params: uuidParams } }, async (request, reply) => {
      const { id } = uuidParams.parse(request.params)
      await organizations.getOrganization(actorOf(request), id)
      return reply.redirect(organizationPath(id, 'members'), 303)
    })
  }
