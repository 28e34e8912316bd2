import type { FastifyPluginAsync } from 'fastify'
import type { ToolkitSourceService } from '../../imports/again/toolkit-source.service.ts'
import { actorOf } from '../../lib/http/access.ts'
import { listQuery } from '../../lib/http/list-query.ts'
import { formPage, formText } from '../../lib/http/pages/forms.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { buildableIdsOf } from '../../lib/kernel/actor.ts'
import { formatNumber } from '../../lib/kernel/format.ts'
import type { ToolkitCatalogue, UsedToolkitCard } from '../../tools/sharing/catalogue.service.ts'
import { CreateToolkit } from '../../tools/toolkits.schema.ts'
import type { ToolkitService } from '../../tools/toolkits.service.ts'
import { doneText, readList, userRoute } from '../frame/user-page.ts'
import {
  type Accounts,
  buildableOptions,
  descriptionOf,
  TOOLKIT_FORM,
  TOOLKIT_LABELS,
  VISIBILITY_OPTIONS,
} from './toolkit-form.ts'
import { toFoundBadge } from './toolkit-source.view.ts'

type Parts = {
  toolkits: ToolkitService
  toolkitCatalogue: ToolkitCatalogue
  toolkitSources: Pick<ToolkitSourceService, 'listSources'>
  accounts: Accounts
}

const TOOLKITS_PER_PAGE = 60
const MAX_SERVERS_NAMED = 3

const NewForm = { ...TOOLKIT_FORM, organizationId: formText }

const toCard = ({ id, title, description, visibility, organizationName, tools, usedBy }: UsedToolkitCard) => ({
  id,
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

/** Serves the list of toolkits and the form for creating one. */
export const toolkitsPages: FastifyPluginAsync<Parts> = async (
  app,
  { toolkits, toolkitCatalogue, toolkitSources, accounts },
) => {
  app.get('/toolkits', userRoute, async (request, reply) => {
    const { q, cursor } = listQuery.parse(request.query)
    const actor = actorOf(request)
    const place = { path: '/toolkits', cursor, query: { q }, limit: TOOLKITS_PER_PAGE }
    const { items, next } = await readList(place, page => toolkitCatalogue.listOwn(actor, q, page), toCard)
    const ids = items.map(({ id }) => id)
    const sources = await toolkitSources.listSources(actor, ids)
    return reply.page('toolkits/toolkits', {
      title: 'Toolkits',
      section: 'toolkits',
      toolkits: items.map(({ id, ...card }) => ({ ...card, found: toFoundBadge(sources.get(id)) })),
      search: q,
      isSearched: q !== '' || cursor !== undefined,
      next,
      mayBuild: buildableIdsOf(actor).length > 0,
      hasOrganizations: actor.memberships.size > 1,
      done: doneText(request, { removed: 'Toolkit deleted.' }),
    })
  })

  formPage(app, '/toolkits/new', {
    ...userRoute,
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
