import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { accountFrame } from '../accounts/index.ts'
import { DEFAULT_PAGE_SIZE } from '../kernel/index.ts'
import { actorOf, formText, idPageOf, toIdPage } from '../platform/http/index.ts'
import type { Organization } from './organization.ts'
import { memberRemovalPath } from './organization-frame.ts'
import type { OrganizationService } from './organizations.service.ts'

const config = { access: 'user' } as const
const PATH = '/account/organizations'

const Query = z.object({ cursor: formText })

const toRow =
  (userId: string) =>
  ({ id, name, role }: Organization) => ({
    name,
    role,
    href: `/organizations/${id}`,
    leaveHref: memberRemovalPath(id, userId),
  })

/** The organizations that one belongs to; leaving one is the removal of oneself as a member. */
export const ownOrganizationPages =
  ({ organizations }: { organizations: OrganizationService }) =>
  async (app: FastifyInstance): Promise<void> => {
    app.get(PATH, { config }, async (request, reply) => {
      const { cursor } = Query.parse(request.query)
      const actor = actorOf(request)
      const page = idPageOf({ limit: DEFAULT_PAGE_SIZE, cursor: cursor === '' ? undefined : cursor })
      const listed = await organizations.listOrganizations(actor, page)
      const { items, nextCursor } = toIdPage(listed, page, toRow(actor.userId))
      return reply.page('organizations/own-organizations', {
        ...accountFrame('organizations'),
        section: 'account',
        organizations: items,
        next: nextCursor === null ? undefined : `${PATH}?${new URLSearchParams({ cursor: nextCursor })}`,
      })
    })
  }
