import type { FastifyPluginAsync } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { listQuery, nextAddressOf } from '../../lib/http/list-query.ts'
import { formatNumber } from '../../lib/http/pages/format.ts'
import { formPage, formText } from '../../lib/http/pages/forms.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { buildableIdsOf } from '../../lib/kernel/actor.ts'
import type { ToolkitCatalogue, UsedToolkitCard } from '../../tools/sharing/catalogue.service.ts'
import { CreateToolkit } from '../../tools/toolkits.schema.ts'
import type { ToolkitService } from '../../tools/toolkits.service.ts'
import {
  type Accounts,
  buildableOptions,
  descriptionOf,
  TOOLKIT_FORM,
  TOOLKIT_LABELS,
  VISIBILITY_OPTIONS,
} from './toolkit-form.ts'

type Parts = { toolkits: ToolkitService; toolkitCatalogue: ToolkitCatalogue; accounts: Accounts }

const config = { access: 'user' } as const
const TOOLKITS_PER_PAGE = 60
const MAX_SERVERS_NAMED = 3

const NewForm = { ...TOOLKIT_FORM, organizationId: formText }
const Query = listQuery.extend({ done: formText })

const toCard = ({ id, title, description, visibility, organizationName, tools, usedBy }: UsedToolkitCard) => ({
  href: `/toolkits/${id}`,
  title,
  description,
  visibility,
  organizationName,
  tools: formatNumber(tools),
  servers: formatNumber(usedBy.length),
  usedBy: usedBy.slice(0, MAX_SERVERS_NAMED).map(({ name }) => name),
  moreServers: usedBy.length > MAX_SERVERS_NAMED ? formatNumber(usedBy.length - MAX_SERVERS_NAMED) : undefined,
})

/** Serves the list of toolkits and the form that creates one. */
export const toolkitsPages: FastifyPluginAsync<Parts> = async (app, { toolkits, toolkitCatalogue, accounts }) => {
  app.get('/toolkits', { config }, async (request, reply) => {
    const { q, cursor, done } = Query.parse(request.query)
    const actor = actorOf(request)
    const page = idPageOf({ limit: TOOLKITS_PER_PAGE, cursor })
    const { items, nextCursor } = toIdPage(await toolkitCatalogue.listOwn(actor, q, page), page, toCard)
    return reply.page('toolkits/toolkits', {
      title: 'Toolkits',
      section: 'toolkits',
      toolkits: items,
      search: q,
      isSearched: q !== '' || cursor !== undefined,
      next: nextAddressOf('/toolkits', nextCursor, { q }),
      mayBuild: buildableIdsOf(actor).length > 0,
      hasOrganizations: actor.memberships.size > 1,
      done: done === 'removed' ? 'Toolkit deleted.' : undefined,
    })
  })

  formPage(app, '/toolkits/new', {
    config,
    fields: NewForm,
    load: async request => ({
      actor: actorOf(request),
      organizations: await buildableOptions(accounts, actorOf(request)),
    }),
    page: (_request, { organizations }, typed) => ({
      view: 'toolkits/new',
      data: {
        title: 'New toolkit',
        section: 'toolkits',
        width: 'narrow',
        typed: typed ?? { title: '', description: '', visibility: 'private', organizationId: '' },
        visibilities: VISIBILITY_OPTIONS,
        organizations,
      },
      labels: { ...TOOLKIT_LABELS, organizationId: 'organization' },
    }),
    save: async (_request, { actor }, typed) => {
      const input = parseInput(CreateToolkit, {
        ...typed,
        description: descriptionOf(typed.description),
        organizationId: typed.organizationId || undefined,
      })
      const { id } = await toolkits.createToolkit(actor, input)
      return `/toolkits/${id}?done=created`
    },
  })
}
