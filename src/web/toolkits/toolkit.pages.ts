import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { ToolkitSourceService } from '../../imports/again/toolkit-source.service.ts'
import type { ImportService } from '../../imports/imports.service.ts'
import { actorOf } from '../../lib/http/access.ts'
import { addressOf, listQuery } from '../../lib/http/list-query.ts'
import { type FormPage, formPage, formText, postForm } from '../../lib/http/pages/forms.ts'
import { pageNumber, pagerOf } from '../../lib/http/pages/pager.ts'
import { createSorting } from '../../lib/http/pages/sorting.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { type Actor, assertMay, may } from '../../lib/kernel/actor.ts'
import { formatCount } from '../../lib/kernel/format.ts'
import { mayRole } from '../../lib/kernel/roles.ts'
import { type Suspensions, suspensionOfOrganization } from '../../lib/kernel/suspensions.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { ToolkitCatalogue, UsedToolkitCard } from '../../tools/sharing/catalogue.service.ts'
import { CreateToolkit } from '../../tools/toolkits.schema.ts'
import { type ToolkitService, toolkitVersion } from '../../tools/toolkits.service.ts'
import type { ToolService } from '../../tools/tools.service.ts'
import { removalPage } from '../frame/removal-page.ts'
import { serverTabPath } from '../frame/server-frame.ts'
import { doneText, idOf, idRoute, isAfter } from '../frame/user-page.ts'
import { toImportRow } from '../imports/import-row.view.ts'
import { createDeletedToolUndo, fromDeletedTool } from './deleted-tool.ts'
import { TOOLS_PER_PAGE, toToolRow } from './tool-row.ts'
import {
  type Accounts,
  descriptionOf,
  TOOLKIT_FORM,
  TOOLKIT_LABELS,
  type ToolkitForm,
  toToolkitForm,
  toVersions,
  VISIBILITY_OPTIONS,
} from './toolkit-form.ts'
import { toSourceSection } from './toolkit-source.view.ts'

type Parts = {
  toolkits: ToolkitService
  toolkitCatalogue: ToolkitCatalogue
  accounts: Accounts
  tools: Pick<ToolService, 'restoreTools'>
  toolkitSources: Pick<ToolkitSourceService, 'findSource'>
  imports: Pick<ImportService, 'listImports'>
  sealing: Sealing
  suspensions: Suspensions
}

const PATH = '/toolkits/:id'
const sorting = createSorting(
  [
    { name: 'name', text: 'Tool' },
    { name: 'request', text: 'Request' },
    { name: 'uses', text: 'Used by', isLargestFirst: true },
    { name: 'changed', text: 'Last changed', isLargestFirst: true },
  ],
  'name',
)
const Query = listQuery.extend({
  page: pageNumber,
  sort: sorting.query,
  count: z.coerce.number().int().min(1).catch(1),
})
const EditForm = { ...TOOLKIT_FORM, version: formText }
const EditInput = CreateToolkit.pick({ title: true, description: true, visibility: true })

const doneTexts = (count: number) => ({
  created: 'Toolkit created. Add its first tool.',
  saved: 'Saved.',
  'source-saved': 'Source saved.',
  checked: 'Source checked.',
  moved: 'Toolkit moved to this organization.',
  'tool-removed': 'Tool deleted.',
  'tools-removed': `${formatCount(count, 'tool')} deleted.`,
  'tools-moved': `${formatCount(count, 'tool')} moved to this toolkit.`,
  restored: `${count === 1 ? 'Tool' : formatCount(count, 'tool')} restored.`,
  'too-late': 'What was deleted can no longer be restored.',
})

const toHead = (actor: Actor, toolkit: UsedToolkitCard, suspensions: Suspensions) => ({
  path: `/toolkits/${toolkit.id}`,
  title: toolkit.title,
  visibility: toolkit.visibility,
  description: toolkit.description,
  organization: { href: `/organizations/${toolkit.organizationId}`, name: toolkit.organizationName },
  /** Says that the organization is suspended, and why. */
  suspension: suspensionOfOrganization(suspensions, toolkit.organizationId),
  mayBuild: may(actor, toolkit.organizationId, 'build'),
  isPublic: toolkit.visibility === 'public',
  galleryHref: `/gallery/${toolkit.id}`,
  tools: formatCount(toolkit.tools, 'tool'),
  toolCount: toolkit.tools,
  usedBy: toolkit.usedBy.map(({ id, name }) => ({ href: `/servers/${id}`, name })),
  created: shownTime(toolkit.createdAt),
  updated: shownTime(toolkit.updatedAt),
})

