import type { FastifyInstance } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { addressOf, listQuery } from '../../lib/http/list-query.ts'
import { formatNumber } from '../../lib/http/pages/format.ts'
import { type FormPage, formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { parseInput } from '../../lib/http/validation.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { mayRole } from '../../lib/kernel/roles.ts'
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

const mayBuildAnywhere = ({ memberships }: Actor): boolean =>
  [...memberships.values()].some(role => mayRole(role, 'build'))

/** Serves the list of toolkits and the form that creates one. */
export const toolkitsPages =
  ({ toolkits, toolkitCatalogue, accounts }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
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
        next: nextCursor === null ? undefined : addressOf('/toolkits', { q, cursor: nextCursor }),
        mayBuild: mayBuildAnywhere(actor),
        hasOrganizations: actor.memberships.size > 1,
        done: done === 'removed' ? 'Toolkit deleted.' : undefined,
      })
    })

    const newPage = async (actor: Actor, typed: Record<keyof typeof NewForm, string>): Promise<FormPage> => ({
      view: 'toolkits/new',
      data: {
        title: 'New toolkit',
        section: 'toolkits',
        width: 'narrow',
        typed,
        visibilities: VISIBILITY_OPTIONS,
        organizations: await buildableOptions(accounts, actor),
      },
      labels: { ...TOOLKIT_LABELS, organizationId: 'organization' },
    })

    app.get('/toolkits/new', { config }, async (request, reply) => {
      const typed = { title: '', description: '', visibility: 'private', organizationId: '' }
      return showForm(reply, await newPage(actorOf(request), typed))
    })

    app.post('/toolkits/new', { config }, async (request, reply) => {
      const actor = actorOf(request)
      const typed = parseForm(NewForm, request.body)
      const page = await newPage(actor, typed)
      return submitForm(reply, page, async () => {
        const input = parseInput(CreateToolkit, {
          ...typed,
          description: descriptionOf(typed.description),
          organizationId: typed.organizationId || undefined,
        })
        const { id } = await toolkits.createToolkit(actor, input)
        return reply.redirect(`/toolkits/${id}?done=created`, 303)
      })
    })
  }
