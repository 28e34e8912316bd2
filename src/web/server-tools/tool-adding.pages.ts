import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { addressOf, listQuery } from '../../lib/http/list-query.ts'
import { type FormPage, formPage, formValues } from '../../lib/http/pages/forms.ts'
import { pageNumber, pagerOf } from '../../lib/http/pages/pager.ts'
import { formatCount, shorten } from '../../lib/kernel/format.ts'
import type { ToolAdding, ToolPick } from '../../servers/tools/tool-adding.service.ts'
import type { OfferedTool, OfferedToolkit } from '../../servers/tools/tool-picks.store.ts'
import { type ServerFrame, type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { createServerTab, donePath, serverRoute } from '../frame/server-tab.ts'
import { listMissingSecrets, type MissingSecretsParts } from './missing-secrets.ts'

const TOOLS_PER_PAGE = 100
const MAX_SELECTED = 200
/** Maximum length of the list of a tool's default bindings. */
const MAX_BOUND_CHARACTERS = 200

const Query = listQuery.extend({ page: pageNumber, toolkit: z.uuid().optional().catch(undefined) })
/** Value of a checkbox: the tool's ID, and the number of its instances when the page was shown. */
const SELECTION = /^([0-9a-f-]{36})(?::(\d{1,6}))?$/
/** Ignores malformed values. */
const SelectionForm = {
  tool: formValues.transform(texts =>
    texts.slice(0, MAX_SELECTED).flatMap(text => {
      const [, toolId, atWork] = SELECTION.exec(text) ?? []
      if (toolId === undefined || !z.uuid().safeParse(toolId).success) return []
      return [{ toolId, atWork: atWork === undefined ? undefined : Number(atWork) }]
    }),
  ),
}

const noteOf = ({ isSnapshot, isInUse }: OfferedToolkit): string => {
  if (isSnapshot) return 'copied from another organization'
  return isInUse ? 'in use' : 'not in use yet'
}

const describeDefault = ({ parameter, binding }: OfferedTool['defaults'][number]): string =>
  binding.source === 'server'
    ? `${parameter} to ${binding.key}`
    : `${parameter} to the value ${JSON.stringify(binding.value)}`

const toGroups = (tools: readonly OfferedTool[], toolkits: readonly OfferedToolkit[], selected: ReadonlySet<string>) =>
  [...Map.groupBy(tools, ({ toolkitId }) => toolkitId)].map(([toolkitId, ofToolkit]) => {
    const toolkit = toolkits.find(({ id }) => id === toolkitId)
    return {
      id: toolkitId,
      title: toolkit?.title ?? '',
      note: toolkit === undefined ? '' : noteOf(toolkit),
      tools: ofToolkit.map(({ id, name, title, description, defaults, origin, atWorkAs, problem }) => ({
        value: `${id}:${atWorkAs.length}`,
        name,
        about: description ?? title,
        bound: shorten(defaults.map(describeDefault).join(', '), MAX_BOUND_CHARACTERS),
        sentTo: origin,
        atWorkAs: atWorkAs.join(', '),
        problem,
        isSelected: selected.has(id),
      })),
    }
  })

/** Serves the page for adding several tools to a server at once. */
export const toolAddingPages: FastifyPluginAsync<
  MissingSecretsParts & { frames: ServerFrameParts; toolAdding: ToolAdding }
> = async (app, { frames, toolAdding, ...parts }) => {
  const pageFor = async (
    request: FastifyRequest,
    server: ServerFrame,
    selected: readonly ToolPick[],
  ): Promise<FormPage> => {
    const { q, page, toolkit } = Query.parse(request.query)
    const window = { search: q, skip: (page - 1) * TOOLS_PER_PAGE, take: TOOLS_PER_PAGE }
    const offer = await toolAdding.listOffer(actorOf(request), server.id, { toolkitId: toolkit, ...window })
    const path = `${serverTabPath(server.id, 'tools')}/new`
    const query = { q, toolkit: toolkit ?? '' }
    const counts = { page, perPage: TOOLS_PER_PAGE, total: offer.total, shown: offer.tools.length }
    return {
      view: 'server-tools/tools-new',
      data: {
        title: `Add tools to ${server.name}`,
        server,
        path,
        action: addressOf(path, { ...query, page: page === 1 ? '' : String(page) }),
        search: q,
        toolkit: toolkit ?? '',
        toolkits: [
          { value: '', text: 'All toolkits' },
          ...offer.toolkits.map(({ id, title, tools }) => ({
            value: id,
            text: `${title}, ${formatCount(tools, 'tool')}`,
          })),
        ],
        hasToolkits: offer.toolkits.length > 0,
        groups: toGroups(offer.tools, offer.toolkits, new Set(selected.map(({ toolId }) => toolId))),
        pager: pagerOf(counts, { path, query }),
        sourcesHref: serverTabPath(server.id, 'sources'),
      },
    }
  }

  formPage(app, '/servers/:uuid/tools/new', {
    ...serverRoute,
    fields: SelectionForm,
    load: createServerTab(frames, 'tools').frameForChange,
    page: (request, server, typed) => pageFor(request, server, typed?.tool ?? []),
    save: async (request, server, { tool: selected }) => {
      const actor = actorOf(request)
      await toolAdding.addTools(actor, server.id, selected)
      const missing = await listMissingSecrets(parts, actor, server.id)
      const path = serverTabPath(server.id, 'tools')
      return donePath(missing.length === 0 ? path : `${path}/values`, 'added', selected.length)
    },
  })
}