/** Serves the pages of toolkits in the user's organizations: tools, settings, transfer and deletion. */
export const toolkitPages: FastifyPluginAsync<Parts> = async (
  app,
  { toolkits, toolkitCatalogue, accounts, tools, toolkitSources, imports, sealing, suspensions },
) => {
  const undo = createDeletedToolUndo(sealing)

  const getForChange = async (request: FastifyRequest): Promise<{ actor: Actor; toolkit: UsedToolkitCard }> => {
    const actor = actorOf(request)
    const toolkit = await toolkitCatalogue.getOwn(actor, idOf(request))
    assertMay(actor, toolkit.organizationId, 'build')
    return { actor, toolkit }
  }

  const isForeign = async (actor: Actor, id: string): Promise<boolean> => {
    const { organizationId } = await toolkits.getToolkit(actor, id)
    return !actor.memberships.has(organizationId)
  }

  app.get(PATH, idRoute, async (request, reply) => {
    const actor = actorOf(request)
    const id = idOf(request)
    if (await isForeign(actor, id)) return reply.redirect(`/gallery/${id}`, 303)
    const { q, page, sort, count } = Query.parse(request.query)
    const toolkit = await toolkitCatalogue.getOwn(actor, id)
    const skip = (page - 1) * TOOLS_PER_PAGE
    const window = { sortBy: sort.column, isDescending: sort.isDescending, skip, take: TOOLS_PER_PAGE }
    const { items, total } = await toolkitCatalogue.listOwnTools(actor, id, { search: q, ...window })
    const mayBuild = may(actor, toolkit.organizationId, 'build')
    const source = mayBuild ? await toolkitSources.findSource(actor, id) : undefined
    const unfinished = mayBuild ? await imports.listImports(actor, id, { onlyUnfinished: true }) : []
    const path = `/toolkits/${id}`
    const sortText = sorting.textOf(sort)
    const counts = { page, perPage: TOOLS_PER_PAGE, total, shown: items.length }
    return reply.page('toolkits/toolkit', {
      title: toolkit.title,
      section: 'toolkits',
      toolkit: toHead(actor, toolkit, suspensions),
      tools: items.map(({ tool, usedBy }) => toToolRow(tool, usedBy)),
      columns: sorting.headersOf(sort, { path, query: { q } }),
      search: q,
      hidden: sortText === '' ? {} : { sort: sortText },
      found: formatCount(total, 'tool'),
      pager: pagerOf(counts, { path, query: { q, sort: sortText } }),
      source: source && toSourceSection(source),
      unfinished: unfinished.map(toImportRow),
      done: doneText(request, doneTexts(count)),
      undo:
        isAfter(request, 'tool-removed', 'tools-removed') && undo.find(request, { path }) !== undefined
          ? `${path}/undo`
          : undefined,
    })
  })

  app.post(`${PATH}/undo`, idRoute, async (request, reply) => {
    const { actor, toolkit } = await getForChange(request)
    const path = `/toolkits/${toolkit.id}`
    const deleted = undo.find(request, { path })
    if (deleted === undefined) return reply.redirect(`${path}?done=too-late`, 303)
    await tools.restoreTools(actor, toolkit.id, deleted.map(fromDeletedTool))
    undo.forget(reply, { path })
    return reply.redirect(addressOf(path, { done: 'restored', count: String(deleted.length) }), 303)
  })

  /** Builds the settings page. `typed` is undefined until the form is submitted. */
  const editPage = async (
    { actor, toolkit }: { actor: Actor; toolkit: UsedToolkitCard },
    typed?: ToolkitForm & { version: string },
  ): Promise<FormPage> => {
    const version = toolkitVersion(toolkit)
    const isOverwritten = typed !== undefined && typed.version !== version
    const { organizations } = await accounts.getMe(actor)
    const elsewhere = organizations.filter(({ id, role }) => id !== toolkit.organizationId && mayRole(role, 'build'))
    return {
      view: 'toolkits/edit',
      data: {
        title: `Settings of ${toolkit.title}`,
        section: 'toolkits',
        toolkit: toHead(actor, toolkit, suspensions),
        typed: typed ?? toToolkitForm(toolkit),
        // The user has now seen this version, so the next submission may overwrite it.
        version,
        versions: isOverwritten ? toVersions(typed, toToolkitForm(toolkit)) : undefined,
        visibilities: VISIBILITY_OPTIONS,
        elsewhere: may(actor, toolkit.organizationId, 'manage')
          ? elsewhere.map(({ id, name }) => ({ value: id, text: name }))
          : [],
      },
      labels: { ...TOOLKIT_LABELS, organizationId: 'organization' },
    }
  }

  formPage(app, `${PATH}/edit`, {
    ...idRoute,
    fields: EditForm,
    load: getForChange,
    page: (_request, loaded, typed) => editPage(loaded, typed),
    save: async (_request, { actor, toolkit }, { version, ...typed }) => {
      const input = parseInput(EditInput, { ...typed, description: descriptionOf(typed.description) })
      const patch = { ...input, description: input.description ?? null }
      await toolkits.updateToolkit(actor, toolkit.id, patch, version)
      return `/toolkits/${toolkit.id}?done=saved`
    },
  })

  postForm(app, `${PATH}/transfer`, {
    ...idRoute,
    fields: { organizationId: formText },
    load: async request => {
      const { actor, toolkit } = await getForChange(request)
      assertMay(actor, toolkit.organizationId, 'manage')
      return { actor, toolkit }
    },
    page: (_request, loaded) => editPage(loaded),
    save: async (_request, { actor, toolkit }, { organizationId }) => {
      const target = parseInput(uuidParams, { id: organizationId })
      await toolkits.transferToolkit(actor, toolkit.id, target.id)
      return `/toolkits/${toolkit.id}?done=moved`
    },
  })

  removalPage(app, `${PATH}/removal`, {
    ...idRoute,
    button: 'Delete toolkit',
    load: getForChange,
    nameOf: ({ toolkit }) => toolkit.title,
    page: (_request, { toolkit }) => ({
      section: 'toolkits',
      crumbs: [
        { href: '/toolkits', text: 'Toolkits' },
        { href: `/toolkits/${toolkit.id}`, text: toolkit.title },
      ],
      text:
        toolkit.usedBy.length > 0
          ? 'Your servers use this toolkit. Remove it from their sources first:'
          : `This also deletes its ${formatCount(toolkit.tools, 'tool')}. Copies in other organizations are not affected. This cannot be undone.`,
      items: toolkit.usedBy.map(({ id, name }) => ({ href: serverTabPath(id, 'sources'), text: name })),
      isBlocked: toolkit.usedBy.length > 0,
      back: `/toolkits/${toolkit.id}`,
    }),
    remove: async (_request, { actor, toolkit }) => {
      await toolkits.removeToolkit(actor, toolkit.id)
      return '/toolkits?done=removed'
    },
  })
}
